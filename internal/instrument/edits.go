package instrument

// What a swapper of large elements does.
const (
	swapMoves = "\t\ttypedmemmove(typ, tmp, val1)\n"
	swapSeen  = "\t\tcofferdamrt.ReflectLoad(val1, size); cofferdamrt.ReflectLoad(val2, size); cofferdamrt.ReflectStore(val1, size); cofferdamrt.ReflectStore(val2, size); typedmemmove(typ, tmp, val1)\n"
)

// An edit replaces a piece of a file that must be there, as often as it is told.
type edit struct {
	old, new string
	times    int
}

// edits are changes in the middle of functions, by file below GOROOT/src.
//
//   - sync/mutex.go, sync/waitgroup.go: functions that only call a patched one must not be
//     inlined: their caller is found by return addresses, and one in an inlined function
//     names that function alone.
//   - sync/oncefunc.go: what the function returned is not stored atomically. The store is
//     noted before d.once does it, so that it can be taken back.
//   - os/tempfile.go: processes that draw the same names do not notice each other.
//   - runtime/extern.go, runtime/mprof.go: of the calls on its stack a program sees those that it
//     would have without hooks.
//   - runtime/debug.go: how many processors a program sees is the same on any machine, and
//     of the goroutines it sees its own.
//   - runtime/mfinal.go, runtime/mcleanup.go: what is called when an object is not reachable
//     any more is under control.
//   - runtime/mheap.go, runtime/mcache.go: what was allocated since a run began is known.
//   - runtime/rand.go: random numbers come from the run's seed.
//   - reflect/type.go: what it remembers of types is not under control.
//   - math/rand, hash/maphash: what a program draws is counted.
//   - iter/iter.go: a coroutine has a g of its own and goes on for the goroutine that calls
//     next or stop.
//   - testing/match.go: that a test is selected is not a part of it.
//   - testing/internal/testdeps/deps.go: patterns are compiled when they are checked, before the
//     first run, and no run has to.
//   - testing/testing.go: the function that starts a subtest is not rewritten, because other
//     packages call it by its linker name; what tests run at the moment is not noted; the
//     name of the function that runs one is known without a look at the stack; there is no
//     race detector to ask; and a context that no goroutine has asked for is not cancelled.
var edits = map[string][]edit{
	"sync/mutex.go": {
		{"\nfunc (m *Mutex) Lock() {\n", "\n//go:noinline\nfunc (m *Mutex) Lock() {\n", 1},
		{"\nfunc (m *Mutex) TryLock() bool {\n", "\n//go:noinline\nfunc (m *Mutex) TryLock() bool {\n", 1},
		{"\nfunc (m *Mutex) Unlock() {\n", "\n//go:noinline\nfunc (m *Mutex) Unlock() {\n", 1},
	},
	"sync/waitgroup.go": {
		{"\nfunc (wg *WaitGroup) Done() {\n", "\n//go:noinline\nfunc (wg *WaitGroup) Done() {\n", 1},
	},
	"time/sleep.go": {
		{"\nfunc Sleep(d Duration)\n", "\nfunc Sleep(d Duration) { if cofferdamrt.Sleep(int64(d)) { return }; cofferdamSleep(d) }; func cofferdamSleep(d Duration)\n", 1},
	},
	"time/time.go": {
		{"sec, nsec, mono := runtimeNow()\n", "sec, nsec, mono := runtimeNow(); if unix, mono1, ok := cofferdamrt.Now(); ok { sec, nsec, mono = unix/1e9, int32(unix%1e9), startNano+1+mono1 }\n", 1},
	},
	"net/fd_posix.go": {
		{"\n\tpfd poll.FD\n", "\n\tpfd poll.FD; memory *memorySocket\n", 1},
	},
	"net/splice_linux.go": {
		{"\twritten, handled, err = pollSplice(&c.pfd, ", "\tif c.memory != nil || s.memory != nil { return 0, nil, false }; written, handled, err = pollSplice(&c.pfd, ", 1},
		{"\twritten, handled, err = pollSplice(&uc.fd.pfd, ", "\tif c.memory != nil || uc.fd.memory != nil { return 0, nil, false }; written, handled, err = pollSplice(&uc.fd.pfd, ", 1},
	},
	"os/tempfile.go": {
		{"\t\tname := prefix + nextRandom() + suffix\n", "\t\tname := prefix + cofferdamName(try) + suffix\n", 2},
		{"\t\terr := Mkdir(name, 0700)\n", "\t\terr := cofferdamMkdir(name, 0700, try)\n", 1},
		{"\t\tf, err := OpenFile(name, O_RDWR|O_CREATE|O_EXCL, 0600)\n", "\t\tf, err := cofferdamOpen(name, O_RDWR|O_CREATE|O_EXCL, 0600, try)\n", 1},
	},
	"os/signal/signal.go": {
		{"\n\tsignalWaitUntilIdle()\n", "\n\tif !cofferdamrt.Controlled() { signalWaitUntilIdle() }\n", 1},
	},
	"reflect/value.go": {
		{" := chanrecv(v.pointer(), nb, p)\n", " := cofferdamReceive(t, v.pointer(), nb, p)\n", 1},
		{"\treturn chansend(v.pointer(), p, nb)\n", "\treturn cofferdamSend(tt.Elem, v.pointer(), p, nb)\n", 1},
		{"\tchosen, recvOK = rselect(runcases)\n", "\tchosen, recvOK = cofferdamSelect(runcases)\n", 1},
		{"\tchanclose(v.pointer())\n", "\tif p := v.pointer(); cofferdamrt.CloseAny(p, func() { chanclose(p) }) { return }; chanclose(v.pointer())\n", 1},
		{"\treturn typedslicecopy(de.Common(), ds, ss)\n", "\tif n := uintptr(min(ds.Len, ss.Len)) * de.Size(); n > 0 { cofferdamrt.ReflectLoad(ss.Data, n); cofferdamrt.ReflectStore(ds.Data, n) }; return typedslicecopy(de.Common(), ds, ss)\n", 1},
	},
	"reflect/swapper.go":              {{swapMoves, swapSeen, 1}},
	"internal/reflectlite/swapper.go": {{swapMoves, swapSeen, 1}},
	"testing/synctest/synctest.go": {
		{"\tsynctest.Run(func() {\n", "\trun := synctest.Run; if cofferdamrt.Controlled() { run = cofferdamrt.Bubble }; run(func() {\n", 1},
	},
	"testing/match.go": {
		{"\tok, partial = m.filter.matches(elem, m.matchFunc)\n", "\tcofferdamrt.Unseen(func() { ok, partial = m.filter.matches(elem, m.matchFunc) })\n", 1},
		{"\tskip, partialSkip := m.skip.matches(elem, m.matchFunc)\n", "\tvar skip, partialSkip bool; cofferdamrt.Unseen(func() { skip, partialSkip = m.skip.matches(elem, m.matchFunc) })\n", 1},
	},
	"testing/internal/testdeps/deps.go": {
		{"\tif matchRe == nil || matchPat != pat {\n", "\tif matchRe = cofferdamPatterns[pat]; matchRe == nil {\n", 1},
		{"\treturn matchRe.MatchString(str), nil\n", "\tcofferdamPatterns[pat] = matchRe; return matchRe.MatchString(str), nil\n", 1},
		{"\nvar matchRe *regexp.Regexp\n", "\nvar matchRe *regexp.Regexp; var cofferdamPatterns = map[string]*regexp.Regexp{}\n", 1},
	},
	"testing/testing.go": {
		{"\tgo tRunner(t2, f)\n\tif !<-t2.signal {\n", "\tcofferdamrt.GoCall(0, func() { tRunner(t2, f) })\n\tif !cofferdamrt.Recv(t2.signal, 0) {\n", 1},
		{" in the typical case it is blocked.\n\n\tif ", " in the typical case it is blocked.\n\n\tcofferdamrt.OnlyWaits(); if ", 1},
		{"\trunning sync.Map ", "\trunning cofferdamRunning ", 1},
		{"\tcancelCtx context.CancelFunc\n", "\tcancelCtx context.CancelFunc; cofferdamContext cofferdamContext\n", 1},
		{"\tif c.cancelCtx != nil {\n", "\tif c.cancelCtx != nil && c.cofferdamCancels() {\n", 1},
		{"\tt.runner = callerName(0)\n", "\tt.runner = \"testing.tRunner\"\n", 1},
		{"\tdefer func() {\n\t\tt.checkRaces()\n", "\tdefer func() {\n\t\tif cofferdamrt.Drive == nil { t.checkRaces() }\n", 1},
	},
	"reflect/type.go": {
		{"var ptrMap sync.Map ", "var ptrMap cofferdamCache ", 1},
		{"var lookupCache sync.Map ", "var lookupCache cofferdamCache ", 1},
		{"var layoutCache sync.Map ", "var layoutCache cofferdamCache ", 1},
		{"\tm sync.Map\n", "\tm cofferdamCache\n", 2},
	},
	"sync/oncefunc.go": {
		{"\t\t\tdefer func() {\n", "\t\t\tcofferdamrt.Keep(&d); defer func() {\n", 3},
	},
	"runtime/time.go": {
		{"//go:linkname timeSleep time.Sleep\n", "//go:linkname timeSleep time.cofferdamSleep\n", 1},
	},
	"runtime/mfinal.go": {
		{"\n\tcreatefing()\n\n\tcallerpc := ", "\n\tcreatefing(); cofferdamRegistered(e.data, (*funcval)(f.data))\n\n\tcallerpc := ", 1},
		{"\t\t\t\treflectcall(nil, unsafe.Pointer(f.fn), frame, uint32(framesz), uint32(framesz), uint32(framesz), &regs)\n", "\t\t\t\tif !cofferdamFinalize(f) { reflectcall(nil, unsafe.Pointer(f.fn), frame, uint32(framesz), uint32(framesz), uint32(framesz), &regs) }\n", 1},
	},
	"runtime/mcleanup.go": {
		{"\n\tid := addCleanup(unsafe.Pointer(ptr), cleanupFn{\n", "\n\tcofferdamRegistered(unsafe.Pointer(argv), *(**funcval)(unsafe.Pointer(&cleanup))); id := addCleanup(unsafe.Pointer(ptr), cleanupFn{\n", 1},
		{"\t\t\tc.call(c.fn, c.arg)\n", "\t\t\tif !cofferdamCleanup(c) { c.call(c.fn, c.arg) }\n", 1},
	},
	"runtime/debug.go": {
		{"\nfunc GOMAXPROCS(n int) int {\n", "\nfunc GOMAXPROCS(n int) int { if cofferdamProcs != 0 { return cofferdamGOMAXPROCS(n) }\n", 1},
		{"\treturn int(gcount(false))\n", "\tif cofferdamCount != nil { if n := cofferdamCount(); n >= 0 { return n } }; return int(gcount(false))\n", 1},
		{"\nfunc NumCPU() int {\n", "\nfunc NumCPU() int { if cofferdamCPUs != 0 { return cofferdamCPUs }\n", 1},
	},
	"runtime/mprof.go": {
		{"\t\tstartTheWorld(stw)\n\t}\n\treturn n\n}\n", "\t\tstartTheWorld(stw)\n\t}; if cofferdamShow != nil && n < len(buf) { n = copy(buf, cofferdamShow(buf[:n])) }\n\treturn n\n}\n", 1},
	},
	"runtime/extern.go": {
		{"\tn := callers(skip+1, rpc)\n", "\tn := cofferdamCallers(skip+1, rpc)\n", 1},
		{"\treturn callers(skip, pc)\n", "\treturn cofferdamCallers(skip, pc)\n", 1},
	},
	"runtime/mheap.go": {
		{"\n\tfreeindex uint16\n", "\n\tfreeindex uint16; cofferdamFrom uint16; cofferdamRun uint32\n", 1},
	},
	"runtime/mcache.go": {
		{"\n\tc.scanAlloc = 0\n\n\tc.alloc[spc] = s\n", "\n\tc.scanAlloc = 0\n\n\ts.cofferdamAllocates(); c.alloc[spc] = s\n", 1},
		{"\n\ts.initHeapBits()\n\treturn s\n", "\n\ts.initHeapBits(); s.cofferdamRun, s.cofferdamFrom = cofferdamRun, 0\n\treturn s\n", 1},
	},
	"runtime/rand.go": {
		{"\tglobalRand.state.Init(*seed)\n", "\t*seed = [32]byte{1}; globalRand.state.Init(*seed)\n", 1},
		{"\nfunc rand() uint64 {\n", "\nfunc rand() uint64 { if cofferdamState != 0 { return cofferdamRand() }\n", 1},
		{"\tmp.cheaprand = rand()\n", "\tmp.cheaprand = seed[0]\n", 1},
	},
	"math/rand/rand.go": {
		{"//go:linkname runtime_rand runtime.rand\n", "//go:linkname runtime_rand runtime.cofferdamDraw\n", 1},
	},
	"math/rand/v2/rand.go": {
		{"//go:linkname runtime_rand runtime.rand\n", "//go:linkname runtime_rand runtime.cofferdamDraw\n", 1},
	},
	"hash/maphash/maphash_runtime.go": {
		{"//go:linkname runtime_rand runtime.rand\n", "//go:linkname runtime_rand runtime.cofferdamDraw\n", 1},
	},
	"iter/iter.go": {
		{"\tvar pull struct {\n", "\tvar pull struct { cofferdam cofferdamrt.Coroutine\n", 2},
		{"\tcoroswitch(c)\n", "\tpull.cofferdam.Leave(); coroswitch(c); pull.cofferdam.Arrive()\n", 6},
		{"\tc := newcoro(func(c *coro) {\n", "\tc := newcoro(func(c *coro) { pull.cofferdam.Arrive(); defer pull.cofferdam.Leave()\n", 2},
	},
}
