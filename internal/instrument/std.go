package instrument

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/load"
)

// The standard library takes part in three ways. Some of its packages are
// rewritten as a dependency is. Some functions get a prologue, which hands a
// controlled goroutine's call to the scheduler and otherwise falls through to the
// original body. And a few files are edited or added: the runtime's random numbers,
// coroutines, the way that package testing runs tests.
//
// All of it starts from the sources of the installation that builds the program,
// and fails with a clear error if these are not as expected. What is done does not
// depend on the program, so the rebuilt standard library is in the go command's
// cache from the second program on.

// rewrittenStd are the packages that are rewritten, with the files of them that
// are, or all. A file may be followed by the one function in it.
var rewrittenStd = map[string][]string{
	"bufio":          nil,
	"bytes":          {"buffer.go", "reader.go"},
	"container/list": nil,
	"container/ring": nil,
	"context":        nil,
	"database/sql":   nil,
	"internal/sync":  {"hashtriemap.go"},
	"io":             nil,
	"log":            nil,
	"log/slog":       nil,
	"math/rand":      {"rand.go", "rng.go"},
	"net":            {"pipe.go"},
	"strings":        {"builder.go", "reader.go"},
	"sync":           {"map.go", "once.go", "oncefunc.go", "waitgroup.go (*WaitGroup).Go"},
	"testing":        nil,
}

// sharedStd are those of them that are rewritten access by access: their types are what
// programs share without a lock.
var sharedStd = map[string]bool{
	"bufio": true, "bytes": true, "container/list": true, "container/ring": true, "math/rand": true, "strings": true,
}

// stdScope returns what of a standard package is rewritten.
func stdScope(pkg string) scope {
	files := rewrittenStd[pkg]
	if files == nil {
		return nil
	}
	return func(file, function string) bool {
		for _, f := range files {
			name, only, _ := strings.Cut(f, " ")
			if name == file && (function == "" || only == "" || only == function) {
				return true
			}
		}
		return false
	}
}

// What methods of reflect.Value begin with. Only what has an address is shared: the
// others are copies.
const (
	reflectLoad  = "if v.flag&flagAddr != 0 { cofferdamrt.ReflectLoad(v.ptr, v.typ().Size()) }"
	reflectStore = "if v.flag&flagAddr != 0 { cofferdamrt.ReflectStore(v.ptr, v.typ().Size()) }"
)

