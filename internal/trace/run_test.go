package trace

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A run makes up the events of a program: goroutines that allocate objects, call
// functions, take locks, and load and store fields of their own and shared objects.
// It follows the rules that Validate checks.
type run struct {
	rand   *rand.Rand
	heap   uint64 // where the next object goes
	e      event.Event
	value  [2][8]byte
	gs     []actor
	all    []obj
	memory map[uint64]uint64
	frames uint32
	allocs uint64
	locked map[uint64]int // by goroutine's index
}

type actor struct {
	id    uint32
	stack []uint32
	own   []obj
}

type obj struct {
	addr uint64
	size uint32
}

const (
	codeSegment = 0x401000
	dataSegment = 0x5a0000
)

func newRun(seed, heap uint64) *run {
	r := &run{rand: rand.New(rand.NewPCG(seed, 1)), heap: heap, memory: map[uint64]uint64{}, locked: map[uint64]int{}}
	r.gs = []actor{{id: 1}}
	return r
}

// next returns the next event, which is valid until the following call.
func (r *run) next() *event.Event {
	seq := r.e.Seq + 1
	i := r.rand.IntN(len(r.gs))
	if r.rand.IntN(8) != 0 {
		i = int(r.e.G+uint32(len(r.gs))-1) % len(r.gs) // mostly the same one goes on
	}
	a := &r.gs[i]
	r.e = event.Event{Seq: seq, G: a.id, Site: uint32(r.rand.IntN(300)) + 1}
	if len(a.stack) > 0 {
		r.e.Frame = a.stack[len(a.stack)-1]
	}
	switch n := r.rand.IntN(100); {
	case a.id > 1 && !r.begun(i):
		r.e.Kind = event.Start
		a.own = []obj{}
	case n < 8 && len(a.stack) < 20:
		r.frames++
		r.e.Kind, r.e.Arg, r.e.Frame = event.Call, uint64(r.e.Frame), r.frames
		r.e.Addr = codeSegment + 16*uint64(r.e.Site)
		a.stack = append(a.stack, r.frames)
	case n < 15 && len(a.stack) > 0:
		r.e.Kind = event.Return
		a.stack = a.stack[:len(a.stack)-1]
	case n < 18:
		r.alloc(a)
	case n < 19 && len(r.gs) < 20:
		g := uint32(len(r.gs) + 1)
		r.e.Kind, r.e.Arg = event.Go, uint64(g)
		r.gs = append(r.gs, actor{id: g})
	case n < 25:
		r.lock(i)
	case n < 27:
		r.e.Kind, r.e.Arg = event.WaitGroupAdd, ^uint64(0)
		r.e.Addr = dataSegment + 0x1000
	default:
		r.access(a)
	}
	return &r.e
}

func (r *run) begun(i int) bool { return r.gs[i].own != nil }

func (r *run) alloc(a *actor) {
	sizes := []uint32{8, 16, 24, 48, 64, 256, 4096, 100_000}
	size := sizes[min(r.rand.IntN(len(sizes)), r.rand.IntN(len(sizes)))]
	o := obj{r.heap, size}
	r.heap += uint64(size+15) &^ 15
	r.allocs++
	r.e.Kind, r.e.Addr, r.e.Size, r.e.Arg = event.Alloc, o.addr, size, r.allocs
	a.own = append(a.own, o)
	if r.rand.IntN(4) == 0 {
		r.all = append(r.all, o)
	}
}

func (r *run) lock(i int) {
	addr := uint64(dataSegment + 0x2000 + 8*r.rand.IntN(10))
	r.e.Addr, r.e.Size = addr, 1
	switch holder, held := r.locked[addr]; {
	case !held:
		r.e.Kind = event.Lock
		r.locked[addr] = i
	case holder == i:
		r.e.Kind = event.Unlock
		delete(r.locked, addr)
	default:
		r.e.Kind, r.e.Arg = event.TryLock, 0
	}
}

