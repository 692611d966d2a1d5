package instrument

import _ "embed"

// This file, with edits.go for the middle of functions, is the one table of what the standard
// library gets. A test holds that every hook it names is there in package rt.

// What methods of reflect.Value begin with. Only what has an address is shared: the
// others are copies.
const (
	reflectLoad  = "if v.flag&flagAddr != 0 { cofferdamrt.ReflectLoad(v.ptr, v.typ().Size()) }"
	reflectStore = "if v.flag&flagAddr != 0 { cofferdamrt.ReflectStore(v.ptr, v.typ().Size()) }"
)

// What functions of package net begin with that are given a netFD, if that is in memory.
const inMemory = "if fd.memory != nil { "

// kill is what syscall.Kill begins with. Signals that a program sends to itself do not pass
// through the system.
const kill = "if pid == Getpid() && cofferdamrt.SendSignal(int(sig)) { return nil }"

// What functions of package os begin with that look at files or change them.
const (
	looksAtFiles  = "cofferdamrt.File(false)"
	changesFiles  = "cofferdamrt.File(true)"
	changesName   = "cofferdamrt.ChangesFile(name)"
	changesInRoot = "cofferdamrt.ChangesFile(cofferdamInRoot(r, name))"
	readsFile     = "if f != Stdin { cofferdamrt.File(false) }"
	writesFile    = "if f != Stdout && f != Stderr { cofferdamrt.File(true) }"
)

// readsHeader is what methods of http.Header begin with that do not leave the map to
// package net/textproto.
const readsHeader = "cofferdamrt.MR(h, 0)"

// changesNames are the functions that change what names mean, in files that differ between systems.
var changesNames = map[string]string{
	"Truncate": changesName,
	"Remove":   changesName,
	"Link":     "cofferdamrt.ChangesFile(newname)",
	"Symlink":  "cofferdamrt.ChangesFile(newname)",
}

// keepAlive are the functions by which the system is told to look whether the other end of
// a connection is still there. In memory it is.
var keepAlive = map[string]string{
	"setKeepAliveIdle":     inMemory + "return fd.memoryOption() }",
	"setKeepAliveInterval": inMemory + "return fd.memoryOption() }",
	"setKeepAliveCount":    inMemory + "return fd.memoryOption() }",
}

