package rt

import (
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// The state of an internal/sync.Mutex.
const (
	mutexLocked   = 1
	mutexStarving = 4
)

// mutexSize is how much of a mutex its methods access, atomically: a goroutine that
// overwrites it races with them. The methods of an RWMutex only read it, or so the race
// detector has it.
const (
	mutexSize   = 4
	rwMutexSize = 1
)

// rwMutexState is the size of a sync.RWMutex.
const rwMutexState = 24

// writersHold is by how much a writer lowers the count of an RWMutex's readers.
const writersHold = 1 << 30

// private reports whether p points into the calling goroutine's stack, where no other
// else can reach it. Whatever is remembered of such an address would be mistaken for
// something of the next thing that lives there.
func private(p unsafe.Pointer) bool {
	_, lo, hi := here()
	return uintptr(p)-lo < hi-lo
}

// Lock locks the mutex with the given state. It returns false if the caller is not
// under control.
func Lock(state *int32) bool {
	c := enterLibrary()
	if c == nil {
		looksEarly()
		return false
	}
	if private(unsafe.Pointer(state)) {
		if !tryMutex(state) {
			c.forever(event.Op{Kind: event.Lock, Site: c.site()})
		}
		c.leave()
		return true
	}
	o := s.objects.at(unsafe.Pointer(state))
	o.keep(unsafe.Pointer(state), mutexSize)
	for op := c.libraryOp(event.Lock, o); ; {
		c.wait = wait{kind: forMutex, on: o, mutex: state}
		if !c.await(op) {
			if !tryMutex(state) {
				c.die()
			}
			break
		}
		if tryMutex(state) {
			c.acquire(&o.released)
			o.holder, o.taken = hold{c, op.Site, c.Frame}, true
			c.touch(o.addr, mutexSize, event.Lock, op.Site)
			s.emitOp(c, op, 0)
			s.changed(o)
			break
		}
	}
	c.leave()
	return true
}

func tryMutex(state *int32) bool {
	old := atomic.LoadInt32(state)
	return old&(mutexLocked|mutexStarving) == 0 && atomic.CompareAndSwapInt32(state, old, old|mutexLocked)
}

// TryLock tries to lock the mutex. done is false if the caller is not under control.
func TryLock(state *int32) (ok, done bool) {
	c := enterLibrary()
	if c == nil {
		return false, false
	}
	if private(unsafe.Pointer(state)) {
		ok = tryMutex(state)
		c.leave()
		return ok, true
	}
	o := s.objects.at(unsafe.Pointer(state))
	o.keep(unsafe.Pointer(state), mutexSize)
	o.tried = true
	op := c.libraryOp(event.TryLock, o)
	c.polls(&op)
	if !c.step(op) {
		ok = tryMutex(state)
		c.leave()
		return ok, true
	}
	ok = tryMutex(state)
	if ok {
		c.polling.changes()
		c.acquire(&o.released)
		o.holder, o.taken = hold{c, op.Site, c.Frame}, true
		s.changed(o)
	}
	c.touch(o.addr, mutexSize, event.TryLock, op.Site)
	s.emitOp(c, op, bit(ok))
	c.leave()
	return ok, true
}

// Unlock unlocks the mutex. If it returns false, that is still to be done.
func Unlock(state *int32) bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	var o *object
	op := event.Op{Kind: event.Unlock}
	if !private(unsafe.Pointer(state)) {
		o = s.objects.at(unsafe.Pointer(state))
		o.keep(unsafe.Pointer(state), mutexSize)
		op = c.libraryOp(event.Unlock, o)
	}
	alive := c.step(op)
	if atomic.LoadInt32(state)&(mutexLocked|mutexStarving) == 0 {
		if alive {
			c.fail(Failure{Kind: event.FailureFatal, Message: "sync: unlock of unlocked mutex", Op: event.Unlock, Site: c.site()})
		}
		// It was in the middle of a Cond's Wait, say, when the run ended.
		c.leave()
		return true
	}
	if !alive || o == nil {
		c.leave()
		return false
	}
	c.touch(o.addr, mutexSize, event.Unlock, op.Site)
	c.Release(&o.released)
	o.handed = o.handed || o.holder.by != c
	o.holder = hold{}
	done := atomic.CompareAndSwapInt32(state, mutexLocked, 0)
	s.emitOp(c, op, 0)
	if done {
		s.changed(o)
	} else {
		// A goroutine outside waits too: the original Unlock knows how to wake it.
		for _, d := range o.waiters {
			if d.state == blocked {
				d.wait.retry = true
				s.resume(d)
			}
		}
	}
	c.leave()
	return done
}

// RWLock locks rw for writing by try, a TryLock of it. It returns false if the caller is
// not under control.
func RWLock[T any](rw *T, count *atomic.Int32, try func() bool) bool {
	return lockRW(unsafe.Pointer(rw), count, try, true)
}

