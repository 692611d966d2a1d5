//go:build linux && amd64

package interrupt

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// funcData is the runtime's description of a function, _func, which *runtime.Func points to.
type funcData struct {
	entryOff    uint32
	nameOff     int32
	args        int32
	deferreturn uint32 // where in it deferred functions are run, if it defers any
	pcsp        uint32
	pcfile      uint32
	pcln        uint32
	npcdata     uint32
	cuOffset    uint32
	startLine   int32
	funcID      uint8 // 0 for all but some of the runtime
	flag        uint8
	_           uint8
	nfuncdata   uint8
}

const (
	flagAssembly = 1 << 2
	inlined      = ^uint32(0) // what a *runtime.Func of an inlined call begins with
)

// pcHeader is the beginning of the table of program counters.
type pcHeader struct {
	magic       uint32
	pad1, pad2  uint8
	minLC       uint8
	ptrSize     uint8
	nfunc       int
	nfiles      uint
	_           uintptr
	funcname    uintptr
	cu          uintptr
	filetab     uintptr
	pctabOffset uintptr
	pclnOffset  uintptr
}

const pcMagic = 0xfffffff1

// isGo reports whether the function is one that Go's compiler has made, of no special kind. C
// code that is linked, as that of the race detector, is described like any other, but has no
// map of its variables; the runtime tells by the same.
func (f *funcData) isGo() bool {
	const localsPointerMaps = 1
	if f.funcID != 0 || f.flag&flagAssembly != 0 || f.npcdata == 0 || f.nfuncdata <= localsPointerMaps {
		return false
	}
	after := unsafe.Sizeof(*f) + 4*uintptr(f.npcdata+localsPointerMaps)
	return *(*uint32)(unsafe.Add(unsafe.Pointer(f), after)) != ^uint32(0)
}

// isAssembly reports whether a program counter is in a function that is written in assembly:
// those of the runtime that move and clear memory have no frame.
func isAssembly(pc uintptr) bool {
	f, _ := describe(pc)
	return f != nil && f.flag&flagAssembly != 0
}

// describe returns the description of the function that a program counter is in, and where
// that begins.
func describe(pc uintptr) (f *funcData, entry uintptr) {
	fn := runtime.FuncForPC(pc)
	if fn == nil {
		return nil, 0
	}
	entry = fn.Entry()
	// A program counter of an inlined call has a description that is made up; others of the
	// same function have the true one.
	for at := entry; ; at++ {
		fn = runtime.FuncForPC(at)
		if fn == nil || fn.Entry() != entry {
			return nil, 0
		}
		if f = (*funcData)(unsafe.Pointer(fn)); f.entryOff != inlined {
			return f, entry
		}
	}
}

// table returns the table of program counters that a function is described in: it is in front
// of the descriptions, in one piece.
func table(f *funcData) *pcHeader {
	const farthest = 1 << 28
	for back := uintptr(unsafe.Pointer(f)) & 7; back < farthest; back += 8 {
		h := (*pcHeader)(unsafe.Add(unsafe.Pointer(f), -int(back)))
		if h.magic == pcMagic && h.pad1 == 0 && h.pad2 == 0 && h.minLC == 1 && h.ptrSize == 8 && h.pctabOffset < h.pclnOffset && h.pclnOffset < back+1 {
			return h
		}
	}
	return nil
}

// header is the table of the program, nil if it is not what is known.
var header = sync.OnceValue(func() *pcHeader {
	with, _ := describe(reflect.ValueOf(defers).Pointer())
	without, entry := describe(reflect.ValueOf(plain).Pointer())
	if with == nil || without == nil || with.deferreturn == 0 || without.deferreturn != 0 || !without.isGo() {
		return nil
	}
	if d, _ := describe(handlerPC()); d == nil || d.isGo() {
		return nil
	}
	h := table(without)
	if h == nil {
		return nil
	}
	// A function with a prologue has both kinds of points, and the last of its table is at
	// its end.
	control.base = entry &^ (1<<31 - 1)
	some, others := false, false
	for pc := entry; runtime.FuncForPC(pc).Entry() == entry; pc++ {
		value, _, _ := unsafePoint(h, without, entry, pc)
		some, others = some || value == safePoint, others || value != safePoint
	}
	if !some || !others {
		return nil
	}
	return h
})

// Functions that the tables are checked on.

//go:noinline
func plain(n int) (sum int) {
	for i := range n {
		sum ^= defers(i)
	}
	return sum
}

//go:noinline
func defers(n int) (r int) {
	defer func() { r += n }()
	return n
}

// Supported reports whether goroutines can be interrupted.
func Supported() bool {
	mu.Lock()
	defer mu.Unlock()
	return supported()
}

func supported() bool { return header() != nil }

const safePoint = -1

