package rt_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
)

// reference finds races from the events of a run as the definition says: all accesses
// are kept, and each new one is compared with all.
type reference struct {
	clocks   map[uint32]map[uint32]int // by goroutine
	released map[[2]uint64]map[uint32]int
	queues   map[uint64][]map[uint32]int // what is in a channel, in order
	freed    map[uint64][]map[uint32]int // what was received, in order
	sends    map[uint64]int
	accesses []seen
	second   map[uint32]bool // sites of accesses that race with an earlier one
}

type seen struct {
	e  event.Event
	at int
}

func newReference() *reference {
	return &reference{
		clocks: map[uint32]map[uint32]int{}, released: map[[2]uint64]map[uint32]int{},
		queues: map[uint64][]map[uint32]int{}, freed: map[uint64][]map[uint32]int{}, sends: map[uint64]int{},
		second: map[uint32]bool{},
	}
}

func join(a, b map[uint32]int) {
	for g, t := range b {
		a[g] = max(a[g], t)
	}
}

const capacity = 2 // of all channels

func (r *reference) event(e *event.Event) {
	c := r.clocks[e.G]
	if c == nil {
		c = map[uint32]int{}
		r.clocks[e.G] = c
	}
	c[e.G]++
	object := func(which uint64) map[uint32]int {
		k := [2]uint64{e.Addr, which}
		if r.released[k] == nil {
			r.released[k] = map[uint32]int{}
		}
		return r.released[k]
	}
	switch e.Kind {
	case event.Go:
		r.clocks[uint32(e.Arg)] = maps.Clone(c)
	case event.Lock:
		join(c, object(0))
		join(c, object(1))
	case event.RLock:
		join(c, object(0))
	case event.Unlock:
		join(object(0), c)
	case event.RUnlock:
		join(object(1), c)
	case event.WaitGroupAdd:
		if int64(e.Arg) < 0 {
			join(object(0), c)
		}
	case event.WaitGroupWait:
		join(c, object(0))
	case event.AtomicLoad:
		join(c, object(0))
	case event.AtomicStore:
		r.access(e, c)
		clear(object(0))
		join(object(0), c)
	case event.AtomicUpdate:
		join(c, object(0))
		join(object(0), c)
	case event.AtomicCompare:
		join(c, object(0))
		if e.Arg == 1 {
			join(object(0), c)
		}
	// A send comes before the completion of its receive, a receive before the completion
	// of the send that gets its place. What the one that completes passes on is what it
	// began with.
	case event.Send:
		r.queues[e.Addr] = append(r.queues[e.Addr], maps.Clone(c))
		if n := r.sends[e.Addr]; n >= capacity {
			join(c, r.freed[e.Addr][n-capacity])
		}
		r.sends[e.Addr]++
	case event.Recv:
		r.freed[e.Addr] = append(r.freed[e.Addr], maps.Clone(c))
		join(c, r.queues[e.Addr][0])
		r.queues[e.Addr] = r.queues[e.Addr][1:]
	}
	switch e.Kind {
	case event.Load, event.Store, event.AtomicLoad, event.AtomicUpdate, event.AtomicCompare:
		r.access(e, c)
	}
}

func (r *reference) access(e *event.Event, c map[uint32]int) {
	for _, a := range r.accesses {
		f := a.e
		overlap := f.Addr < e.Addr+uint64(e.Size) && e.Addr < f.Addr+uint64(f.Size)
		if overlap && f.G != e.G && a.at > c[f.G] && !(f.Kind.IsRead() && e.Kind.IsRead()) && !(f.Kind.IsAtomic() && e.Kind.IsAtomic()) {
			r.second[e.Site] = true
		}
	}
	r.accesses = append(r.accesses, seen{*e, c[e.G]})
}

