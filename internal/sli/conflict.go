package sli

import (
	"cmp"
	"slices"
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// maxWrites bounds the stores of a trace that one specialisation is checked against, and
// maxDisturbing those that may have disturbed an access; those nearest to the failure are kept.
const (
	maxWrites     = 2000
	maxDisturbing = 256
)

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
func (s *specialisation) writesTo(replay *exec.Replay, focus uint64, most int, stored ir.Point) []exec.Event {
	var all []*exec.Event
	ranges := 0
	for i, memory := range s.touched {
		loads := stored.Instr != nil && memory.load.Label.Point == stored
		// A second load of the same memory has the same writes.
		if !loads && slices.ContainsFunc(s.touched[:i], func(t touchedMemory) bool { return t.addr == memory.addr && t.size == memory.size }) {
			continue
		}
		ranges++
		near := replay.NearAccesses(memory.addr, max(memory.size, 1), focus)
		isOne := func(event *exec.Event) bool {
			return event.Seq >= s.from && event.Seq <= s.to && (event.Writes() || loads) && memory.isTouchedBy(event)
		}
		after := sort.Search(len(near), func(i int) bool { return near[i].Seq > focus })
		begin := len(all)
		for i := after - 1; i >= 0 && len(all)-begin < most; i-- {
			if isOne(&near[i]) {
				all = append(all, &near[i])
			}
		}
		slices.Reverse(all[begin:])
		begin = len(all)
		for i := after; i < len(near) && len(all)-begin < most; i++ {
			if isOne(&near[i]) {
				all = append(all, &near[i])
			}
		}
	}
	if ranges > 1 {
		slices.SortFunc(all, func(a, b *exec.Event) int { return cmp.Compare(a.Seq, b.Seq) })
		all = slices.CompactFunc(all, func(a, b *exec.Event) bool { return a.Seq == b.Seq })
	}
	if len(all) > most {
		after := sort.Search(len(all), func(i int) bool { return all[i].Seq > focus })
		first := min(max(0, after-most/2), len(all)-most)
		all = all[first : first+most]
	}
	events := make([]exec.Event, len(all))
	for i, event := range all {
		events[i] = *event
	}
	return events
}

// examine finds the writes and the regions in which the machine crashes. Evaluating
// it may show it memory it had not seen, whose writes matter too, so it is repeated
// until nothing new is seen.
func (s *specialisation) examine(replay *exec.Replay, focus uint64) examination {
	var found examination
	for range 4 {
		before := len(s.touched)
		found = s.sweep(replay, focus)
		if len(s.touched) == before {
			break
		}
	}
	return found
}

// sweep goes through the stores in their order and evaluates the machine after each. Where the
// verdict turns to a crash a region begins, where it turns back the region ends.
func (s *specialisation) sweep(replay *exec.Replay, focus uint64) examination {
	found := examination{writes: s.writesTo(replay, focus, maxWrites, ir.Point{})}
	begin := s.from + 1
	if len(found.writes) == maxWrites {
		begin = found.writes[0].Seq
	}
	now := s.contentsAt(replay, begin)
	var open *crashRegion
	if s.evaluate(replay, begin, now.read(begin)) == WillCrash {
		open = &crashRegion{}
		if event, _, ok := replay.Trace.Allocation(s.firstAddress(), s.from+1); ok && event.Seq == s.from {
			open.start = event
		}
	}
	note := func(event exec.Event, verdict Verdict) {
		switch {
		case verdict == WillCrash && open == nil:
			open = &crashRegion{start: event}
		case verdict != WillCrash && open != nil:
			open.end = event
			found.regions = append(found.regions, *open)
			open = nil
		}
	}
	for _, event := range found.writes {
		now.apply(&event)
		note(event, s.evaluate(replay, event.Seq+1, now.read(event.Seq+1)))
	}
	if open != nil && len(found.writes) > 0 {
		// The trace ends in the middle. What the goroutine that wrote last would do next
		// is followed; see replay.
		found.tailGoroutine = found.writes[len(found.writes)-1].G
		for _, event := range replay.BeyondTrace(found.tailGoroutine) {
			now.apply(&event)
			if !s.touches(event) {
				continue
			}
			found.writes = append(found.writes, event)
			note(event, s.evaluate(replay, replay.Trace.Last()+1, now.read(replay.Trace.Last()+1)))
			if open == nil {
				break
			}
		}
	}
	if open != nil {
		found.regions = append(found.regions, *open)
	}
	return found
}

// memoryContents is the memory that a specialisation touches, as time goes on. Asking the
// trace for it at every store would take longer than everything else.
type memoryContents struct {
	replay *exec.Replay
	bytes  map[uint64]byte
}

// contentsAt is the memory just before the event with the number.
func (s *specialisation) contentsAt(replay *exec.Replay, at uint64) *memoryContents {
	c := &memoryContents{replay: replay, bytes: map[uint64]byte{}}
	for _, memory := range s.touched {
		if value := exec.MemoryAt(replay.Trace, memory.addr, memory.size, at); value.Known {
			for i, x := range value.Append(nil) {
				c.bytes[memory.addr+uint64(i)] = x
			}
		}
	}
	return c
}

// apply makes the change of a store. What it wrote is forgotten where the trace does not say.
func (c *memoryContents) apply(event *exec.Event) {
	for i := range uint64(event.Size) {
		if i < uint64(len(event.After)) {
			c.bytes[event.Addr+i] = event.After[i]
		} else {
			delete(c.bytes, event.Addr+i)
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
	value := exec.MemoryAt(c.replay.Trace, addr, size, before)
	if !value.Known {
		return value
	}
	b := value.Append(nil)
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
func (s *specialisation) touches(event exec.Event) bool {
	for _, memory := range s.touched {
		if memory.isTouchedBy(&event) {
			return true
		}
	}
	return false
}

// isTouchedBy reports whether an event is to the memory. A load of no bytes asks only
// whether the memory is there: what is stored there does not matter to it, its end does.
func (m *touchedMemory) isTouchedBy(event *exec.Event) bool {
	if m.size == 0 {
		return event.Kind == exec.KindFree && event.Touches(m.addr, 1)
	}
	return event.Touches(m.addr, uint32(m.size))
}

// conflicts reports whether another goroutine's part of the trace, from first to
// last, can come between the loads of one of the specialisation's passages: the
// program does not order them, and no lock is held over both.
func (s *specialisation) conflicts(order *happensBefore, last uint64, first, end exec.Event) bool {
	a, b := order.stampOf(first, last), order.stampOf(end, last)
	for _, passage := range s.passages {
		if passage.goroutine == first.G {
			continue
		}
		start, stop := order.stamps[passage.firstLoad], order.stamps[passage.lastLoad]
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
func (o *happensBefore) stampOf(event exec.Event, last uint64) *stamp {
	if event.Seq > last {
		return o.lastStamps[event.G]
	}
	return o.stamps[event.Seq]
}