// unsafePoint returns what the runtime's table of unsafe points says of a program counter, and
// the range for which it says so.
func unsafePoint(h *pcHeader, f *funcData, entry, pc uintptr) (value int32, from, to uintptr) {
	offset := *(*uint32)(unsafe.Add(unsafe.Pointer(f), unsafe.Sizeof(*f)))
	if offset == 0 {
		return safePoint, entry, pc + 1
	}
	p := unsafe.Add(unsafe.Pointer(h), h.pctabOffset+uintptr(offset))
	value, from = -1, entry
	for first := true; ; first = false {
		delta := varint(&p)
		if delta == 0 && !first {
			return -2, 0, 0 // beyond the function
		}
		value += int32(delta>>1) ^ -int32(delta&1)
		to = from + uintptr(varint(&p))
		if pc < to {
			return value, from, to
		}
		from = to
	}
}

func varint(p *unsafe.Pointer) (v uint32) {
	for shift := 0; ; shift += 7 {
		b := *(*byte)(*p)
		*p = unsafe.Add(*p, 1)
		v |= uint32(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
}

// safeRange returns the program counters around one at which a panic may be raised, or of calls
// that may panic, if the function defers something.
func safeRange(pc uintptr) (from, to uintptr, defers, ok bool) {
	h := header()
	f, entry := describe(pc)
	if h == nil || f == nil || !f.isGo() || pc-control.base >= 1<<32 {
		return 0, 0, false, false
	}
	value, low, high := unsafePoint(h, f, entry, pc)
	if value != safePoint || !allowed(pc) {
		return 0, 0, false, false
	}
	from, to = pc, pc+1
	for from > low && allowed(from-1) {
		from--
	}
	for to < high && runtime.FuncForPC(to).Entry() == entry && allowed(to) {
		to++
	}
	return from, to, f.deferreturn != 0, to-control.base < 1<<32
}

// movers are the functions, written in assembly without a frame, that move and clear memory in
// which the collector sees no pointer change, or in which it has been told of all that do.
var movers = [...]string{"runtime.memmove", "runtime.memclrNoHeapPointers"}

// fillers are functions of the runtime that fill memory which they have allocated, and which
// nobody else has seen: when they call a mover, they hold nothing, and nothing is lost with them.
var fillers = [...]string{
	"runtime.growslice", "runtime.growsliceNoAlias", "runtime.growsliceBuf", "runtime.growsliceBufNoAlias", "runtime.makeslicecopy",
	"runtime.concatstrings", "runtime.concatstring2", "runtime.concatstring3", "runtime.concatstring4", "runtime.concatstring5",
	"runtime.concatbytes", "runtime.concatbyte2", "runtime.concatbyte3", "runtime.concatbyte4", "runtime.concatbyte5",
	"runtime.slicebytetostring", "runtime.stringtoslicebyte",
}

const (
	moverCount  = len(movers)
	fillerCount = len(fillers)
)

// outermost returns the name of the function that has a program counter in its code, its own
// or that of a function that is inlined there, and where it begins.
func outermost(pc uintptr) (name string, entry uintptr) {
	fn := runtime.FuncForPC(pc)
	if fn == nil {
		return "", 0
	}
	entry = fn.Entry()
	return runtime.FuncForPC(entry).Name(), entry
}

// end returns where the function ends that begins at an entry.
func end(entry uintptr) uintptr {
	pc := entry
	for fn := runtime.FuncForPC(pc); fn != nil && fn.Entry() == entry; fn = runtime.FuncForPC(pc) {
		pc++
	}
	return pc
}

// pure are the packages of the standard library whose functions have no state, but for what a
// pool gives them and does not get back.
var pure = []string{"bytes", "cmp", "container", "fmt", "maps", "math", "slices", "sort", "strconv", "strings", "unicode"}

// standard are the others, by the first part of their paths.
var standard = []string{
	"archive", "bufio", "compress", "context", "crypto", "database", "debug", "embed", "encoding", "errors", "expvar", "flag", "go", "hash",
	"html", "image", "index", "internal", "io", "iter", "log", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "structs", "sync",
	"syscall", "testing", "text", "time", "unique", "unsafe", "vendor", "weak", "cofferdamrt",
}

const stmPath = "github.com/cofferdam-go/cofferdam/stm"

// allowed reports whether the function of a program counter, an inlined one if it is in such,
// may be given up in its middle. Package stm's own must not, but what is inlined of Load and
// Store into others only makes entries in logs.
func allowed(pc uintptr) bool {
	fn := runtime.FuncForPC(pc)
	if fn == nil {
		return false
	}
	name := fn.Name()
	if strings.HasPrefix(name, stmPath+".") || strings.HasPrefix(name, stmPath+"/compiled.") {
		_, entry := describe(pc)
		outer := runtime.FuncForPC(entry)
		return outer != nil && !strings.HasPrefix(outer.Name(), stmPath)
	}
	first := name
	if i := strings.IndexAny(name, "./"); i >= 0 {
		first = name[:i]
	}
	return !slices.Contains(standard, first) && !strings.HasPrefix(name, "type:") && !strings.HasPrefix(name, "go:") || slices.Contains(pure, first)
}