// prologues are what functions begin with. Package rt tells what each does.
var prologues = map[string]map[string]string{
	"internal/sync/mutex.go": {
		"(*Mutex).Lock":    "if cofferdamrt.Lock(&m.state) { return }",
		"(*Mutex).TryLock": "if ok, done := cofferdamrt.TryLock(&m.state); done { return ok }",
		"(*Mutex).Unlock":  "if cofferdamrt.Unlock(&m.state) { return }",
	},
	"sync/rwmutex.go": {
		"(*RWMutex).Lock":     "if cofferdamrt.RWLock(rw, &rw.readerCount, rw.TryLock) { return }",
		"(*RWMutex).TryLock":  "if ok, done := cofferdamrt.TryRWLock(rw, rw.TryLock); done { return ok }",
		"(*RWMutex).Unlock":   "if cofferdamrt.RWUnlock(rw, &rw.readerCount, rw.Unlock) { return }",
		"(*RWMutex).RLock":    "if cofferdamrt.RLock(rw, &rw.readerCount, rw.TryRLock) { return }",
		"(*RWMutex).TryRLock": "if ok, done := cofferdamrt.TryRLock(rw, rw.TryRLock); done { return ok }",
		"(*RWMutex).RUnlock":  "if cofferdamrt.RUnlock(rw, &rw.readerCount, rw.RUnlock) { return }",
	},
	"sync/waitgroup.go": {
		"(*WaitGroup).Add":  "if cofferdamrt.WaitGroupAdd(&wg.state, delta) { return }",
		"(*WaitGroup).Wait": "if cofferdamrt.WaitGroupWait(&wg.state) { return }",
	},
	"sync/cond.go": {
		"(*Cond).Wait":      "if cofferdamrt.CondAdd(c) { c.checker.check(); c.L.Unlock(); cofferdamrt.CondWait(c); c.L.Lock(); return }",
		"(*Cond).Signal":    "if cofferdamrt.Signal(c) { return }",
		"(*Cond).Broadcast": "if cofferdamrt.Broadcast(c) { return }",
	},
	"sync/pool.go": {
		"(*Pool).Put": "if cofferdamrt.PoolPut(p, p.New, x) { return }",
		"(*Pool).Get": "if x, ok := cofferdamrt.PoolGet(p, p.New); ok { if x == nil && p.New != nil { x = p.New() }; return x }",
	},
	"time/sleep.go": {
		"NewTimer":       "if cofferdamrt.Controlled() { c := make(chan Time, 1); t := newTimer(1<<63-1, 0, sendTime, c, nil); stopTimer(t); t.C = c; cofferdamrt.StartTimer(t, int64(d), 0, c, Now); return t }",
		"AfterFunc":      "if cofferdamrt.Controlled() { t := newTimer(1<<63-1, 0, goFunc, f, nil); stopTimer(t); cofferdamrt.StartFunc(t, int64(d), f); return t }",
		"(*Timer).Stop":  "if active, ok := cofferdamrt.StopTimer(t); ok { return active }",
		"(*Timer).Reset": "if active, ok := cofferdamrt.ResetTimer(t, int64(d), 0); ok { return active }",
	},
	"time/tick.go": {
		"NewTicker":       "if d > 0 && cofferdamrt.Controlled() { c := make(chan Time, 1); t := newTimer(1<<63-1, int64(d), sendTime, c, nil); stopTimer(t); t.C = c; cofferdamrt.StartTimer(t, int64(d), int64(d), c, Now); return (*Ticker)(unsafe.Pointer(t)) }",
		"(*Ticker).Stop":  "if _, ok := cofferdamrt.StopTimer(t); ok { return }",
		"(*Ticker).Reset": "if d > 0 { if _, ok := cofferdamrt.ResetTimer(t, int64(d), int64(d)); ok { return } }",
	},
	"time/time.go": {
		"Since": "if cofferdamrt.Controlled() { return Now().Sub(t) }",
		"Until": "if cofferdamrt.Controlled() { return t.Sub(Now()) }",
	},
	"syscall/syscall_unix.go": {
		"Read":     "defer func() { cofferdamrt.IORead(p, n, err == nil) }()",
		"Pread":    "defer func() { cofferdamrt.IORead(p, n, err == nil) }()",
		"Write":    "cofferdamrt.IOWrite(p)",
		"Pwrite":   "cofferdamrt.IOWrite(p)",
		"Sendfile": "cofferdamrt.IOWrite(nil)",
	},
	"os/proc.go": {
		"Exit": "if cofferdamrt.Controlled() { cofferdamrt.Exit(code) }",
	},
	"reflect/value.go": {
		"Value.Bool":          reflectLoad,
		"Value.Bytes":         reflectLoad,
		"Value.Cap":           reflectLoad,
		"Value.Complex":       reflectLoad,
		"Value.Elem":          reflectLoad,
		"Value.Float":         reflectLoad,
		"Value.Index":         reflectLoad,
		"Value.Int":           reflectLoad,
		"Value.Interface":     reflectLoad,
		"Value.IsNil":         reflectLoad,
		"Value.IsZero":        reflectLoad,
		"Value.Len":           reflectLoad,
		"Value.Pointer":       reflectLoad,
		"Value.Slice":         reflectLoad,
		"Value.String":        reflectLoad,
		"Value.Uint":          reflectLoad,
		"Value.UnsafePointer": reflectLoad,
		"Value.Set":           "if x.flag&flagAddr != 0 { cofferdamrt.ReflectLoad(x.ptr, x.typ().Size()) }; " + reflectStore,
		"Value.SetBool":       reflectStore,
		"Value.SetBytes":      reflectStore,
		"Value.SetCap":        reflectStore,
		"Value.SetComplex":    reflectStore,
		"Value.SetFloat":      reflectStore,
		"Value.SetInt":        reflectStore,
		"Value.SetLen":        reflectStore,
		"Value.SetPointer":    reflectStore,
		"Value.SetString":     reflectStore,
		"Value.SetUint":       reflectStore,
		"Value.SetZero":       reflectStore,
	},
	"reflect/map.go": {
		"Value.MapIndex":    "if v.kind() == Map { cofferdamrt.ReflectMapRead(v.pointer()) }",
		"Value.MapKeys":     "if v.kind() == Map { cofferdamrt.ReflectMapRead(v.pointer()) }",
		"(*MapIter).Next":   "if iter.m.kind() == Map { cofferdamrt.ReflectMapRead(iter.m.pointer()) }",
		"Value.SetMapIndex": "if v.kind() == Map { cofferdamrt.ReflectMapWrite(v.pointer()) }",
	},
	"hash/adler32/adler32.go": {"(*digest).Write": "cofferdamrt.LoadBytes(p)"},
	"hash/crc32/crc32.go":     {"(*digest).Write": "cofferdamrt.LoadBytes(p)"},
	"hash/crc64/crc64.go":     {"(*digest).Write": "cofferdamrt.LoadBytes(p)"},
	"testing/synctest/synctest.go": {
		"Wait": "if cofferdamrt.BubbleWait() { return }",
	},
	"testing/testing.go": {
		"(*common).Fail": "cofferdamrt.ReportFailure()",
		"(*common).log":  "cofferdamrt.Logged(s)",
		"(*M).Run":       "if cofferdamrt.Drive != nil { return m.cofferdamDrive() }",
	},
}

// An edit replaces a piece of a file that must be there, as often as it is told.
type edit struct {
	old, new string
	times    int
}

