package lanes

import (
	"bytes"
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// A decision is three accesses of the same memory around a preemption, on which the failure turns:
// what the goroutine did with it before it was stopped, what another one did meanwhile, and what the
// first did then.
//
//	goroutine 3                              goroutine 4
//	map read s.items["pen"] 1     before
//	-- preempted --                          map write s.items["pen"] 1 → 0   between
//	map write s.items["pen"] 0 → -1  after
//
// Of two accesses that come in the order that fails, before is nil: the goroutine was stopped on its
// way to the first access that it has to that memory. Without a preemption, at is nil too.
type decision struct {
	at                     *preemption
	before, between, after *event.Event
}

// mostTried is of how many accesses after a preemption others are looked for: where there are more
// of them, what they do with each other is not what the preemption was for.
const mostTried = 256

// decide finds the accesses of the last preemption that has some; nil if none has.
func (b *builder) decide(worst *trace.Failure) *decision {
	for i := len(b.taken) - 1; i >= 0; i-- {
		if d := b.beforePanic(&b.taken[i], worst); d != nil {
			return d
		}
		if d := b.around(&b.taken[i]); d != nil {
			return d
		}
	}
	if b.preempt.all == 0 {
		return b.tooEarly(worst)
	}
	return nil
}

// beforePanic is what another goroutine did, after a preemption, to make an operation panic that races with
// it, such as to close the channel that the goroutine was about to send to.
func (b *builder) beforePanic(p *preemption, worst *trace.Failure) *decision {
	for i := range b.landmark.races {
		s := &b.landmark.races[i]
		if o := s.panicked; o != nil && o.G == worst.G && o.G == p.g && s.carried.Seq > p.seq && p.step < s.to {
			return &decision{at: p, between: s.carried, after: &event.Event{Kind: o.Op, G: o.G, Site: o.Site, Frame: o.Frame}}
		}
	}
	return nil
}

// tooEarly finds, in a run without preemptions, the last memory that the failing goroutine has read and another one
// writes only afterwards: what a test looks at before it has waited, or what is used before it is set.
//
//	goroutine 2                        goroutine 3
//	load total 0           between
//	the test fails
//	                                   store total 0 → 1     after
func (b *builder) tooEarly(worst *trace.Failure) *decision {
	if worst.Kind != event.FailureTest && worst.Kind != event.FailurePanic || worst.G == 0 {
		return nil
	}
	failed := b.r.Cursor(trace.Filter{Goroutines: []uint32{worst.G}, Kinds: []event.Kind{event.Panic, event.Fail}})
	if !failed.Next() {
		return nil
	}
	end := failed.Event().Seq
	c := b.r.Cursor(trace.Filter{Goroutines: []uint32{worst.G}, Last: end})
	c.SeekEnd()
	for tried := 0; tried < mostTried && c.Prev(); {
		read := c.Event()
		if !isAccess(read) || changes(read) || !b.relevance.Matters(read) {
			continue
		}
		tried++
		read = copied(read)
		later := b.r.Cursor(trace.Filter{First: end, Addr: read.Addr, Size: uint64(max(read.Size, 1))})
		for later.Next() {
			if e := later.Event(); e.G != worst.G && isAccess(e) && changes(e) && b.sameEntry(e, read) && b.relevance.Matters(e) {
				return &decision{between: read, after: copied(e)}
			}
		}
	}
	return nil
}

// around finds what several goroutines did with the same memory around a preemption. A change of
// what the goroutine has accessed before says more than two accesses in an order.
func (b *builder) around(p *preemption) *decision {
	var pair *decision
	c := b.r.Cursor(trace.Filter{Goroutines: []uint32{p.g}, First: p.seq + 1})
	for tried := 0; tried < mostTried && c.Next(); {
		after := c.Event()
		if !isAccess(after) || !b.relevance.Matters(after) {
			continue
		}
		tried++
		after = copied(after)
		meanwhile := trace.Filter{First: p.seq + 1, Last: after.Seq - 1}
		if between := b.last(after, meanwhile, func(e *event.Event) bool { return e.G != p.g && changes(e) }); between != nil {
			if before := b.last(after, trace.Filter{Goroutines: []uint32{p.g}, Last: p.seq}, isAccess); before != nil {
				return &decision{p, before, between, after}
			}
		}
		if pair != nil {
			continue
		}
		if between := b.last(after, meanwhile, func(e *event.Event) bool { return e.G != p.g && (changes(e) || changes(after)) }); between != nil {
			pair = &decision{p, nil, between, after}
		}
	}
	return pair
}

// last is the last access within a filter's bounds of the memory that an event is on, and of the same
// entry of a map.
func (b *builder) last(on *event.Event, f trace.Filter, wanted func(*event.Event) bool) *event.Event {
	if f.Last < f.First || f.Last == 0 {
		return nil
	}
	f.Addr, f.Size = on.Addr, uint64(max(on.Size, 1))
	c := b.r.Cursor(f)
	c.Seek(f.Last + 1)
	for c.Prev() {
		if e := c.Event(); isAccess(e) && wanted(e) && b.sameEntry(e, on) && b.relevance.Matters(e) {
			return copied(e)
		}
	}
	return nil
}

// copied is an event that a cursor does not overwrite.
func copied(e *event.Event) *event.Event {
	one := *e
	one.Before, one.After = bytes.Clone(e.Before), bytes.Clone(e.After)
	return &one
}

func isAccess(e *event.Event) bool { return e.Addr != 0 && (e.Kind.IsMemory() || e.Kind.IsAtomic()) }

// changes reports whether an access leaves other values behind, as far as they were recorded.
func changes(e *event.Event) bool {
	switch class(e.Kind) {
	case "write":
		return true
	case "atomic":
		return e.Kind != event.AtomicLoad && (len(e.After) == 0 || !bytes.Equal(e.Before, e.After))
	}
	return false
}

// sameEntry says no only of accesses to a map that are known to be of different keys. Keys are compared as they are
// shown: a string is an address and a length in an event, and another address may hold the same text.
func (b *builder) sameEntry(x, y *event.Event) bool {
	one, ok := b.printer.Key(x)
	other, also := b.printer.Key(y)
	return !ok || !also || one == other
}

// keepsApart says what synchronisation does about the accesses of a decision that is no race.
func (b *builder) keepsApart(d *decision) string {
	const noRace = "No data race was seen in this run: "
	switch {
	case d == nil:
		return noRace + fmt.Sprintf("synchronisation orders what several %ss access.", b.run.Noun)
	case d.before == nil:
		return noRace + "synchronisation keeps these accesses apart, and the schedule decides which of them comes first."
	}
	if lock, given, taken := b.splitSection(d); lock != "" {
		return noRace + fmt.Sprintf("%s %d holds %s at both of its accesses, but releases it at %s and takes it again at %s, so that others can change in between what it has seen.", b.run.Noun, d.after.G, lock, given, taken)
	}
	return noRace + fmt.Sprintf("synchronisation orders these accesses one by one, but does not keep the two of %s %d together.", b.run.Noun, d.after.G)
}

// splitSection finds a lock that the goroutine of a decision holds at both of its accesses and
// releases in between, with the places where.
func (b *builder) splitSection(d *decision) (lock, given, taken string) {
	type section struct {
		given, taken *event.Event
	}
	sections := map[uint64]*section{}
	var order []uint64
	c := b.r.Cursor(trace.Filter{Goroutines: []uint32{d.after.G}, First: d.before.Seq, Last: d.after.Seq, Kinds: []event.Kind{event.Lock, event.RLock, event.Unlock, event.RUnlock}})
	for c.Next() {
		e := copied(c.Event())
		s := sections[e.Addr]
		if s == nil {
			s = &section{}
			sections[e.Addr] = s
			order = append(order, e.Addr)
			if e.Kind == event.Unlock || e.Kind == event.RUnlock {
				s.given = e // its section began before the first access
			}
			continue
		}
		if s.taken = nil; e.Kind == event.Lock || e.Kind == event.RLock {
			s.taken = e
		}
	}
	for _, addr := range order {
		s := sections[addr]
		if s.given == nil || s.taken == nil {
			continue
		}
		from, ok := b.r.Site(s.given.Site)
		to, also := b.r.Site(s.taken.Site)
		if name, named := show.LockName(b.r, s.taken.Site); named && ok && also && b.relevance.Own(from.File) && b.relevance.Own(to.File) {
			return name, shortPlace(&from), shortPlace(&to)
		}
	}
	return "", "", ""
}

// behind is the race that a decision is about, or the last one if it is about none.
func (d *decision) behind(races []trace.Failure) *trace.Failure {
	best, most := &races[len(races)-1], 0
	if d == nil {
		return best
	}
	for i := range races {
		n := 0
		for _, e := range []*event.Event{d.before, d.between, d.after} {
			if e != nil && (races[i].Point.Is(e) || races[i].Others[0].Is(e)) {
				n++
			}
		}
		if n > most {
			best, most = &races[i], n
		}
	}
	return best
}