// RLock locks rw for reading by try, a TryRLock of it. It returns false if the caller is
// not under control.
func RLock[T any](rw *T, count *atomic.Int32, try func() bool) bool {
	return lockRW(unsafe.Pointer(rw), count, try, false)
}

func lockRW(rw unsafe.Pointer, count *atomic.Int32, try func() bool, write bool) bool {
	c := enterLibrary()
	if c == nil {
		looksEarly()
		return false
	}
	kind, condition := event.RLock, forReading
	if write {
		kind, condition = event.Lock, forWriting
	}
	if private(rw) {
		if !try() {
			c.forever(event.Op{Kind: kind, Site: c.site()})
		}
		c.leave()
		return true
	}
	o := s.objects.at(rw)
	o.keep(rw, rwMutexState)
	for op := c.libraryOp(kind, o); ; {
		c.wait = wait{kind: condition, on: o, count: count}
		if !c.await(op) {
			if !try() {
				c.die()
			}
			break
		}
		if c.wait.granted {
			c.wait.granted = false
			o.granted--
		}
		if try() {
			c.acquire(&o.released)
			if write {
				c.acquire(&o.readers)
			}
			o.hold(c, op.Site, write)
			c.touch(o.addr, rwMutexSize, event.Load, op.Site)
			s.emitOp(c, op, 0)
			s.changed(o)
			break
		}
	}
	c.leave()
	return true
}

// writerWaits reports whether a writer waits for an RWMutex.
func (o *object) writerWaits() bool {
	for _, d := range o.waiters {
		if d.wait.kind == forWriting && d.state == blocked {
			return true
		}
	}
	return false
}

// TryRWLock tries to lock rw for writing.
func TryRWLock[T any](rw *T, try func() bool) (ok, done bool) {
	return tryRW(unsafe.Pointer(rw), try, true)
}

// TryRLock tries to lock rw for reading.
func TryRLock[T any](rw *T, try func() bool) (ok, done bool) {
	return tryRW(unsafe.Pointer(rw), try, false)
}

func tryRW(rw unsafe.Pointer, try func() bool, write bool) (ok, done bool) {
	c := enterLibrary()
	if c == nil {
		return false, false
	}
	if private(rw) {
		ok = try()
		c.leave()
		return ok, true
	}
	o := s.objects.at(rw)
	o.keep(rw, rwMutexState)
	kind := event.TryRLock
	if write {
		kind = event.TryLock
	}
	o.tried = true
	op := c.libraryOp(kind, o)
	c.polls(&op)
	if !c.step(op) {
		ok = try()
		c.leave()
		return ok, true
	}
	if held := o.writerWaits() || write && o.granted > 0; !held {
		ok = try()
	}
	if ok {
		c.polling.changes()
		c.acquire(&o.released)
		if write {
			c.acquire(&o.readers)
		}
		o.hold(c, op.Site, write)
		s.changed(o)
	}
	s.emitOp(c, op, bit(ok))
	c.leave()
	return ok, true
}

// RWUnlock unlocks rw, which is locked for writing, by unlock. It returns false if the
// caller is not under control.
func RWUnlock[T any](rw *T, count *atomic.Int32, unlock func()) bool {
	return unlockRW(unsafe.Pointer(rw), count, unlock, true)
}

// RUnlock unlocks rw, which is locked for reading, by unlock. It returns false if the
// caller is not under control.
func RUnlock[T any](rw *T, count *atomic.Int32, unlock func()) bool {
	return unlockRW(unsafe.Pointer(rw), count, unlock, false)
}

func unlockRW(rw unsafe.Pointer, count *atomic.Int32, unlock func(), write bool) bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	kind := event.RUnlock
	if write {
		kind = event.Unlock
	}
	var o *object
	op := event.Op{Kind: kind}
	if !private(rw) {
		o = s.objects.at(rw)
		o.keep(rw, rwMutexState)
		op = c.libraryOp(kind, o)
	}
	alive := c.step(op)
	n := count.Load()
	unlocked, message := n >= 0, "sync: Unlock of unlocked RWMutex"
	if !write {
		unlocked, message = n == 0 || n == -writersHold, "sync: RUnlock of unlocked RWMutex"
	}
	if unlocked && alive {
		c.fail(Failure{Kind: event.FailureFatal, Message: message, Op: kind, Site: c.site()})
	}
	if !alive || o == nil {
		if !unlocked {
			unlock()
		}
		c.leave()
		return true
	}
	c.touch(o.addr, rwMutexSize, event.Load, op.Site)
	if write {
		c.Release(&o.released)
	} else {
		c.ReleaseMerge(&o.readers)
	}
	unlock()
	o.letGo(c, write)
	s.emitOp(c, op, 0)
	if write {
		// The readers that wait come before the next writer.
		for _, d := range o.waiters {
			if d.wait.kind == forReading && d.state == blocked && !d.wait.granted {
				d.wait.granted = true
				o.granted++
			}
		}
	}
	s.changed(o)
	c.leave()
	return true
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
