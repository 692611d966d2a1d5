package frames

import (
	"runtime"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// Site returns the number that stands for a return address. It is the same in all processes of one program, which
// search one tree of schedules together, whatever they have met before: it says how far the address is from anchor.
func (f *Tree) Site(pc uintptr) uint32 {
	if !f.isSite[pc] {
		f.isSite[pc] = true
		f.sites = append(f.sites, siteOf(pc))
	}
	return siteOf(pc)
}

func siteOf(pc uintptr) uint32 { return event.CallSites | uint32(pc-anchor)&^event.CallSites }

// pcOf is the return address that siteOf is given. Code is nowhere a gigabyte away from anchor.
func pcOf(site uint32) uintptr { return anchor + uintptr(int32(site<<1)>>1) }

// anchor is an address in the code, which may lie elsewhere in each process.
var anchor = func() uintptr {
	var pcs [1]uintptr
	runtime.Callers(0, pcs[:]) // runtime.Callers itself
	return pcs[0]
}()

// FirstSite returns the site of the first of some return addresses, innermost first, that
// is the program's; 0 if none is.
func (f *Tree) FirstSite(pcs []uintptr) uint32 {
	for _, pc := range pcs {
		e := f.recent.at(pc)
		if e.pc != pc {
			*e = recentSite{pc: pc}
			if !library(pc) {
				e.site = f.Site(pc)
			}
		}
		if e.site != 0 {
			return e.site
		}
	}
	return 0
}

// A recentSite is what was found out about a return address: its site, 0 if it is in
// the library.
type recentSite struct {
	pc   uintptr
	site uint32
}

// recentSites is a cache of what was found out about return addresses.
type recentSites [1 << recentBits]recentSite

const recentBits = 10

// at is the place of a return address. Those of one function lie close together.
func (r *recentSites) at(pc uintptr) *recentSite {
	return &r[uint64(pc)*0x9E3779B97F4A7C15>>(64-recentBits)]
}

// libraryPCs remembers which return addresses are in functions that are never
// worth showing: rt itself and the patched ones.
var libraryPCs = map[uintptr]bool{}

// library reports whether a return address is in such a function.
func library(pc uintptr) bool {
	is, known := libraryPCs[pc]
	if !known {
		// A patched function may have been inlined into its caller.
		is = all(pc, func(f runtime.Frame) bool { return isLibraryFunction(f.Function) })
		libraryPCs[pc] = is
	}
	return is
}

// libraryFunction reports whether a function is in one of the packages that are patched
// at their boundary, or stand between them and the program.
func isLibraryFunction(name string) bool {
	switch PackageOf(name) {
	case hooksPackage, hooksPackage + "/loopback", "net", "crypto/tls", "os/signal", "sync", "internal/sync", "time", "os", "iter", "runtime", "syscall", "internal/poll", "io", "fmt", "reflect", "internal/fmtsort", "testing/synctest",
		"hash/adler32", "hash/crc32", "hash/crc64", "math/rand", "math/rand/v2", "crypto/internal/sysrand":
		return true
	}
	return false
}

// hooksPackage is the path of package rt, which depends on where it is built: it is the
// parent of this one.
var hooksPackage = func() string {
	pc, _, _, _ := runtime.Caller(0)
	own := PackageOf(runtime.FuncForPC(pc).Name())
	end := len(own) - 1
	for own[end] != '/' {
		end--
	}
	return own[:end]
}()

// PackageOf returns the package path in a function's name.
func PackageOf(function string) string {
	start := 0
	for i := range len(function) {
		if function[i] == '/' {
			start = i
		}
	}
	for i := start; i < len(function); i++ {
		if function[i] == '.' {
			return function[:i]
		}
	}
	return function
}
