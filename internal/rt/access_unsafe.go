package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/peek"
)

// firstAddress is below all addresses that memory can have. Where an access is to less,
// the program is about to panic.
const firstAddress = 4096

// memory is an access to memory that is about to happen. What is on the goroutine's own
// stack no other goroutine can reach.
func memory(p unsafe.Pointer, size uintptr, kind event.Kind, site uint32) {
	if !on.Load() {
		return
	}
	g, lo, hi := here()
	addr := uintptr(p)
	if addr-lo < hi-lo || addr < firstAddress || size == 0 {
		return
	}
	if site == 0 {
		quietAccess(g, addr, size, kind)
		return
	}
	if !takeToken(g) && enterSlow(g, true) == nil {
		return
	}
	c := s.current
	if kind == event.Load && s.blind && !s.lastIncomplete && c.free() {
		s.site = site
		c.leave()
		return
	}
	if kind != event.Load {
		c.polling.changes()
	}
	s.site = site
	s.completeLast()
	alive := c.free() || c.stepSlow(event.Op{Kind: kind, Site: site, Addr: addr, Size: size})
	if kind == event.Store && !s.recorder.On {
		s.journal.Keep(addr, size) // a recorded run is the last one
	}
	if alive {
		c.touch(addr, size, kind, site)
		if s.recorder.On && s.recorder.Access(c.id, c.Frame, kind, site, addr, size) {
			s.lastIncomplete = true
		}
	}
	c.leave()
}

// quietAccess is memory for an access of the standard library.
func quietAccess(g, addr, size uintptr, kind event.Kind) {
	if !takeToken(g) && enterSlow(g, false) == nil {
		return
	}
	c := s.current
	if kind != event.Load {
		c.polling.changes()
	}
	site, alive := c.quietly(event.Op{Kind: kind, Addr: addr, Size: size})
	if kind == event.Store {
		s.journal.Keep(addr, size)
	}
	if alive {
		c.touch(addr, size, kind, site)
		if s.recorder.On && s.recorder.Access(c.id, c.Frame, kind, site, addr, size) {
			s.lastIncomplete = true
		}
	}
	c.leave()
}

// atomicAccess is an access by package sync/atomic that is about to happen. A load
// comes after the store whose value it sees; an update comes after all before it, and
// releases on top of them. (The race detector does the same, except that it looks for
// races of an update before it lets it come after others.)
func atomicAccess(p unsafe.Pointer, size uintptr, kind event.Kind, site uint32) {
	if !on.Load() {
		looksEarly()
		return
	}
	g, lo, hi := here()
	addr := uintptr(p)
	if addr-lo < hi-lo || addr < firstAddress {
		return
	}
	if !takeToken(g) && enterSlow(g, site != 0) == nil {
		return
	}
	c := s.current
	if site == 0 {
		site = c.programCall()
	}
	op := event.Op{Kind: kind, Site: site, Addr: addr, Size: size}
	switch kind {
	case event.AtomicLoad, event.AtomicCompare:
		c.polls(&op)
	default:
		c.polling.changes()
	}
	alive := c.step(op)
	if kind != event.AtomicLoad {
		s.journal.Keep(addr, size)
	}
	if alive {
		o := s.objects.at(p)
		if kind != event.AtomicStore && !c.Knows(o.by, o.at) {
			c.acquire(&o.released)
		}
		c.touch(addr, size, kind, site)
		switch kind {
		case event.AtomicStore, event.AtomicUpdate:
			c.publish(o)
		case event.AtomicCompare:
			s.compare = compare{c: c, on: o, addr: addr, size: min(size, maxCompare)}
			copy(s.compare.old[:], peek.Bytes(addr, s.compare.size))
			s.lastIncomplete = true
		}
		if s.recorder.On && s.recorder.Value(c.id, c.Frame, kind, site, addr, size) {
			s.lastIncomplete = true
		}
	}
	c.leave()
}

// publish makes c's past that of the atomic variable o: an update has come after what
// was there before, so that nothing of it is lost.
func (c *goroutine) publish(o *object) {
	o.by, o.at = c.Slot, c.Now()
	c.Release(&o.released)
}

