package sli

import (
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// maxWrites bounds the stores of a trace that one specialisation is checked against;
// those nearest to the crash are kept.
const maxWrites = 2000

// An examination is what one specialisation says about the trace (section 5).
type examination struct {
	writes        []exec.Event // to what the machine loads, in order; beyond the trace last
	tailGoroutine uint32       // the goroutine whose steps beyond the trace are at the end of writes
	regions       []crashRegion
}

// A crashRegion is a part of the trace in which the read operation, run alone, crashes:
// from the event that made it so to the event that ended it.
type crashRegion struct {
	start, end exec.Event // no Seq: open on that side
}

// writesTo finds the events that wrote to what the specialisation touches. If a point
// is given, what is touched there is stored to, and loads of it matter as well.
func (s *specialisation) writesTo(r *exec.Replay, stored ir.Point) []exec.Event {
	seen := map[uint64]exec.Event{}
	for _, t := range s.touched {
		loads := stored.Instr != nil && t.load.Label.Point == stored
		for _, e := range r.LastAccesses(t.addr, t.size) {
			if e.Seq >= s.from && e.Seq <= s.to && (e.Writes() || loads) {
				seen[e.Seq] = e
			}
		}
	}
	all := make([]exec.Event, 0, len(seen))
	for _, e := range seen {
		all = append(all, e)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Seq < all[j].Seq })
	if len(all) > maxWrites {
		all = all[len(all)-maxWrites:]
	}
	return all
}

// examine finds the writes and the regions in which the machine crashes. Evaluating
// it may show it memory it had not seen, whose writes matter too, so it is repeated
// until nothing new is seen.
func (s *specialisation) examine(r *exec.Replay) examination {
	var f examination
	for range 4 {
		before := len(s.touched)
		f = s.sweep(r)
		if len(s.touched) == before {
			break
		}
	}
	return f
}

// sweep goes through the stores in their order and evaluates the machine after each. Where the
// verdict turns to a crash a region begins, where it turns back the region ends.
func (s *specialisation) sweep(r *exec.Replay) examination {
	f := examination{writes: s.writesTo(r, ir.Point{})}
	begin := s.from + 1
	if len(f.writes) == maxWrites {
		begin = f.writes[0].Seq
	}
	now := s.contentsAt(r, begin)
	var open *crashRegion
	if s.evaluate(r, begin, now.read(begin)) == WillCrash {
		open = &crashRegion{}
		if e, _, ok := r.Trace.Allocation(s.firstAddress(), s.from+1); ok && e.Seq == s.from {
			open.start = e
		}
	}
	note := func(e exec.Event, v Verdict) {
		switch {
		case v == WillCrash && open == nil:
			open = &crashRegion{start: e}
		case v != WillCrash && open != nil:
			open.end = e
			f.regions = append(f.regions, *open)
			open = nil
		}
	}
	for _, e := range f.writes {
		now.apply(&e)
		note(e, s.evaluate(r, e.Seq+1, now.read(e.Seq+1)))
	}
	if open != nil && len(f.writes) > 0 {
		// The trace ends in the middle. What the goroutine that wrote last would do next
		// is followed; see replay.
		f.tailGoroutine = f.writes[len(f.writes)-1].G
		for _, e := range r.BeyondTrace(f.tailGoroutine) {
			now.apply(&e)
			if !s.touches(e) {
				continue
			}
			f.writes = append(f.writes, e)
			note(e, s.evaluate(r, 0, now.read(r.Trace.Last()+1)))
			if open == nil {
				break
			}
		}
	}
	if open != nil {
		f.regions = append(f.regions, *open)
	}
	return f
}

// memoryContents is the memory that a specialisation touches, as time goes on. Asking the
// trace for it at every store would take longer than everything else.
type memoryContents struct {
	replay *exec.Replay
	bytes  map[uint64]byte
}

// contentsAt is the memory just before the event with the number.
func (s *specialisation) contentsAt(r *exec.Replay, at uint64) *memoryContents {
	c := &memoryContents{replay: r, bytes: map[uint64]byte{}}
	for _, t := range s.touched {
		if v := exec.MemoryAt(r.Trace, t.addr, t.size, at); v.Known {
			for i, x := range v.Append(nil) {
				c.bytes[t.addr+uint64(i)] = x
			}
		}
	}
	return c
}

// apply makes the change of a store. What it wrote is forgotten where the trace does not say.
func (c *memoryContents) apply(e *exec.Event) {
	for i := range uint64(e.Size) {
		if i < uint64(len(e.After)) {
			c.bytes[e.Addr+i] = e.After[i]
		} else {
			delete(c.bytes, e.Addr+i)
		}
	}
}

// read reads it; what it does not have is asked of the trace, for just before the event
// with the number.
func (c *memoryContents) read(before uint64) func(uint64, int) ir.Value {
	return func(addr uint64, size int) ir.Value {
		b := make([]byte, size)
		for i := range b {
			x, ok := c.bytes[addr+uint64(i)]
			if !ok {
				return c.mixed(addr, size, before)
			}
			b[i] = x
		}
		return ir.Bytes(b)
	}
}

// mixed reads memory of which only a part is kept.
func (c *memoryContents) mixed(addr uint64, size int, before uint64) ir.Value {
	v := exec.MemoryAt(c.replay.Trace, addr, size, before)
	if !v.Known {
		return v
	}
	b := v.Append(nil)
	for i := range b {
		if x, ok := c.bytes[addr+uint64(i)]; ok {
			b[i] = x
		}
	}
	return ir.Bytes(b)
}

// firstAddress is an address within the structure; 0 if nothing was touched.
func (s *specialisation) firstAddress() uint64 {
	if len(s.touched) == 0 {
		return 0
	}
	return s.touched[0].addr
}

// touches reports whether an event is to what the machine loads.
func (s *specialisation) touches(e exec.Event) bool {
	for _, t := range s.touched {
		if e.Touches(t.addr, uint32(t.size)) {
			return true
		}
	}
	return false
}

// conflicts reports whether another goroutine's part of the trace, from first to
// last, can come between the loads of one of the specialisation's passages: the
// program does not order them, and no lock is held over both.
func (s *specialisation) conflicts(o *happensBefore, last uint64, first, end exec.Event) bool {
	a, b := o.stampOf(first, last), o.stampOf(end, last)
	for _, in := range s.passages {
		if in.goroutine == first.G {
			continue
		}
		start, stop := o.stamps[in.firstLoad], o.stamps[in.lastLoad]
		if start == nil || stop == nil {
			return true
		}
		if b.isBefore(start) || stop.isBefore(a) || shareLock(start, stop, a, b) {
			continue
		}
		return true
	}
	return false
}

// stampOf is the stamp of an event, or of its goroutine's last one if the event lies beyond the trace.
func (o *happensBefore) stampOf(e exec.Event, last uint64) *stamp {
	if e.Seq > last {
		return o.lastStamps[e.G]
	}
	return o.stamps[e.Seq]
}
