package trace

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// write makes a trace of events, at some sites if none are given.
func write(t testing.TB, h Header, events []event.Event, sites ...Site) *Reader {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, h)
	for i := range events {
		if err := w.Event(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if sites == nil {
		sites = testSites(10)
	}
	if err := w.SetSites(sites); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(Outcome{}); err != nil {
		t.Fatal(err)
	}
	return read(t, b.Bytes())
}

// runEvents returns n events of a run whose heap is at heap.
func runEvents(seed, heap uint64, n int) []event.Event {
	r := newRun(seed, heap)
	var events []event.Event
	for range n {
		events = append(events, copyEvent(r.next()))
	}
	return events
}

func TestRunsThatDifferInAddressesAloneAreTheSame(t *testing.T) {
	a := write(t, testHeader, runEvents(3, heapStart, 30_000))
	b := write(t, testHeader, runEvents(3, 0x7f12_3456_7000, 30_000))
	if d, err := Compare(a, b); err != nil || d != nil {
		t.Errorf("difference %v, error %v", d, err)
	}
}

// TestEveryKindOfDifferenceIsFound changes one event of the second run.
func TestEveryKindOfDifferenceIsFound(t *testing.T) {
	const heap = 0x7f12_3456_7000
	first := write(t, testHeader, runEvents(3, heapStart, 3000))
	// pick finds an event late in the run, which the change is made to.
	pick := func(events []event.Event, ok func(*event.Event) bool) *event.Event {
		for i := len(events) - 1; i >= 0; i-- {
			if ok(&events[i]) {
				return &events[i]
			}
		}
		t.Fatal("the run has no such event")
		return nil
	}
	access := func(e *event.Event) bool { return e.Kind == event.Load && e.Addr > heap }
	pointer := func(e *event.Event) bool {
		return e.Kind == event.Store && binary.LittleEndian.Uint64(e.After) > heap
	}
	for name, c := range map[string]struct {
		choose func(*event.Event) bool
		change func(*event.Event)
		wants  string
	}{
		"goroutine":     {access, func(e *event.Event) { e.G++ }, "goroutine "},
		"kind":          {access, func(e *event.Event) { e.Kind = event.AtomicLoad }, "kind load and atomic load"},
		"site":          {access, func(e *event.Event) { e.Site++ }, "site "},
		"frame":         {access, func(e *event.Event) { e.Frame++ }, "frame "},
		"size":          {access, func(e *event.Event) { e.Size = 4 }, "size 8 and 4"},
		"argument":      {access, func(e *event.Event) { e.Arg = 9 }, "argument 0 and 9"},
		"offset":        {access, func(e *event.Event) { e.Addr++ }, "address "},
		"global":        {access, func(e *event.Event) { e.Addr = dataSegment }, "address "},
		"value":         {access, func(e *event.Event) { e.Before[0]++ }, "value before "},
		"other pointer": {pointer, func(e *event.Event) { e.After[1] += 16 }, "value after "},
		"no pointer":    {pointer, func(e *event.Event) { clear(e.After) }, "value after "},
	} {
		events := runEvents(3, heap, 3000)
		e := pick(events, c.choose)
		c.change(e)
		d, err := Compare(first, write(t, testHeader, events))
		if err != nil || d == nil || d.B.Seq != e.Seq || !strings.Contains(d.What, c.wants) || !strings.Contains(d.What, "event ") {
			t.Errorf("%s, event %d: difference %v, error %v", name, e.Seq, d, err)
		}
	}
}

func TestDifferentLengthsDiffer(t *testing.T) {
	events := runEvents(3, heapStart, 100)
	a := write(t, testHeader, events)
	for _, c := range []struct {
		b     *Reader
		wants string
	}{
		{write(t, testHeader, events[:90]), "the second trace has ended, the first goes on with event 91"},
		{write(t, testHeader, runEvents(3, heapStart, 110)), "the first trace has ended, the second goes on with event 101"},
	} {
		if d, err := Compare(a, c.b); err != nil || d == nil || !strings.Contains(d.String(), c.wants) {
			t.Errorf("difference %v, error %v, want %q", d, err, c.wants)
		}
	}
}

// TestRenamingIsOneToOne: addresses outside of allocations, and pointers to memory
// that nobody has touched yet.
func TestRenamingIsOneToOne(t *testing.T) {
	load := func(addr uint64) event.Event { return event.Event{Kind: event.Load, Site: 1, Addr: addr, Size: 8} }
	store := func(value uint64) event.Event {
		return event.Event{Kind: event.Store, Site: 1, Addr: 8, Size: 8, After: binary.LittleEndian.AppendUint64(nil, value)}
	}
	const a, b = 0xc000_001000, 0x7f00_0000_2000
	for name, c := range map[string]struct {
		first, second []event.Event
		differs       bool
	}{
		"kept":                {[]event.Event{load(a), load(a + 64), load(a)}, []event.Event{load(b), load(b + 8), load(b)}, false},
		"two to one":          {[]event.Event{load(a), load(a + 64)}, []event.Event{load(b), load(b)}, true},
		"one to two":          {[]event.Event{load(a), load(a)}, []event.Event{load(b), load(b + 64)}, true},
		"pointer kept":        {[]event.Event{load(a), store(a + 640), load(a + 640)}, []event.Event{load(b), store(b + 320), load(b + 320)}, false},
		"pointer not kept":    {[]event.Event{load(a), store(a + 640), load(a + 640)}, []event.Event{load(b), store(b + 320), load(b + 328)}, true},
		"number":              {[]event.Event{load(a), store(5)}, []event.Event{load(b), store(6)}, true},
		"number and pointer":  {[]event.Event{load(a), store(5)}, []event.Event{load(b), store(b)}, true},
		"nil and not":         {[]event.Event{load(0)}, []event.Event{load(b)}, true},
		"pointer before heap": {[]event.Event{store(a), load(a)}, []event.Event{store(b), load(b)}, false},
	} {
		for _, list := range [][]event.Event{c.first, c.second} {
			for i := range list {
				list[i].Seq = uint64(i + 1)
			}
		}
		d, err := Compare(write(t, testHeader, c.first), write(t, testHeader, c.second))
		if err != nil || (d != nil) != c.differs {
			t.Errorf("%s: difference %v, error %v", name, d, err)
		}
	}
}

// TestMemoryThatIsUsedAgainIsRenamedAgain: the second allocation at an address is
// another object.
// TestTablesOfInterfacesAreWhereTheSystemPutsThem: no run touches them, and they are
// somewhere else in every process.
func TestTablesOfInterfacesAreWhereTheSystemPutsThem(t *testing.T) {
	stores := func(words ...uint64) *Reader {
		var events []event.Event
		for i, w := range words {
			e := event.Event{Seq: uint64(i + 1), G: 1, Kind: event.Store, Site: 1, Addr: heapStart, Size: 8, Before: make([]byte, 8), After: make([]byte, 8)}
			binary.LittleEndian.PutUint64(e.After, w)
			events = append(events, e)
		}
		return write(t, testHeader, events)
	}
	recorded := []uint64{0x7f66_530f_1600, 0x7f66_530f_1700, 0x7f66_530f_1600}
	for _, c := range []struct {
		words []uint64
		same  bool
	}{
		{[]uint64{0x7f0c_7c9d_4600, 0x7f0c_7c9d_4700, 0x7f0c_7c9d_4600}, true},
		{[]uint64{0x7f0c_7c9d_4600, 0x7f0c_7c9d_4700, 0x7f0c_7c9d_4700}, false}, // another table
		{[]uint64{0x7f0c_7c9d_4600, 7, 0x7f0c_7c9d_4600}, false},                // a number
	} {
		d, err := Compare(stores(recorded...), stores(c.words...))
		if err != nil || (d == nil) != c.same {
			t.Errorf("%#x: difference %v, error %v", c.words, d, err)
		}
	}
}

func TestMemoryThatIsUsedAgainIsRenamedAgain(t *testing.T) {
	alloc := func(seq, addr uint64, size uint32) event.Event {
		return event.Event{Seq: seq, Kind: event.Alloc, Addr: addr, Size: size, Arg: seq}
	}
	load := func(seq, addr uint64) event.Event {
		return event.Event{Seq: seq, Kind: event.Load, Addr: addr, Size: 8}
	}
	a := []event.Event{alloc(1, 0x1000, 64), load(2, 0x1008), alloc(3, 0x1000, 64), load(4, 0x1008)}
	b := []event.Event{alloc(1, 0x5000, 64), load(2, 0x5008), alloc(3, 0x9000, 64), load(4, 0x9008)}
	if d, err := Compare(write(t, testHeader, a), write(t, testHeader, b)); d != nil || err != nil {
		t.Errorf("difference %v, error %v", d, err)
	}
	b[3] = load(4, 0x5008)
	if d, err := Compare(write(t, testHeader, a), write(t, testHeader, b)); d == nil || err != nil {
		t.Errorf("difference %v, error %v", d, err)
	}
}

// TestSitesMayHaveOtherNumbers: a program that was built together with others has its
// sites elsewhere.
func TestSitesMayHaveOtherNumbers(t *testing.T) {
	site := func(id uint32, dir string, line int) Site {
		return Site{ID: id, Package: "p", File: dir + "/p.go", Line: line, Kind: event.Load, Expr: "x"}
	}
	make := func(first, second uint32, sites ...Site) *Reader {
		var b bytes.Buffer
		w := NewWriter(&b, testHeader)
		w.Event(&event.Event{Seq: 1, G: 1, Kind: event.Load, Site: first, Addr: 8, Size: 1})
		w.Event(&event.Event{Seq: 2, G: 1, Kind: event.Load, Site: second, Addr: 8, Size: 1})
		w.SetSites(sites)
		if err := w.Close(Outcome{}); err != nil {
			t.Fatal(err)
		}
		return read(t, b.Bytes())
	}
	a := make(1, 2, site(1, "/here", 10), site(2, "/here", 20))
	if d, err := Compare(a, make(301, 302, site(301, "/there", 10), site(302, "/there", 20))); err != nil || d != nil {
		t.Errorf("difference %v, error %v", d, err)
	}
	if d, err := Compare(a, make(1, 2, site(1, "/here", 20), site(2, "/here", 10))); err != nil || d == nil {
		t.Errorf("two lines that changed places are the same (error %v)", err)
	}
}

// TestSitesAreKnownByWhatStandsThere: in another build a site has another number and line, and
// is known by its function, its text, and which of its like it is.
func TestSitesAreKnownByWhatStandsThere(t *testing.T) {
	first := []Site{
		{ID: 1, Package: "p", File: "a.go", Line: 3, Function: "f", Expr: "x", Kind: event.Load, Digest: "f1"},
		{ID: 2, Package: "p", File: "a.go", Line: 4, Function: "f", Expr: "x", Kind: event.Load, Digest: "f1"},
		{ID: 3, Package: "p", File: "a.go", Line: 9, Function: "g", Expr: "x", Kind: event.Load, Digest: "g1"},
		{ID: event.CallSites, Package: "p", File: "a.go", Line: 5, Function: "f", Expr: "mu.Lock()", Kind: event.Lock},
		{ID: event.CallSites + 1, Package: "p", File: "a.go", Line: 6, Function: "f", Expr: "mu.Lock()", Kind: event.Lock},
	}
	moved := []Site{
		{ID: 7, Package: "p", File: "b.go", Line: 30, Function: "g", Expr: "x", Kind: event.Load, Digest: "g2"},
		{ID: 8, Package: "p", File: "a.go", Line: 13, Function: "f", Expr: "x", Kind: event.Load, Digest: "f1"},
		{ID: 9, Package: "p", File: "a.go", Line: 14, Function: "f", Expr: "x", Kind: event.Load, Digest: "f1"},
		{ID: event.CallSites, Package: "p", File: "a.go", Line: 16, Function: "f", Expr: "mu.Lock()", Kind: event.Lock},
		{ID: event.CallSites + 1, Package: "p", File: "a.go", Line: 15, Function: "f", Expr: "mu.Lock()", Kind: event.Lock},
	}
	run := func(sites []Site, at ...uint32) *Reader {
		var events []event.Event
		for i, site := range at {
			kind := event.Load
			if site >= event.CallSites {
				kind = event.Lock
			}
			events = append(events, event.Event{Seq: uint64(i + 1), G: 1, Kind: kind, Site: site, Addr: 64, Size: 8, Before: make([]byte, 8), After: make([]byte, 8)})
		}
		return write(t, testHeader, events, sites...)
	}
	const one, two = event.CallSites, event.CallSites + 1
	recorded := run(first, 1, 2, 1, 3, one, two, one)
	for _, test := range []struct {
		at    []uint32
		parts uint64 // the number of the first event that differs
	}{
		{[]uint32{8, 9, 8, 7, two, one, two}, 0},
		{[]uint32{9, 8, 9, 7, two, one, two}, 1}, // the second x for the first
		{[]uint32{8, 9, 9, 7, two, one, two}, 3},
		{[]uint32{8, 9, 8, 8, two, one, two}, 4},
		{[]uint32{8, 9, 8, 7, two, two, two}, 6}, // one call for two
		{[]uint32{8, 9, 8, 7, two, one, one}, 7},
	} {
		d, err := Compare(recorded, run(moved, test.at...))
		parts := uint64(0)
		if d != nil {
			parts = d.A.Seq
		}
		if err != nil || parts != test.parts {
			t.Errorf("%v: %v, %v; want a difference in event %d", test.at, d, err, test.parts)
		}
	}
	changed, err := recorded.ChangedSince(moved)
	if err != nil || len(changed) != 1 || changed[0] != (Change{"p", "g", false}) {
		t.Errorf("changed: %v, %v", changed, err)
	}
	changed, err = recorded.ChangedSince(moved[1:])
	if err != nil || len(changed) != 1 || changed[0] != (Change{"p", "g", true}) {
		t.Errorf("changed: %v, %v", changed, err)
	}
}

// TestAnotherBuildLiesElsewhere: words that refer to the program itself, a type or a function,
// differ between two builds, and stand for each other from the first time on.
func TestAnotherBuildLiesElsewhere(t *testing.T) {
	run := func(image uint64, words ...uint64) *Reader {
		header := testHeader
		header.Image = []uint64{image, image + 0x1000}
		var events []event.Event
		for i, word := range words {
			events = append(events, event.Event{Seq: uint64(i + 1), G: 1, Kind: event.Load, Site: 1, Addr: 64, Size: 8, Before: binary.LittleEndian.AppendUint64(nil, word)})
		}
		return write(t, header, events)
	}
	first := run(0x400000, 0x400010, 0x400020, 0x400010, 7)
	for _, test := range []struct {
		words []uint64
		parts uint64
	}{
		{[]uint64{0x500110, 0x500020, 0x500110, 7}, 0},
		{[]uint64{0x500110, 0x500020, 0x500020, 7}, 3},
		{[]uint64{0x500110, 0x500110, 0x500110, 7}, 2},
		{[]uint64{0x600110, 0x500020, 0x500110, 7}, 1}, // outside
		{[]uint64{0x500110, 0x500020, 0x500110, 8}, 4},
	} {
		d, err := Compare(first, run(0x500000, test.words...))
		parts := uint64(0)
		if d != nil {
			parts = d.A.Seq
		}
		if err != nil || parts != test.parts {
			t.Errorf("%#x: %v, %v; want a difference in event %d", test.words, d, err, test.parts)
		}
	}
}
