//go:build linux && amd64

package interrupt

import (
	"slices"
	"sort"
	"unsafe"
)

// knownFunctions are functions of the runtime and of the library that the handler knows, by their
// names. They are found once, in the runtime's table of all functions, and are ranges like a
// slot's. What a program does not link is not there.
type knownFunctions struct {
	movers     [moverCount]uint64
	bodies     [bodyCount]uint64
	allocators [allocatorCount]uint64 // in front of fillers: where an allocator is known, so is a filler
	fillers    [fillerCount]uint64
	holders    [holderCount]uint64
}

const (
	moverCount     = 24
	bodyCount      = 96
	allocatorCount = 6
	fillerCount    = 60
	holderCount    = 4
)

// movers are written in assembly without a frame. They move and clear memory in which the
// collector sees no pointer change, or in which it has been told of all that do, or only read.
var movers = []string{
	"runtime.memmove", "runtime.memclrNoHeapPointers", "runtime.memequal", "runtime.memequal_varlen", "memeqbody", "runtime.cmpstring",
	"cmpbody", "countbody", "indexbody", "indexbytebody", "aeshashbody", "runtime.strhash", "runtime.memhash",
}

// bodies are Go functions that take as long as what they are given is, and change nothing but what
// they have allocated. They are known from where their frame has been set up.
var bodies = []string{"runtime.stringtoslicerune", "runtime.slicerunetostring", "runtime.countrunes"}

// fillers are functions of the runtime that fill memory which they have allocated, and which
// nobody else has seen, or that compare, look up, copy and clear: when they call a mover, they hold
// nothing, and nothing is lost with them. All functions of the scanners are among them, too, and
// among bodies or movers.
var fillers = []string{
	"runtime.growslice", "runtime.growsliceNoAlias", "runtime.growsliceBuf", "runtime.growsliceBufNoAlias", "runtime.makeslicecopy",
	"runtime.concatstrings", "runtime.concatstring2", "runtime.concatstring3", "runtime.concatstring4", "runtime.concatstring5",
	"runtime.concatbytes", "runtime.concatbyte2", "runtime.concatbyte3", "runtime.concatbyte4", "runtime.concatbyte5",
	"runtime.slicebytetostring", "runtime.stringtoslicebyte", "runtime.stringtoslicerune", "runtime.slicerunetostring",
	"runtime.typedslicecopy", "runtime.memclrHasPointers", "runtime.strequal", "runtime.efaceeq", "runtime.ifaceeq",
	"runtime.mapaccess1_faststr", "runtime.mapaccess2_faststr",
}

// scanners are packages that read memory, and are compiled as the runtime is.
var scanners = []string{"internal/bytealg", "internal/stringslite"}

// allocators are what a large piece of memory is cleared in, when it has been allocated, may be
// collected again, and no lock is held any more. That is so where the first of them was called.
var allocators = [allocatorCount]string{
	"runtime.memclrNoHeapPointersChunked", "runtime.mallocgcLarge", "runtime.mallocgc", "runtime.makeslice", "runtime.newobject", "runtime.newarray",
}

// holders are functions that must come to their end once they have begun, because what they do
// is done once for all goroutines, or under a lock: what they call is not ended. A [sync.Once],
// the first, may run a function that is doomed to run for ever: onceGrace is how long it is left
// alone. The last is where the transaction begins: what is around that is not its business.
var holders = [holderCount]string{"sync.(*Once).doSlow", "math/big.divisors", "encoding/json.typeEncoder", stmPath + ".(*Tx).attempt"}

// onceGrace is a time by the clock of the processor, some ten seconds.
//
//lint:ignore U1000 the handler uses it, in assembly
const onceGrace = 1 << 35

// A place is an entry of the table of functions.
type place struct{ entry, description uint32 }

// places returns the table of functions of a program. Its last entry is behind the last of them.
func places(h *pcHeader) []place {
	return unsafe.Slice((*place)(unsafe.Add(unsafe.Pointer(h), h.pclnOffset)), h.nfunc+1)
}

// functions calls visit with all functions of a program, from their first program counter to their
// end, one of which is known.
func functions(h *pcHeader, known *funcData, entry uintptr, visit func(f *funcData, entry, end uintptr)) {
	text, all := entry-uintptr(known.entryOff), places(h)
	for i, p := range all[:h.nfunc] {
		f := (*funcData)(unsafe.Add(unsafe.Pointer(h), h.pclnOffset+uintptr(p.description)))
		visit(f, text+uintptr(p.entry), text+uintptr(all[i+1].entry))
	}
}

// endOf returns where a function ends.
func endOf(h *pcHeader, f *funcData, entry uintptr) uintptr {
	all := places(h)
	next := sort.Search(len(all)-1, func(i int) bool { return all[i].entry > f.entryOff })
	return entry + uintptr(all[next].entry-f.entryOff)
}

// nameOf returns the name of a function.
func nameOf(h *pcHeader, f *funcData) string {
	return cString(unsafe.Add(unsafe.Pointer(h), h.funcname+uintptr(f.nameOff)))
}

// note notes a function, from its first program counter to its end, if it is one that is known.
func (k *knownFunctions) note(h *pcHeader, f *funcData, entry, end uintptr) {
	name := nameOf(h, f)
	if name == wrapperName {
		control.wrapper = f.funcID
	}
	if i := slices.Index(allocators[:], name); i >= 0 {
		k.allocators[i] = rangeOf(entry, end)
	}
	if i := slices.Index(holders[:], name); i >= 0 {
		k.holders[i] = rangeOf(entry, end)
	}
	scans := slices.Contains(scanners, packageOf(name))
	if f.flag&flagAssembly != 0 {
		if scans || slices.Contains(movers, name) {
			add(k.movers[:], entry, end)
		}
		return
	}
	if scans || slices.Contains(fillers, name) {
		add(k.fillers[:], entry, end)
	}
	if scans || slices.Contains(bodies, name) {
		addFramed(k.bodies[:], h, f, entry, end)
	}
}

// add adds a range where there is room.
func add(ranges []uint64, from, to uintptr) {
	if i := slices.Index(ranges, 0); i >= 0 && from < to {
		ranges[i] = rangeOf(from, to)
	}
}

// addFramed adds those parts of a function in which its frame is set up: between its prologue and
// what comes before each of its returns.
func addFramed(ranges []uint64, h *pcHeader, f *funcData, entry, end uintptr) {
	const setUp = 3 // the length of the instruction that sets the frame pointer, once the old one is saved
	frame := int32(0)
	parts := func(visit func(size int32, from, to uintptr)) {
		for pc := entry; pc < end; {
			size, from, to := valueAt(h, f.pcsp, entry, pc)
			if to <= pc {
				return
			}
			visit(size, from, to)
			pc = to
		}
	}
	parts(func(size int32, _, _ uintptr) { frame = max(frame, size) })
	parts(func(size int32, from, to uintptr) {
		if frame > 0 && size == frame {
			add(ranges, from+setUp, to)
		}
	})
}

// cString returns the text at an address up to the byte 0.
func cString(p unsafe.Pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return unsafe.String((*byte)(p), n)
}

// A kept has a method that is called through an interface: the wrapper that the compiler makes of
// it, for pointers, shows what the runtime's descriptions call such.
type kept int

func (k kept) Keep() int { return int(k) }

var keeper interface{ Keep() int } = new(kept)

const wrapperName = "github.com/cofferdam-go/cofferdam/internal/interrupt.(*kept).Keep"