func (r *run) access(a *actor) {
	o := obj{dataSegment, 400}
	switch n := r.rand.IntN(10); {
	case n < 6 && len(a.own) > 0:
		// Mostly recent ones.
		o = a.own[len(a.own)-1-min(len(a.own)-1, int(r.rand.ExpFloat64()*20))]
	case n < 9 && len(r.all) > 0:
		o = r.all[r.rand.IntN(len(r.all))]
	}
	r.e.Addr, r.e.Size = o.addr+8*uint64(r.rand.IntN(int(o.size/8))), 8
	old := r.memory[r.e.Addr]
	binary.LittleEndian.PutUint64(r.value[0][:], old)
	r.e.Before = r.value[0][:]
	switch r.rand.IntN(10) {
	case 0, 1, 2:
		value := old + 1
		if r.rand.IntN(5) == 0 && len(r.all) > 0 {
			value = r.all[r.rand.IntN(len(r.all))].addr // a pointer
		}
		r.e.Kind = event.Store
		r.memory[r.e.Addr] = value
		binary.LittleEndian.PutUint64(r.value[1][:], value)
		r.e.After = r.value[1][:]
	case 3:
		r.e.Kind, r.e.After = event.AtomicUpdate, r.e.Before
	case 4:
		r.e.Kind, r.e.After, r.e.Arg = event.AtomicCompare, r.e.Before, uint64(r.rand.IntN(2))
	default:
		r.e.Kind = event.Load
	}
}

const heapStart = 0xc000_000000

var testHeader = Header{
	Program: "f00d", Go: "go1.26", GOOS: "linux", GOARCH: "amd64", Package: "example.com/bank", Test: "TestTransfer",
	Args: []string{"-test.v"}, Schedule: "12>2,40>1", Seed: 7, Strategy: "pct",
}

// copyEvent keeps an event whose values are about to change.
func copyEvent(e *event.Event) event.Event {
	c := *e
	c.Before, c.After = bytes.Clone(e.Before), bytes.Clone(e.After)
	return c
}

// accessOf returns an event as an access, if it can be told as one.
func accessOf(e *event.Event) (a event.Access, ok bool) {
	values := [][]byte{e.Before}
	switch e.Kind {
	case event.Load:
		ok = len(e.After) == 0
	case event.Store:
		ok, values = true, append(values, e.After)
	}
	ok = ok && e.Arg == 0 && (e.Size == 1 || e.Size == 2 || e.Size == 4 || e.Size == 8)
	var numbers [2]uint64
	for i, v := range values {
		ok = ok && len(v) == int(e.Size)
		var word [8]byte
		copy(word[:], v)
		numbers[i] = binary.LittleEndian.Uint64(word[:])
	}
	return event.Access{Seq: e.Seq, Addr: e.Addr, Before: numbers[0], After: numbers[1], G: e.G, Site: e.Site, Frame: e.Frame, Kind: e.Kind, Size: uint8(e.Size)}, ok
}

// put writes an event as a recording does.
func put(w *Writer, e *event.Event) error {
	if a, ok := accessOf(e); ok {
		return w.Accesses([]event.Access{a})
	}
	return w.Event(e)
}

// record writes n events of a run, and returns the file and the events.
func record(t testing.TB, seed uint64, n int) ([]byte, []event.Event) {
	t.Helper()
	var file bytes.Buffer
	w := NewWriter(&file, testHeader)
	r := newRun(seed, heapStart)
	var events []event.Event
	for range n {
		e := r.next()
		events = append(events, copyEvent(e))
		if err := put(w, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetSites(testSites(300)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(Outcome{Result: event.Passed}); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), events
}

func testSites(n int) []Site {
	functions := []string{"bank.(*Account).Deposit", "bank.transfer", "bank.init"}
	var sites []Site
	for i := range n {
		sites = append(sites, Site{
			ID: uint32(i + 1), Package: "example.com/bank", File: "/src/bank/account.go", Line: i/4 + 1, Column: i%4*10 + 1, EndColumn: i%4*10 + 5,
			Function: functions[i%len(functions)], Expr: "a.balance", Kind: event.Load,
		})
	}
	return sites
}

func read(t testing.TB, file []byte) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// collect returns all events that a filter lets through.
func collect(t testing.TB, r *Reader, f Filter) []event.Event {
	t.Helper()
	var events []event.Event
	c := r.Cursor(f)
	for c.Next() {
		events = append(events, *c.Event())
	}
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	return events
}

func sameEvent(a, b *event.Event) bool {
	return a.Seq == b.Seq && a.G == b.G && a.Kind == b.Kind && a.Site == b.Site && a.Frame == b.Frame &&
		a.Addr == b.Addr && a.Size == b.Size && a.Arg == b.Arg && bytes.Equal(a.Before, b.Before) && bytes.Equal(a.After, b.After)
}

func sameEvents(t testing.TB, got, want []event.Event) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if !sameEvent(&got[i], &want[i]) {
			t.Fatalf("event %d of %d is\n%+v, want\n%+v", i, len(want), got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
}
