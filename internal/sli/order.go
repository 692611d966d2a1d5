package sli

import (
	"maps"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
)

// A happensBefore is what the program's own synchronisation says about some events of a
// trace: which of them must come before which, and which locks were held.
//
// Locks give no order here. That one section came before the other is an accident of
// the run; what a lock does give, that no other goroutine is in between, is told by Held.
// Everything else does: starting a goroutine, channels, what waits for others to be
// done, atomic operations.
type happensBefore struct {
	stamps     map[uint64]*stamp
	lastStamps map[uint32]*stamp // of each goroutine's last event
}

// A stamp is the clock of a goroutine at an event.
type stamp struct {
	g       uint32
	ownTime uint32
	clock   clock
	held    []Held
}

// Held is a lock that was held.
type Held struct {
	Lock  uint64
	Read  bool   // not exclusively
	Since uint64 // the event that took it
	Site  uint32
}

// A clock has, for each goroutine, the time up to which its events happened before.
type clock []uint32

func (c *clock) join(o clock) {
	for len(*c) < len(o) {
		*c = append(*c, 0)
	}
	for i, v := range o {
		(*c)[i] = max((*c)[i], v)
	}
}

func (c *clock) tick(g uint32) {
	for uint32(len(*c)) <= g {
		*c = append(*c, 0)
	}
	(*c)[g]++
}

func (c clock) timeOf(g uint32) uint32 {
	if int(g) < len(c) {
		return c[g]
	}
	return 0
}

// A clockedGoroutine is a goroutine while the trace is read.
type clockedGoroutine struct {
	clock clock
	held  []Held
}

// newHappensBefore reads once what orders goroutines, and keeps the clocks of the wanted
// events.
func newHappensBefore(tr exec.Trace, wanted map[uint64]bool) *happensBefore {
	order := &happensBefore{stamps: map[uint64]*stamp{}, lastStamps: map[uint32]*stamp{}}
	threads := map[uint32]*clockedGoroutine{}
	objects := map[uint64]*clock{}
	queues := map[uint64]*sendQueue{}
	get := func(g uint32) *clockedGoroutine {
		t := threads[g]
		if t == nil {
			t = &clockedGoroutine{}
			t.clock.tick(g)
			threads[g] = t
		}
		return t
	}
	object := func(a uint64) *clock {
		c := objects[a]
		if c == nil {
			c = new(clock)
			objects[a] = c
		}
		return c
	}
	for _, g := range tr.Goroutines() {
		get(g)
	}
	left := slices.Sorted(maps.Keys(wanted))
	// stampUntil keeps the clocks of the wanted events before a number that order nothing.
	stampUntil := func(seq uint64) {
		for ; len(left) > 0 && left[0] < seq; left = left[1:] {
			if event, ok := tr.Event(left[0]); ok {
				order.stamps[event.Seq] = get(event.G).stamp(event.G)
			}
		}
	}
	tr.Ordering(func(event *exec.Event) bool {
		stampUntil(event.Seq)
		t := get(event.G)
		acquire := event.Kind == exec.KindAcquire || event.Atomic && (event.Kind == exec.KindLoad || event.Kind == exec.KindUpdate)
		release := event.Kind == exec.KindRelease || event.Atomic && (event.Kind == exec.KindStore || event.Kind == exec.KindUpdate)
		if acquire {
			t.clock.join(*object(event.Addr))
		}
		if len(left) > 0 && left[0] == event.Seq {
			order.stamps[event.Seq], left = t.stamp(event.G), left[1:]
		}
		if release {
			object(event.Addr).join(t.clock)
			t.clock.tick(event.G)
		}
		switch event.Kind {
		case exec.KindSpawn:
			get(uint32(event.Arg)).clock.join(t.clock)
			t.clock.tick(event.G)
		case exec.KindLock, exec.KindRLock:
			t.held = append(t.held, Held{event.Addr, event.Kind == exec.KindRLock, event.Seq, event.Site})
		case exec.KindUnlock, exec.KindRUnlock:
			for i := len(t.held) - 1; i >= 0; i-- {
				if t.held[i].Lock == event.Addr {
					t.held = append(t.held[:i:i], t.held[i+1:]...)
					break
				}
			}
		case exec.KindSend, exec.KindRecv:
			q := queues[event.Addr]
			if q == nil {
				q = &sendQueue{}
				queues[event.Addr] = q
			}
			if event.Kind == exec.KindRecv && len(q.sent) == 0 && objects[event.Addr] != nil {
				t.clock.join(*objects[event.Addr]) // it was closed
				break
			}
			q.pair(event, t)
		}
		return true
	})
	stampUntil(tr.Last() + 1)
	for g, t := range threads {
		order.lastStamps[g] = t.stamp(g)
	}
	return order
}

func (t *clockedGoroutine) stamp(g uint32) *stamp {
	return &stamp{g: g, ownTime: t.clock.timeOf(g), clock: append(clock(nil), t.clock...), held: append([]Held(nil), t.held...)}
}

// A sendQueue pairs the n-th send with the n-th receive, whichever the trace has first.
type sendQueue struct {
	sent     []clock
	received []*clockedGoroutine
}

// pair joins the clocks of a send and its receive. A send to a channel without room is recorded
// after the receive that waited for it: then both know of each other.
func (q *sendQueue) pair(event *exec.Event, t *clockedGoroutine) {
	if event.Kind == exec.KindRecv {
		if len(q.sent) == 0 {
			q.received = append(q.received, t)
			t.clock.tick(event.G)
			return
		}
		t.clock.join(q.sent[0])
		q.sent = q.sent[1:]
		return
	}
	if len(q.received) > 0 { // both meet: each knows of the other
		r := q.received[0]
		q.received = q.received[1:]
		r.clock.join(t.clock)
		t.clock.join(r.clock)
	} else {
		q.sent = append(q.sent, append(clock(nil), t.clock...))
	}
	t.clock.tick(event.G)
}

// isBefore reports whether a is ordered before b.
func (a *stamp) isBefore(b *stamp) bool {
	if a == nil || b == nil {
		return false
	}
	return b.clock.timeOf(a.g) >= a.ownTime && a.g != b.g
}

// shareLock reports whether both sides hold one lock, without a break from the first to
// the last event of each, and at least one side holds it exclusively.
func shareLock(first, last, other, otherLast *stamp) bool {
	if first == nil || last == nil || other == nil || otherLast == nil {
		return false
	}
	for _, a := range first.held {
		if !hasHeld(last.held, a) {
			continue
		}
		for _, b := range other.held {
			if a.Lock == b.Lock && hasHeld(otherLast.held, b) && !(a.Read && b.Read) {
				return true
			}
		}
	}
	return false
}

func hasHeld(list []Held, held Held) bool {
	for _, x := range list {
		if x == held {
			return true
		}
	}
	return false
}