// A compare is a compare and swap, of which it is not known yet whether it succeeded.
// One that did not is a load. One that puts the value there that was there already is
// taken for a load, too.
type compare struct {
	c    *goroutine
	on   *object
	addr uintptr
	size uintptr
	old  [maxCompare]byte
}

const maxCompare = 16

// completeLast completes what could not be known when the hook for it returned. It has to be
// called before anything else happens in the run.
func (s *scheduler) completeLast() {
	if s.lastIncomplete {
		s.completeLastSlow()
	}
}

func (s *scheduler) completeLastSlow() {
	s.lastIncomplete = false
	if s.recorder.CompleteAccess() {
		return
	}
	if k := &s.compare; k.c != nil {
		changed := string(peek.Bytes(k.addr, k.size)) != string(k.old[:k.size])
		if changed {
			k.c.publish(k.on)
			k.c.polling.changes()
		}
		s.recorder.Swapped(changed)
		k.c, k.on = nil, nil
	}
	s.recorder.Complete()
}

// enterAt is enter for a hook with a site, or without one in the standard library.
func enterAt(site uint32) *goroutine {
	if site == 0 {
		return enterLibrary()
	}
	return enter()
}

// stepAt is step for an operation with a site, or without one in the standard library. It
// returns the site.
func (c *goroutine) stepAt(op event.Op) (site uint32, alive bool) {
	if op.Site == 0 {
		return c.quietly(op)
	}
	return op.Site, c.step(op)
}

// mapRead is a read of the map at p, of an entry if that is not nil.
func mapRead(p unsafe.Pointer, site uint32, of lookup) {
	if p == nil {
		return
	}
	c := enterAt(site)
	if c == nil {
		return
	}
	alive := false
	if !private(p) {
		site, alive = c.stepAt(event.Op{Kind: event.MapRead, Site: site, Addr: uintptr(p), Size: mapSize})
	}
	if alive {
		o := s.objects.at(p)
		c.touch(o.addr, mapSize, event.MapRead, site)
		s.emitEntry(c, event.MapRead, site, o.addr, of, 0)
		if o.writer != nil {
			c.fail(Failure{Kind: event.FailureFatal, Message: "concurrent map read and map write", Op: event.MapRead, Site: site})
		}
	}
	c.leave()
}

// mapSize is the size of the memory that stands for a map.
const mapSize = 8

// mapWrite is a write to the map at p. It takes two steps: a use of the map between
// them is what the runtime ends programs for. removed is how many entries a clear removes. first says that
// the map has to be kept.
func mapWrite(p unsafe.Pointer, site uint32, of lookup, removed int) (first bool) {
	if p == nil {
		return false
	}
	c := enterAt(site)
	if c == nil {
		return false
	}
	if private(p) {
		c.leave()
		return false
	}
	c.polling.changes()
	op := event.Op{Kind: event.MapWrite, Site: site, Addr: uintptr(p), Size: mapSize}
	site, alive := c.stepAt(op)
	o := s.objects.at(p)
	first = s.journal.On() && !o.kept
	if alive {
		c.touch(o.addr, mapSize, event.MapWrite, site)
		s.emitEntry(c, event.MapWrite, site, o.addr, of, removed)
		if o.writer != nil {
			c.fail(Failure{Kind: event.FailureFatal, Message: "concurrent map writes", Op: event.MapWrite, Site: site})
		}
		o.writer = c
		c.stepAt(op)
		o.writer = nil
	}
	c.leave()
	return first
}

// allocated takes note of memory that is new.
func allocated(p unsafe.Pointer, size uintptr, site uint32) {
	if !recording.Load() || size == 0 {
		return
	}
	g, lo, hi := here()
	addr := uintptr(p)
	if addr-lo < hi-lo || addr < firstAddress {
		return
	}
	c := enterAs(g)
	if c == nil {
		return
	}
	if !c.dying {
		s.completeLast()
		s.emit(c, event.Alloc, site, addr, size, s.recorder.Allocation())
	}
	c.leave()
}
