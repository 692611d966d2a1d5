package lanes

import (
	"maps"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Link is two events of different goroutines, by their numbers, of which synchronisation has the one come
// before the other, and how.
type Link struct {
	From, To uint64
	Name     string
}

// Links are what orders the events of a run.
func Links(r *trace.Reader) ([]Link, error) {
	var o ordering
	o.init()
	c := r.Cursor(trace.Filter{})
	for c.Next() {
		switch e := c.Event(); {
		case e.Kind == event.Alloc:
			o.allocated(e)
		case isStep(e):
			o.add(int(e.Seq), e, false)
		}
	}
	o.finish()
	all := make([]Link, len(o.links))
	for i, l := range o.links {
		all[i] = Link{uint64(l.from), uint64(l.to), l.kind.String()}
	}
	return all, c.Err()
}

// A linkKind is the reason why a step comes after another one.
type linkKind int

// The page has the words for them, in this order.
const (
	linkGo     linkKind = iota // a go statement, and the first step of its goroutine
	linkLock                   // a lock is released, and taken by another goroutine
	linkSend                   // a value is sent, and received
	linkClose                  // a channel is closed, and a receive sees that
	linkWait                   // a WaitGroup is counted down, and a Wait returns
	linkSignal                 // a Cond is signalled, and a Wait returns
)

func (k linkKind) String() string {
	return [...]string{linkGo: "starts", linkLock: "unlock to lock", linkSend: "send to receive", linkClose: "close to receive", linkWait: "done to Wait", linkSignal: "signal to Wait"}[k]
}

// A link is an arrow from a step to a later one of another goroutine.
type link struct {
	from, to int
	kind     linkKind
}

// A release is a step that lets others go on.
type release struct {
	step int
	g    uint32
}

// An ordering finds the links of a run, whose events it sees in their order. Values of a channel
// come out in the order in which they went in, so that the n-th receive belongs to the n-th send.
type ordering struct {
	links []link

	starts  map[uint32]release // go statements, by the new goroutine
	begun   map[uint32]int     // goroutines that have started and done nothing that matters yet
	unlocks map[uint64]release // of writers, by the lock
	leaves  map[uint64]release // of readers
	sent    map[uint64][]release
	closed  map[uint64]release
	count   map[uint64]int64
	done    map[uint64][]release // since the counter was 0 before
	signals map[uint64]release
}

// mostDone is how many of the goroutines that count a WaitGroup down have an arrow to its Wait: the
// last ones, of which the very last is what it waited for.
const mostDone = 8

func (o *ordering) init() {
	*o = ordering{
		starts: map[uint32]release{}, begun: map[uint32]int{}, unlocks: map[uint64]release{}, leaves: map[uint64]release{}, sent: map[uint64][]release{},
		closed: map[uint64]release{}, count: map[uint64]int64{}, done: map[uint64][]release{}, signals: map[uint64]release{},
	}
}

// after links a step to an earlier one of another goroutine.
func (o *ordering) after(from release, known bool, number int, e *event.Event, kind linkKind) {
	if known && from.g != e.G {
		o.links = append(o.links, link{from.step, number, kind})
	}
}

func (o *ordering) add(number int, e *event.Event, relevant bool) {
	here := release{number, e.G}
	if _, fresh := o.begun[e.G]; fresh && relevant {
		delete(o.begun, e.G)
		from, ok := o.starts[e.G]
		o.after(from, ok, number, e, linkGo)
	}
	switch e.Kind {
	case event.Go:
		o.starts[uint32(e.Arg)] = here
	case event.Start:
		o.begun[e.G] = number
	case event.Lock, event.TryLock, event.RLock, event.TryRLock:
		o.locked(number, e)
	case event.Unlock:
		o.unlocks[e.Addr] = here
	case event.RUnlock:
		o.leaves[e.Addr] = here
	case event.Send:
		o.sent[e.Addr] = append(o.sent[e.Addr], here)
	case event.Recv:
		if queue := o.sent[e.Addr]; len(queue) > 0 {
			o.after(queue[0], true, number, e, linkSend)
			o.sent[e.Addr] = queue[1:]
			return
		}
		from, ok := o.closed[e.Addr]
		o.after(from, ok, number, e, linkClose)
	case event.Close:
		o.closed[e.Addr] = here
	case event.WaitGroupAdd:
		o.counted(here, e)
	case event.WaitGroupWait:
		done := o.done[e.Addr]
		for _, from := range done[max(0, len(done)-mostDone):] {
			o.after(from, true, number, e, linkWait)
		}
	case event.Signal, event.Broadcast:
		if e.Arg > 0 {
			o.signals[e.Addr] = here
		}
	case event.CondWait:
		from, ok := o.signals[e.Addr]
		o.after(from, ok, number, e, linkSignal)
	}
}

// finish links go statements to the start of goroutines that did nothing that matters: of all
// others to the first step that does, which is what a person sees.
func (o *ordering) finish() {
	for _, g := range slices.Sorted(maps.Keys(o.begun)) {
		if from, ok := o.starts[g]; ok && from.g != g {
			o.links = append(o.links, link{from.step, o.begun[g], linkGo})
		}
	}
}

// allocated forgets what was at an address before: a channel that is made there is open.
func (o *ordering) allocated(e *event.Event) {
	delete(o.closed, e.Addr)
	delete(o.sent, e.Addr)
}

// locked links the taking of a lock to what released it.
func (o *ordering) locked(number int, e *event.Event) {
	if (e.Kind == event.TryLock || e.Kind == event.TryRLock) && e.Arg == 0 {
		return
	}
	from, ok := o.unlocks[e.Addr]
	if e.Kind == event.Lock || e.Kind == event.TryLock {
		// A writer waits for readers too, and the later of the two is what it waited for.
		if reader, also := o.leaves[e.Addr]; also && (!ok || reader.step > from.step) {
			from, ok = reader, true
		}
	}
	o.after(from, ok, number, e, linkLock)
}

// counted follows the counter of a WaitGroup.
func (o *ordering) counted(here release, e *event.Event) {
	delta := int64(e.Arg)
	if delta > 0 && o.count[e.Addr] == 0 {
		o.done[e.Addr] = nil
	}
	o.count[e.Addr] += delta
	if delta < 0 {
		o.done[e.Addr] = append(o.done[e.Addr], here)
	}
}
