package rt_test

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// accessEvent is an access as an event.
func accessEvent(a *event.Access) *event.Event {
	e := &event.Event{Seq: a.Seq, G: a.G, Kind: a.Kind, Site: a.Site, Frame: a.Frame, Addr: a.Addr, Size: uint32(a.Size)}
	value := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v)[:a.Size] }
	e.Before = value(a.Before)
	if a.Kind == event.Store {
		e.After = value(a.After)
	}
	return e
}

func TestAccessesAreDeliveredInTheirPlace(t *testing.T) {
	together := 0
	for _, c := range constructs {
		for _, f := range []func() func() string{c.wrong, c.right} {
			for seed := range uint64(5) {
				want, _ := record(&walk{seed: seed}, func() { f() })
				var got listing
				Run(Config{Races: true, Strategy: &walk{seed: seed}, MaxSteps: 10_000, Record: got.add, Accesses: func(all []event.Access) []event.Access {
					together = max(together, len(all))
					for i := range all {
						got.add(accessEvent(&all[i]))
					}
					return make([]event.Access, 8)
				}}, func() { f() })
				if !slices.Equal(got.lines, want) {
					t.Fatalf("%s, seed %d:\n%s\nwant\n%s", c.name, seed, strings.Join(got.lines, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	}
	if together < 2 {
		t.Error("accesses were delivered one by one")
	}
}

// TestWideAndNarrowAccesses: what cannot be told as an access is an event all the same.
func TestWideAndNarrowAccesses(t *testing.T) {
	var got listing
	x := heap([12]byte{1, 2, 3})
	accesses := 0
	Run(Config{Races: true, Strategy: &first{}, Record: got.add, Accesses: func(all []event.Access) []event.Access {
		accesses += len(all)
		for i := range all {
			got.add(accessEvent(&all[i]))
		}
		return make([]event.Access, 8)
	}}, func() {
		for size := 1; size <= len(x); size++ {
			RS(x[:size], 1)
			Clear(x[:size], 2)[0]++
		}
	})
	loads, stores := 0, 0
	for i, l := range got.lines {
		if strings.Contains(l, " load ") {
			loads++
		}
		if strings.Contains(l, " store ") {
			stores++
		}
		if !strings.HasPrefix(l, strconv.Itoa(i+1)+" ") {
			t.Errorf("event %d is %q", i+1, l)
		}
	}
	if loads != len(x) || stores != len(x) || accesses != 2*4 {
		t.Errorf("%d loads and %d stores, %d of them accesses:\n%s", loads, stores, accesses, strings.Join(got.lines, "\n"))
	}
}

// asking is a replay that wants to be asked about every step.
type asking struct{ sched.Strategy }

func (asking) Next(uint32) uint64 { return 0 }

// A step is what can be compared of an event without much ado.
type step struct {
	seq     uint64
	g, site uint32
	kind    event.Kind
}

// TestStepsThatNobodyIsAskedAboutAreTheSameSteps compares replays of runs in which
// goroutines go on for so long that others are let go first, and time is looked at.
func TestStepsThatNobodyIsAskedAboutAreTheSameSteps(t *testing.T) {
	program := func() {
		x := heap(0)
		f := func(n int) func() {
			return func() {
				for range n {
					*W(x, 1) = n
				}
				Sleep(5)
				for range n {
					_ = R(x, 2)
				}
			}
		}
		Go(1, f(12_000))
		Go(1, f(30_000))
		f(100)()
	}
	for seed := range uint64(2) {
		rec := sched.NewRecorder(sched.NewPCT(seed, 3), false)
		Run(Config{Races: true, Strategy: rec}, program)
		schedule := rec.Schedule()
		run := func(s sched.Strategy) ([]step, *Result) {
			var steps []step
			r := Run(Config{Races: true, Strategy: s, Record: func(e *event.Event) { steps = append(steps, step{e.Seq, e.G, e.Site, e.Kind}) }}, program)
			return steps, r
		}
		free := sched.NewReplay(schedule)
		want, asked := run(asking{sched.NewReplay(schedule)})
		got, unasked := run(free)
		if !slices.Equal(got, want) || asked.Steps != unasked.Steps || asked.Now != unasked.Now {
			t.Errorf("schedule %s: %d steps up to %d, want %d up to %d", schedule, unasked.Steps, unasked.Now, asked.Steps, asked.Now)
		}
		if unasked.Points*2 > asked.Points {
			t.Errorf("schedule %s: asked %d times, and %d times if asked always", schedule, unasked.Points, asked.Points)
		}
		if d := free.Diverged(); d != (sched.Divergence{}) {
			t.Errorf("schedule %s: %s", schedule, d)
		}
	}
}

// TestEntriesOfMapsAreRecorded: with key and value, as they were and as they become. A key that
// cannot be one has none, and panics as it does anywhere.
func TestEntriesOfMapsAreRecorded(t *testing.T) {
	type entry struct {
		kind          event.Kind
		before, after int // -1: not in the map, -2: not known
	}
	var got []entry
	value := func(memory []byte) int {
		e, ok := event.EntryOf(memory)
		switch {
		case !ok:
			return -2
		case !e.Held:
			return -1
		case len(e.Value) == 0:
			return -2
		}
		return int(e.Value[0])
	}
	add := func(e *event.Event) {
		if e.Kind == event.MapRead || e.Kind == event.MapWrite {
			got = append(got, entry{e.Kind, value(e.Before), value(e.After)})
		}
	}
	m, any := map[string]uint8{}, map[any]uint8{}
	panicked := false
	Run(Config{Strategy: &first{}, Record: add, MaxSteps: 1000}, func() {
		Map(m).Set("a", 3, 1)
		SumsOf(m).Add("a", 1, 1)
		Map(m).Update("a", 1)["a"] <<= 1
		IntegersOf(m).AndNot("b", 1, 1)
		Map(m).Get("a", 1)
		if v, ok := Map(m).Get2("c", 1); ok || v != 0 {
			t.Error("there is no c")
		}
		Map(m).Visit("a", 1)
		Map(m).Delete("a", 1)
		delete(ClearMap(m, 1), "b")
		MR(m, 1)
		func() {
			defer func() { panicked = recover() != nil }()
			Map(any).Get([]int{1}, 1)
		}()
	})
	want := []entry{
		{event.MapWrite, -1, 3}, {event.MapWrite, 3, 4}, {event.MapWrite, 4, -2}, {event.MapWrite, -1, 0},
		{event.MapRead, 8, -2}, {event.MapRead, -1, -2}, {event.MapRead, 8, -2}, {event.MapWrite, 8, -1},
		{event.MapWrite, -2, -2}, {event.MapRead, -2, -2}, {event.MapRead, -2, -2},
	}
	if !slices.Equal(got, want) || !panicked {
		t.Errorf("got %v, want %v; panicked: %t", got, want, panicked)
	}
}

// TestKindsAreThoseOfReflect: they are read where the runtime describes types.
func TestKindsAreThoseOfReflect(t *testing.T) {
	type name string
	for _, c := range []struct {
		got  uint8
		want reflect.Type
	}{
		{KindOf[bool](), reflect.TypeFor[bool]()},
		{KindOf[int](), reflect.TypeFor[int]()},
		{KindOf[uint8](), reflect.TypeFor[uint8]()},
		{KindOf[float64](), reflect.TypeFor[float64]()},
		{KindOf[name](), reflect.TypeFor[name]()},
		{KindOf[any](), reflect.TypeFor[any]()},
		{KindOf[error](), reflect.TypeFor[error]()},
		{KindOf[*int](), reflect.TypeFor[*int]()},
		{KindOf[[2]string](), reflect.TypeFor[[2]string]()},
		{KindOf[struct{ s string }](), reflect.TypeFor[struct{ s string }]()},
		{KindOf[chan int](), reflect.TypeFor[chan int]()},
	} {
		if c.got != uint8(c.want.Kind()) {
			t.Errorf("the kind of %s is %d, want %d", c.want, c.got, c.want.Kind())
		}
	}
}