// randomProgram is one of several goroutines that do this and that. Every access has a
// site of its own.
func randomProgram(seed uint64) func() {
	rnd := &walk{state: seed * 7919}
	site := uint32(0)
	memory := heap([24]byte{})
	atomics := heap([3]uint32{})
	mutexes, rw := heap([2]mutex{}), heap(rwMutex{})
	ch := make(chan int, capacity)
	var goroutine func(depth int) func()
	goroutine = func(depth int) func() {
		var steps []func()
		for range 3 + rnd.next(8) {
			site++
			n, i, size := site, rnd.next(len(memory)-8), 1+rnd.next(8)
			switch k := rnd.next(17); k {
			case 0, 1, 2:
				steps = append(steps, func() { RS(memory[i:i+size], n) })
			case 3, 4, 5:
				steps = append(steps, func() { clear(Clear(memory[i:i+size], n)) })
			case 6:
				m := &mutexes[rnd.next(2)]
				inner := goroutine(9)
				steps = append(steps, func() { m.Lock(); inner(); m.Unlock() })
			case 7:
				inner := goroutine(9)
				steps = append(steps, func() { rw.RLock(); inner(); rw.RUnlock() })
			case 8:
				inner := goroutine(9)
				steps = append(steps, func() { rw.Lock(); inner(); rw.Unlock() })
			case 9:
				p := &atomics[rnd.next(3)]
				steps = append(steps, func() { *A(p, event.AtomicStore, n) = n })
			case 10:
				p := &atomics[rnd.next(3)]
				steps = append(steps, func() { _ = *A(p, event.AtomicLoad, n) })
			case 11:
				p := &atomics[rnd.next(3)]
				steps = append(steps, func() { *A(p, event.AtomicUpdate, n) = n })
			case 12:
				p, old := &atomics[rnd.next(3)], uint32(rnd.next(3))
				steps = append(steps, func() { cas(p, old, n, n) })
			case 13:
				steps = append(steps, func() { Select(n, true, nil, CaseRecv(ch), CaseSend(ch).Of(1)) })
			case 14:
				steps = append(steps, func() { To[int](ch).Send(1, n) })
			case 15:
				steps = append(steps, func() { Recv(ch, n) })
			case 16:
				if depth > 2 {
					p := &atomics[rnd.next(3)] // an atomic variable, not atomically
					steps = append(steps, func() { _ = R(p, n) })
					continue
				}
				a, b := goroutine(depth+1), goroutine(depth+1)
				if rnd.next(2) == 0 {
					steps = append(steps, func() { together(a, b) })
				} else {
					steps = append(steps, func() { Go(n, a) })
				}
			}
			if depth == 9 && len(steps) == 3 {
				break
			}
		}
		return func() {
			for _, f := range steps {
				f()
			}
		}
	}
	a, b, c := goroutine(0), goroutine(0), goroutine(0)
	return func() { Go(1, a); Go(1, b); c() }
}

func TestRacesAreThoseOfTheDefinition(t *testing.T) {
	const runs = 3000
	racy := 0
	for seed := range uint64(runs) {
		if compareRaces(t, seed) {
			racy++
		}
	}
	if racy < runs/10 || racy > runs*95/100 {
		t.Errorf("%d of %d runs have races: the programs are not what they should be", racy, runs)
	}
}

// compareRaces runs a program and compares the races that were found with those of the
// definition. It reports whether there are any.
func compareRaces(t *testing.T, seed uint64) bool {
	t.Helper()
	ref := newReference()
	r := Run(Config{Races: true, Strategy: &walk{seed: seed}, Record: ref.event}, randomProgram(seed))
	got := map[uint32]bool{}
	for _, x := range r.Races {
		got[x.Second.Site] = true
		if x.First.G == 0 || x.Second.G == 0 || x.First.G == x.Second.G {
			t.Fatalf("seed %d: a race of goroutines %d and %d", seed, x.First.G, x.Second.G)
		}
	}
	if !maps.Equal(got, ref.second) {
		t.Fatalf("seed %d: races at %v, want %v", seed, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(ref.second)))
	}
	return len(got) > 0
}

// TestRacesWhereMarksEnd: with more slots than marks can name, and in runs before and
// after moments begin anew.
func TestRacesWhereMarksEnd(t *testing.T) {
	for seed := range uint64(20) {
		SkipSlots(MarkedSlots - 3)
		compareRaces(t, seed)
		SkipSlots(126) // some slots of a vector are in its tree
		compareRaces(t, seed)
		SetPast(1<<31 - uint32(seed))
		compareRaces(t, seed)
		compareRaces(t, seed)
	}
}

func TestFilesOrder(t *testing.T) {
	for _, c := range []struct {
		f    func(buffer []byte)
		want string
	}{
		{func(buffer []byte) { IORead(nil, 0, true) }, ""},
		{func(buffer []byte) { IORead(nil, 0, false) }, "race 1 2"},
		{func(buffer []byte) { IORead(nil, 0, true); RS(buffer, 3) }, ""},
		{func(buffer []byte) { IORead(nil, 0, true); clear(Clear(buffer, 3)) }, ""},
	} {
		x, buffer := heap(0), make([]byte, 10)
		r := Run(Config{Races: true, Strategy: &first{}}, func() {
			Go(1, func() { *W(x, 1) = 1; IOWrite(buffer) })
			Sleep(1)
			c.f(buffer)
			_ = R(x, 2)
		})
		if got := outcomeOf(r); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestTheSystemsAccessesRace(t *testing.T) {
	buffer := make([]byte, 10)
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		Go(1, func() { IORead(buffer, 5, false) })
		Go(1, func() { _ = R(&buffer[5], 1) })
		Go(1, func() { _ = R(&buffer[4], 2) })
	})
	if len(r.Races) != 1 || r.Races[0].First.Kind != event.Store || r.Races[0].Second.Site != 2 {
		t.Errorf("%+v", r.Races)
	}
}
