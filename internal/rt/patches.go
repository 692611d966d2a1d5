package rt

// What the patched standard library calls.
//
// The files below of the user's own GOROOT get these prologues, as the first
// statements of the method or function, on the line of its opening brace. Where they
// do not return, the original body follows as it is; for a goroutine that is not under
// control that is always so. The bodies themselves are not rewritten: none of the files
// named here may be rewritten for atomics, channels or go statements, with the
// exceptions told. rt calls methods again with the hooks inside them switched off
// (rw.TryLock below), which is how the original body does the work on the one object
// that controlled and other goroutines share.
//
// internal/sync/mutex.go (sync.Mutex calls it, and sync/mutex.go stays as it is)
//
//	(*Mutex).Lock     if cofferdamrt.Lock(&m.state) { return };
//	(*Mutex).TryLock  if ok, done := cofferdamrt.TryLock(&m.state); done { return ok };
//	(*Mutex).Unlock   if cofferdamrt.Unlock(&m.state) { return };
//
// sync/rwmutex.go
//
//	(*RWMutex).Lock      if cofferdamrt.RWLock(rw, &rw.readerCount, rw.TryLock) { return };
//	(*RWMutex).TryLock   if ok, done := cofferdamrt.TryRWLock(rw, rw.TryLock); done { return ok };
//	(*RWMutex).Unlock    if cofferdamrt.RWUnlock(rw, &rw.readerCount, rw.Unlock) { return };
//	(*RWMutex).RLock     if cofferdamrt.RLock(rw, &rw.readerCount, rw.TryRLock) { return };
//	(*RWMutex).TryRLock  if ok, done := cofferdamrt.TryRLock(rw, rw.TryRLock); done { return ok };
//	(*RWMutex).RUnlock   if cofferdamrt.RUnlock(rw, &rw.readerCount, rw.RUnlock) { return };
//
// sync/waitgroup.go (the go statement of (*WaitGroup).Go is rewritten as any other)
//
//	(*WaitGroup).Add   if cofferdamrt.WaitGroupAdd(&wg.state, delta) { return };
//	(*WaitGroup).Wait  if cofferdamrt.WaitGroupWait(&wg.state) { return };
//
// sync/cond.go
//
//	(*Cond).Wait       if cofferdamrt.CondAdd(c) { c.checker.check(); c.L.Unlock(); cofferdamrt.CondWait(c); c.L.Lock(); return };
//	(*Cond).Signal     if cofferdamrt.Signal(c) { return };
//	(*Cond).Broadcast  if cofferdamrt.Broadcast(c) { return };
//
// sync/pool.go
//
//	(*Pool).Put  if cofferdamrt.PoolPut(p, p.New, x) { return };
//	(*Pool).Get  if x, ok := cofferdamrt.PoolGet(p, p.New); ok { if x == nil && p.New != nil { x = p.New() }; return x };
//
// time/sleep.go, time/tick.go, time/time.go. time.Sleep has no body: it gets one, and
// the runtime's `//go:linkname timeSleep time.Sleep` (runtime/time.go) names
// time.cofferdamSleep instead.
//
//	Sleep            { if cofferdamrt.Sleep(int64(d)) { return }; cofferdamSleep(d) }; func cofferdamSleep(d Duration)
//	NewTimer         if cofferdamrt.Controlled() { c := make(chan Time, 1); t := newTimer(1<<63-1, 0, sendTime, c, nil); stopTimer(t); t.C = c; cofferdamrt.StartTimer(t, int64(d), 0, c, Now); return t };
//	AfterFunc        if cofferdamrt.Controlled() { t := newTimer(1<<63-1, 0, goFunc, f, nil); stopTimer(t); cofferdamrt.StartFunc(t, int64(d), f); return t };
//	(*Timer).Stop    if active, ok := cofferdamrt.StopTimer(t); ok { return active };
//	(*Timer).Reset   if active, ok := cofferdamrt.ResetTimer(t, int64(d), 0); ok { return active };
//	NewTicker        if d > 0 && cofferdamrt.Controlled() { c := make(chan Time, 1); t := newTimer(1<<63-1, int64(d), sendTime, c, nil); stopTimer(t); t.C = c; cofferdamrt.StartTimer(t, int64(d), int64(d), c, Now); return (*Ticker)(unsafe.Pointer(t)) };
//	(*Ticker).Stop   if _, ok := cofferdamrt.StopTimer(t); ok { return };
//	(*Ticker).Reset  if d > 0 { if _, ok := cofferdamrt.ResetTimer(t, int64(d), int64(d)); ok { return } };
//	Since            if cofferdamrt.Controlled() { return Now().Sub(t) };
//	Until            if cofferdamrt.Controlled() { return t.Sub(Now()) };
//	Now              not a prologue: right after its first statement `sec, nsec, mono := runtimeNow()`,
//	                 `; if unix, mono1, ok := cofferdamrt.Now(); ok { sec, nsec, mono = unix/1e9, int32(unix%1e9), startNano+1+mono1 };`
//
// os/proc.go
//
//	Exit  if cofferdamrt.Controlled() { cofferdamrt.Exit(code) };
//
// syscall/syscall_unix.go (as the race detector's calls in the same places; without them
// goroutines that meet through a file or a pipe seem to race)
//
//	Write, Pwrite  cofferdamrt.IOWrite(p);
//	Sendfile       cofferdamrt.IOWrite(nil);
//	Read, Pread    defer func() { cofferdamrt.IORead(p, n, err == nil) }();
//
// reflect/value.go and reflect/map.go: what a method is about to load or store, of values
// that have an address, and which map it is about to read or write.
//
//	Value.Int, ...       if v.flag&flagAddr != 0 { cofferdamrt.ReflectLoad(v.ptr, v.typ().Size()) };
//	Value.SetInt, ...    if v.flag&flagAddr != 0 { cofferdamrt.ReflectStore(v.ptr, v.typ().Size()) };
//	Value.MapIndex, ...  if v.kind() == Map { cofferdamrt.ReflectMapRead(v.pointer()) };
//	Value.SetMapIndex    if v.kind() == Map { cofferdamrt.ReflectMapWrite(v.pointer()) };
//
// hash/adler32, hash/crc32, hash/crc64
//
//	(*digest).Write  cofferdamrt.LoadBytes(p);
//
// sync/oncefunc.go (what the function returned is not stored atomically)
//
//	OnceFunc, ...  cofferdamrt.Keep(&d); as the first statement of what d.once does
//
// testing/synctest/synctest.go
//
//	Test  `synctest.Run` becomes `run`, with `run := synctest.Run; if cofferdamrt.Controlled() { run = cofferdamrt.Bubble };` before it
//	Wait  if cofferdamrt.BubbleWait() { return };
//
// testing/testing.go
//
//	(*common).Fail  cofferdamrt.ReportFailure();
//	(*common).log   cofferdamrt.Logged(s);
//	(*M).Run        if cofferdamrt.Drive != nil { return m.cofferdamDrive() };
//
// iter/iter.go, in Pull and Pull2 alike: a coroutine has a g of its own and goes on for
// the goroutine that calls next or stop.
//
//	the declaration of pull    gets a field `cofferdam cofferdamrt.Coroutine`
//	each coroswitch(c)         becomes `pull.cofferdam.Leave(); coroswitch(c); pull.cofferdam.Arrive()`
//	newcoro(func(c *coro) {    is followed by ` pull.cofferdam.Arrive(); defer pull.cofferdam.Leave();`
//
// context, io, log, testing and the other files of sync and internal/sync (once.go,
// oncefunc.go, map.go, hashtriemap.go) are rewritten for go statements, channels and
// atomics like a dependency.