// prologues are what functions begin with, by file below GOROOT/src and function: the first
// statements, on the line of the opening brace. Where a prologue does not return, the
// original body follows as it is; for a goroutine that is not under control that is always
// so.
//
//	func (m *Mutex) Unlock() {   ->   func (m *Mutex) Unlock() { if cofferdamrt.Unlock(&m.state) { return };
//
// The bodies themselves are not rewritten. The hooks call some of the methods again with
// the hooks inside them switched off (rw.TryLock below), which is how the original body
// does the work on the one object that controlled and other goroutines share.
//
// Why there:
//
//   - internal/sync/mutex.go: sync.Mutex calls it.
//   - time: time.Sleep has no body, and gets one by an edit below; the name by which the
//     runtime provides it becomes time.cofferdamSleep.
//   - time (template/time.go.txt), runtime: clocks and random numbers for programs that take them by
//     their linker names; see borrowed in package hooks.
//   - time, net, os: what is made before the first run goes in real time (cofferdamrt.Makes).
//   - syscall: in the places of the race detector's own calls. Without them goroutines that
//     meet through a file or a pipe seem to race.
//   - reflect: what a method is about to load or store, of values that have an address, and
//     which map it is about to read or write.
//   - net: what is made with an address of this machine by a goroutine under control is in
//     memory (template/net.go.txt and package loopback). The cut is below netFD, above what
//     differs between systems.
//   - net/http: what http.DefaultTransport and http.DefaultServeMux are before a run uses
//     them for the first time, so that the next run finds them like that. Accesses of the
//     package itself are not seen, but for those of the headers that it shares with the program.
//   - math/rand: a draw with few possibilities is a choice of the scheduler, unless the
//     program has said what to start from.
//   - weak: that a program depends on when memory is collected.
//   - crypto/internal/sysrand: what the system gives differs from run to run.
//   - crypto: hashes there have no hooks.
//   - testing: what it does around a test for the race detector, which is not there, and to
//     say that no test was run. Each lock of it would be a step of every run. What hooks allocate
//     is not the program's, and cannot be told from what is, so that none is measured.
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
		"(*Cond).Signal":    "if cofferdamrt.Signal(c, &c.notify.wait, &c.notify.notify) { return }",
		"(*Cond).Broadcast": "if cofferdamrt.Broadcast(c) { return }",
	},
	"sync/pool.go": {
		"(*Pool).Put": "if cofferdamrt.PoolPut(p, p.New, x) { return }",
		"(*Pool).Get": "if x, ok := cofferdamrt.PoolGet(p, p.New); ok { if x == nil && p.New != nil { x = p.New() }; return x }",
	},
	"time/sleep.go": {
		"NewTimer":       "if cofferdamrt.Makes() { c := make(chan Time, 1); t := newTimer(1<<63-1, 0, sendTime, c, nil); stopTimer(t); t.C = c; cofferdamrt.StartTimer(t, int64(d), 0, c, Now); return t }",
		"AfterFunc":      "if cofferdamrt.Makes() { t := newTimer(1<<63-1, 0, goFunc, f, nil); stopTimer(t); cofferdamrt.StartFunc(t, int64(d), f); return t }",
		"(*Timer).Stop":  "if active, ok := cofferdamrt.StopTimer(t); ok { return active }",
		"(*Timer).Reset": "if active, ok := cofferdamrt.ResetTimer(t, int64(d), 0); ok { return active }",
	},
	"time/tick.go": {
		"NewTicker":       "if d > 0 && cofferdamrt.Makes() { c := make(chan Time, 1); t := newTimer(1<<63-1, int64(d), sendTime, c, nil); stopTimer(t); t.C = c; cofferdamrt.StartTimer(t, int64(d), int64(d), c, Now); return (*Ticker)(unsafe.Pointer(t)) }",
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
	"os/exec.go": {
		"StartProcess":      "cofferdamrt.Process()",
		"(*Process).Signal": "if n, ok := sig.(syscall.Signal); ok && p != nil && p.Pid == Getpid() && cofferdamrt.SendSignal(int(n)) { return nil }",
	},
	"os/signal/signal_unix.go": {
		"enableSignal":  "if cofferdamrt.Controlled() && !hear(sig) { return }",
		"disableSignal": "if cofferdamrt.Controlled() { return }",
		"loop":          "if cofferdamrt.Controlled() { loopBeside(); return }",
	},
	"syscall/zsyscall_linux_amd64.go": {"Kill": kill},
	"syscall/zsyscall_linux_arm64.go": {"Kill": kill},
	"os/file.go": {
		"(*File).Read":    readsFile,
		"(*File).ReadAt":  readsFile,
		"(*File).Write":   writesFile,
		"(*File).WriteAt": writesFile,
		"(*File).Seek":    writesFile,
		"OpenFile":        "cofferdamOpens(name, flag)",
		"openDir":         looksAtFiles,
		"Mkdir":           changesName,
		"Rename":          "cofferdamrt.SharesFile(oldpath); cofferdamrt.ChangesFile(newpath)",
		"Readlink":        looksAtFiles,
		"Chmod":           changesName,
		"Chdir":           "cofferdamrt.Chdir(dir)",
	},
	"os/file_posix.go": {
		"(*File).Truncate": changesFiles,
		"(*File).Chdir":    "if f != nil { cofferdamrt.Chdir(f.name) }",
		"Chtimes":          changesName,
		"Chown":            changesName,
		"Lchown":           changesName,
	},
	"os/file_unix.go":    changesNames,
	"os/file_windows.go": changesNames,
	"os/path.go":         {"RemoveAll": "cofferdamrt.ChangesFile(path)"},
	"os/root.go": {
		"(*Root).OpenFile":  "cofferdamOpens(cofferdamInRoot(r, name), flag)",
		"(*Root).Chmod":     changesInRoot,
		"(*Root).Mkdir":     changesInRoot,
		"(*Root).MkdirAll":  changesInRoot,
		"(*Root).Chown":     changesInRoot,
		"(*Root).Lchown":    changesInRoot,
		"(*Root).Chtimes":   changesInRoot,
		"(*Root).Remove":    changesInRoot,
		"(*Root).RemoveAll": changesInRoot,
		"(*Root).Stat":      looksAtFiles,
		"(*Root).Lstat":     looksAtFiles,
		"(*Root).Readlink":  looksAtFiles,
		"(*Root).Rename":    "cofferdamrt.SharesFile(cofferdamInRoot(r, oldname)); cofferdamrt.ChangesFile(cofferdamInRoot(r, newname))",
		"(*Root).Link":      "cofferdamrt.ChangesFile(cofferdamInRoot(r, newname))",
		"(*Root).Symlink":   "cofferdamrt.ChangesFile(cofferdamInRoot(r, newname))",
	},
	"os/stat.go": {"Stat": looksAtFiles, "Lstat": looksAtFiles},
	"os/dir.go": {
		"(*File).Readdir":      looksAtFiles,
		"(*File).Readdirnames": looksAtFiles,
		"(*File).ReadDir":      looksAtFiles,
	},
	"os/pipe2_unix.go": {"Pipe": "cofferdamrt.Makes()"},
	"os/pipe_unix.go":  {"Pipe": "cofferdamrt.Makes()"},
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
	"math/rand/rand.go": {
		"Intn":   "if _, seeded := globalRand().src.(*lockedSource); !seeded { if i, ok := cofferdamrt.DrawBelow(n); ok { return i } }",
		"Int31n": "if _, seeded := globalRand().src.(*lockedSource); !seeded { if i, ok := cofferdamrt.DrawBelow(int(n)); ok { return int32(i) } }",
		"Int63n": "if _, seeded := globalRand().src.(*lockedSource); !seeded { if i, ok := cofferdamrt.DrawBelow(int(min(n, 1<<30))); ok { return int64(i) } }",
	},
	"math/rand/v2/rand.go": {
		"IntN":    "if i, ok := cofferdamrt.DrawBelow(n); ok { return i }",
		"Int32N":  "if i, ok := cofferdamrt.DrawBelow(int(n)); ok { return int32(i) }",
		"Int64N":  "if i, ok := cofferdamrt.DrawBelow(int(min(n, 1<<30))); ok { return int64(i) }",
		"UintN":   "if i, ok := cofferdamrt.DrawBelow(int(min(n, 1<<30))); ok { return uint(i) }",
		"Uint32N": "if i, ok := cofferdamrt.DrawBelow(int(min(n, 1<<30))); ok { return uint32(i) }",
		"Uint64N": "if i, ok := cofferdamrt.DrawBelow(int(min(n, 1<<30))); ok { return uint64(i) }",
		"N":       "if i, ok := cofferdamrt.DrawBelow(int(min(uint64(n), 1<<30))); ok { return Int(i) }",
	},
	"crypto/internal/sysrand/rand.go": {
		"Read": "if cofferdamrt.DrawBytes(b) { return }",
	},
	"net/http/header.go": {
		"Header.get":             readsHeader,
		"Header.has":             readsHeader,
		"Header.Clone":           readsHeader,
		"Header.sortedKeyValues": readsHeader,
	},
	"net/http/transport.go": {
		"(*Transport).roundTrip":            "cofferdamrt.Keep(t)",
		"(*Transport).CloseIdleConnections": "cofferdamrt.Keep(t)",
		"(*Transport).RegisterProtocol":     "cofferdamrt.Keep(t)",
	},
	"net/http/server.go": {
		"(*ServeMux).registerErr": "cofferdamrt.Keep(mux)",
	},
	"net/sock_posix.go": {
		"socket": "if fd, done, err := memorySocketFor(ctx, net, family, sotype, ipv6only, laddr, raddr, ctrlCtxFn); done { return fd, err }",
	},
	"net/fd_posix.go": {
		"(*netFD).Close":            inMemory + "return fd.memoryClose() }",
		"(*netFD).shutdown":         inMemory + "return fd.memoryShutdown(how) }",
		"(*netFD).Read":             inMemory + "return fd.memoryRead(p) }",
		"(*netFD).readFrom":         inMemory + "return fd.memoryReadFrom(p) }",
		"(*netFD).readFromInet4":    inMemory + "return fd.memoryReadFrom4(p, from) }",
		"(*netFD).readFromInet6":    inMemory + "return fd.memoryReadFrom6(p, from) }",
		"(*netFD).readMsg":          inMemory + "n, sa, err = fd.memoryReadFrom(p); return n, 0, 0, sa, err }",
		"(*netFD).readMsgInet4":     inMemory + "n, err = fd.memoryReadFrom4(p, sa); return n, 0, 0, err }",
		"(*netFD).readMsgInet6":     inMemory + "n, err = fd.memoryReadFrom6(p, sa); return n, 0, 0, err }",
		"(*netFD).Write":            inMemory + "return fd.memoryWrite(p) }",
		"(*netFD).writeTo":          inMemory + "return fd.memoryWriteTo(p, sa) }",
		"(*netFD).writeToInet4":     inMemory + "return fd.memoryWriteTo(p, sa) }",
		"(*netFD).writeToInet6":     inMemory + "return fd.memoryWriteTo(p, sa) }",
		"(*netFD).writeMsg":         inMemory + "return fd.memoryWriteMsg(p, oob, sa) }",
		"(*netFD).writeMsgInet4":    inMemory + "return fd.memoryWriteMsg(p, oob, sa) }",
		"(*netFD).writeMsgInet6":    inMemory + "return fd.memoryWriteMsg(p, oob, sa) }",
		"(*netFD).SetDeadline":      inMemory + "return fd.memoryDeadline(t, true, true) }",
		"(*netFD).SetReadDeadline":  inMemory + "return fd.memoryDeadline(t, true, false) }",
		"(*netFD).SetWriteDeadline": inMemory + "return fd.memoryDeadline(t, false, true) }",
	},
	"net/fd_unix.go": {
		"(*netFD).accept": inMemory + "return fd.memoryAccept() }",
		"(*netFD).dup":    inMemory + `return nil, os.NewSyscallError("dup", syscall.ENOTSUP) }`,
	},
	"net/fd_windows.go": {
		"(*netFD).accept":       inMemory + "return fd.memoryAccept() }",
		"(*netFD).dup":          inMemory + `return nil, os.NewSyscallError("dup", syscall.ENOTSUP) }`,
		"(*netFD).writeBuffers": inMemory + "return fd.memoryWriteBuffers(buf) }",
	},
	"net/writev_unix.go": {"(*netFD).writeBuffers": inMemory + "return fd.memoryWriteBuffers(v) }"},
	"net/sendfile.go":    {"sendFile": "if c.memory != nil { return 0, nil, false }"},
	"net/lookup.go":      {"(*Resolver).lookupIPAddr": `if host == "localhost" && cofferdamrt.Controlled() { return memoryLocalhost(network), nil }`},
	"net/sockopt_posix.go": {
		"setReadBuffer":  inMemory + "return fd.memoryBuffer(true, bytes) }",
		"setWriteBuffer": inMemory + "return fd.memoryBuffer(false, bytes) }",
		"setKeepAlive":   inMemory + "return fd.memoryOption() }",
		"setLinger":      inMemory + "return fd.memoryLinger(sec) }",
	},
	"net/tcpsockopt_posix.go":   {"setNoDelay": inMemory + "return fd.memoryOption() }"},
	"net/tcpsockopt_unix.go":    keepAlive,
	"net/tcpsockopt_darwin.go":  keepAlive,
	"net/tcpsockopt_windows.go": keepAlive,
	"net/rawconn.go": {
		"(*rawConn).Control": "if c.ok() && c.fd.memory != nil { return c.fd.memoryControl(f) }",
		"(*rawConn).PollFD":  "if c.ok() && c.fd.memory != nil { return nil }",
		"(*rawConn).Read":    "if c.ok() && c.fd.memory != nil { return syscall.ENOTSUP }",
		"(*rawConn).Write":   "if c.ok() && c.fd.memory != nil { return syscall.ENOTSUP }",
	},
	"internal/reflectlite/value.go": {
		"Value.Elem":  reflectLoad,
		"Value.IsNil": reflectLoad,
		"Value.Len":   reflectLoad,
		"Value.Set":   "if x.flag&flagAddr != 0 { cofferdamrt.ReflectLoad(x.ptr, x.typ().Size()) }; " + reflectStore,
	},
	"crypto/internal/fips140/sha256/sha256.go": {"(*Digest).Write": "cofferdamrt.LoadBytes(p)"},
	"crypto/internal/fips140/sha3/sha3.go":     {"(*Digest).Write": "cofferdamrt.LoadBytes(p)"},
	"crypto/internal/fips140/sha512/sha512.go": {"(*Digest).Write": "cofferdamrt.LoadBytes(p)"},
	"weak/pointer.go":                          {"Make": "cofferdamrt.Weak()"},
	"testing/synctest/synctest.go": {
		"Wait": "if cofferdamrt.BubbleWait() { return }",
	},
	"testing/allocs.go": {
		"AllocsPerRun": "if cofferdamrt.Controlled() { defer func() { avg = 0 }() }",
	},
	"testing/testing.go": {
		"(*common).Fail": "cofferdamrt.ReportFailure(c.name)",
		"(*common).log":  "cofferdamrt.Logged(s)",
		"(*M).Run":       "if cofferdamrt.Drive != nil { return m.cofferdamDrive() }",
		"(*T).report":    "if cofferdamrt.Drive != nil && t.parent != nil && t.chatty == nil && !t.failed { return }",

		"(*common).Context": "c.cofferdamAsksForContext()",
		"(*common).Failed":  "if cofferdamrt.Drive != nil { c.mu.RLock(); failed := c.failed; c.mu.RUnlock(); return failed }",
		"(*common).setRan":  "if cofferdamrt.Drive != nil { cofferdamRan = true; return }",
	},
}

//go:embed template/runtime.go.txt
var runtimeAddition string

//go:embed template/testing.go.txt
var testingAddition string

//go:embed template/net.go.txt
var netAddition string

//go:embed template/reflect.go.txt
var reflectAddition string

//go:embed template/os.go.txt
var osAddition string

//go:embed template/signal.go.txt
var signalAddition string

//go:embed template/time.go.txt
var timeAddition string

//go:embed template/seed.go.txt
var seedAddition string

// additions are files that packages get.
var additions = map[string]*string{
	"runtime/cofferdam.go":     &runtimeAddition,
	"net/cofferdam.go":         &netAddition,
	"os/cofferdam.go":          &osAddition,
	"os/signal/cofferdam.go":   &signalAddition,
	"reflect/cofferdam.go":     &reflectAddition,
	"testing/cofferdam.go":     &testingAddition,
	"time/cofferdam.go":        &timeAddition,
	"cofferdamrt/cofferdam.go": &seedAddition,
}