// Functions that only call a patched one must not be inlined: who called them is found
// by return addresses, and one in an inlined function names that function alone.
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
	"reflect/value.go": {
		{"\treturn typedslicecopy(de.Common(), ds, ss)\n", "\tif n := uintptr(min(ds.Len, ss.Len)) * de.Size(); n > 0 { cofferdamrt.ReflectLoad(ss.Data, n); cofferdamrt.ReflectStore(ds.Data, n) }; return typedslicecopy(de.Common(), ds, ss)\n", 1},
	},
	"testing/synctest/synctest.go": {
		{"\tsynctest.Run(func() {\n", "\trun := synctest.Run; if cofferdamrt.Controlled() { run = cofferdamrt.Bubble }; run(func() {\n", 1},
	},
	// It is not rewritten, because other packages call it by its linker name.
	"testing/testing.go": {
		{"\tgo tRunner(t2, f)\n\tif !<-t2.signal {\n", "\tcofferdamrt.Go(0, func() { tRunner(t2, f) })\n\tif !cofferdamrt.Recv(t2.signal, 0) {\n", 1},
	},
	"sync/oncefunc.go": {
		{"\t\t\tdefer func() {\n", "\t\t\tcofferdamrt.Keep(&d); defer func() {\n", 3},
	},
	"runtime/time.go": {
		{"//go:linkname timeSleep time.Sleep\n", "//go:linkname timeSleep time.cofferdamSleep\n", 1},
	},
	"runtime/rand.go": {
		{"\tglobalRand.state.Init(*seed)\n", "\t*seed = [32]byte{1}; globalRand.state.Init(*seed)\n", 1},
		{"\nfunc rand() uint64 {\n", "\nfunc rand() uint64 { if cofferdamState != 0 { return cofferdamRand() }\n", 1},
		{"\tmp.cheaprand = rand()\n", "\tmp.cheaprand = seed[0]\n", 1},
	},
	"iter/iter.go": {
		{"\tvar pull struct {\n", "\tvar pull struct { cofferdam cofferdamrt.Coroutine\n", 2},
		{"\tcoroswitch(c)\n", "\tpull.cofferdam.Leave(); coroswitch(c); pull.cofferdam.Arrive()\n", 6},
		{"\tc := newcoro(func(c *coro) {\n", "\tc := newcoro(func(c *coro) { pull.cofferdam.Arrive(); defer pull.cofferdam.Leave()\n", 2},
	},
}

//go:embed template/runtime.go.txt
var runtimeAddition string

//go:embed template/testing.go.txt
var testingAddition string

//go:embed template/seed.go.txt
var seedAddition string

// additions are files that packages get.
var additions = map[string]*string{
	"runtime/cofferdam.go":     &runtimeAddition,
	"testing/cofferdam.go":     &testingAddition,
	"cofferdamrt/cofferdam.go": &seedAddition,
}

// patchStd returns the files of the standard library that get prologues and edits,
// by their path below GOROOT/src. Those that were rewritten are patched on top.
func patchStd(src string, done map[string]string) (map[string]string, error) {
	out := make(map[string]string)
	names := make(map[string]bool)
	for n := range prologues {
		names[n] = true
	}
	for n := range edits {
		names[n] = true
	}
	for name := range names {
		file := filepath.Join(src, filepath.FromSlash(name))
		text, ok := done[file]
		if !ok {
			b, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("patching the standard library: %w", err)
			}
			text = string(b)
		}
		text, err := patch(name, text, prologues[name], edits[name])
		if err != nil {
			return nil, fmt.Errorf("the standard library in %s is not one that cofferdam knows: %w", src, err)
		}
		out[name] = text
	}
	for name, text := range additions {
		out[name] = *text
	}
	return out, nil
}

// patch puts prologues into functions of one file and makes edits to it.
func patch(name, text string, first map[string]string, edits []edit) (string, error) {
	usesHooks := len(first) > 0
	for _, e := range edits {
		if n := strings.Count(text, e.old); n != e.times {
			return "", fmt.Errorf("%s has %q %d times, not %d", name, strings.TrimSpace(e.old), n, e.times)
		}
		text = strings.ReplaceAll(text, e.old, e.new)
		usesHooks = usesHooks || strings.Contains(e.new, "cofferdamrt.")
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return "", err
	}
	type insertion struct {
		at   int
		text string
	}
	var list []insertion
	tok := fset.File(f.FileStart)
	found := make(map[string]bool)
	for _, d := range f.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Body == nil {
			continue
		}
		if p, ok := first[load.FuncName(fd)]; ok {
			found[load.FuncName(fd)] = true
			list = append(list, insertion{tok.Offset(fd.Body.Lbrace) + 1, " " + p + ";"})
		}
	}
	for fn := range first {
		if !found[fn] {
			return "", fmt.Errorf("%s has no function %s", name, fn)
		}
	}
	if usesHooks && !slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"cofferdamrt"` }) {
		list = append(list, insertion{tok.Offset(f.Name.End()), `; import cofferdamrt "cofferdamrt"`})
	}
	slices.SortFunc(list, func(a, b insertion) int { return a.at - b.at })
	var b bytes.Buffer
	last := 0
	for _, i := range list {
		b.WriteString(text[last:i.at])
		b.WriteString(i.text)
		last = i.at
	}
	b.WriteString(text[last:])
	return b.String(), nil
}
