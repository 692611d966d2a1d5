package rt

import (
	"runtime"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// libraryOp is an operation on o by a patched function of the standard library. Where
// it was called is only worth finding out if somebody wants to know: when there is a
// choice to make, when it may race or wait, and when it is recorded.
func (c *goroutine) libraryOp(kind event.Kind, o *object) event.Op {
	op := event.Op{Kind: kind, Addr: o.addr, Size: 1}
	if s.config.Races || len(s.ready) > 1 || s.busy {
		op.Site = c.site()
	}
	return op
}

// site returns where the program called the patched function that is being executed.
func (c *goroutine) site() uint32 {
	var pcs [8]uintptr
	n := returns(&pcs, len(pcs))
	for _, pc := range pcs[:n] {
		e := &s.frames.recent[pc%uintptr(len(s.frames.recent))]
		if e.pc != pc {
			*e = recentSite{pc: pc}
			if !isLibrary(pc) {
				e.site = s.frames.site(pc)
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

// callerIndex is which of the addresses that returns finds is in the caller of the
// function that called it. That depends on whether there is a frame in between that
// belongs to the assembler's calling convention.
var callerIndex = probe()

//go:noinline
func probe() int {
	var pcs [8]uintptr
	n := returns(&pcs, len(pcs))
	caller, _, _, _ := runtime.Caller(1)
	for i, pc := range pcs[:n] {
		if pc == caller+1 || pc == caller {
			return i
		}
	}
	return len(pcs)
}

// libraryPCs remembers which return addresses are in functions that are never what
// somebody wants to see: rt itself and the patched ones.
var libraryPCs = map[uintptr]bool{}

func isLibrary(pc uintptr) bool {
	is, known := libraryPCs[pc]
	if !known {
		is = true
		for frames := runtime.CallersFrames([]uintptr{pc}); ; {
			f, more := frames.Next()
			// A patched function may have been inlined into its caller.
			is = is && libraryFunction(f.Function)
			if !more {
				break
			}
		}
		libraryPCs[pc] = is
	}
	return is
}

// libraryFunction reports whether a function is in one of the packages that are patched
// at their boundary, or stand between them and the program.
func libraryFunction(name string) bool {
	switch packageOf(name) {
	case ownPackage, "sync", "internal/sync", "time", "os", "iter", "runtime", "syscall", "internal/poll", "io", "fmt", "reflect", "internal/fmtsort", "testing/synctest",
		"hash/adler32", "hash/crc32", "hash/crc64":
		return true
	}
	return false
}

// ownPackage is the path of this package, which depends on where it is built.
var ownPackage = func() string {
	pc, _, _, _ := runtime.Caller(0)
	return packageOf(runtime.FuncForPC(pc).Name())
}()

// packageOf returns the package path in a function's name.
func packageOf(function string) string {
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
