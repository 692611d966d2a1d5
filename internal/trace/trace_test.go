package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

func TestReadGivesBackWhatWasWritten(t *testing.T) {
	for _, n := range []int{0, 1, 100, 50_000} {
		file, events := record(t, uint64(n), n)
		r := read(t, file)
		sameEvents(t, collect(t, r, Filter{}), events)
		want := testHeader
		want.Format, want.Kinds = Version, kindsID()
		if !reflect.DeepEqual(r.Header, want) {
			t.Errorf("header %+v, want %+v", r.Header, want)
		}
		if r.Outcome == nil || r.Outcome.Result != event.Passed || r.Truncated() != nil || r.Len() != uint64(n) {
			t.Errorf("outcome %v, truncated %v, %d events", r.Outcome, r.Truncated(), r.Len())
		}
		if got := r.Sites(); !reflect.DeepEqual(got, testSites(300)) {
			t.Errorf("sites are not those that were written: %v ...", got[:min(3, len(got))])
		}
	}
}

func TestExtremeEventsSurvive(t *testing.T) {
	const top = 1<<64 - 1
	long := bytes.Repeat([]byte{1, 0}, 40)
	events := []event.Event{
		{Seq: 0, Kind: event.Load},
		{Seq: 1, G: 1<<32 - 1, Kind: event.Random, Site: 1<<32 - 1, Frame: 1<<32 - 1, Addr: top, Size: 1<<32 - 1, Arg: top},
		{Seq: 5, G: 0, Kind: event.Store, Addr: 1, Size: 80, Before: long, After: long[:64]},
		{Seq: 6, Kind: event.Store, Addr: 1 << 63, Size: 8, Before: []byte{0}, After: make([]byte, 64)},
		{Seq: 7, Kind: event.Store, Size: 0, Before: nil, After: []byte{7, 0, 0}},
		{Seq: 8, Kind: event.Call, Frame: 3, Arg: 1 << 63},
		{Seq: top, Kind: event.Exit, Arg: top},
	}
	var file bytes.Buffer
	w := NewWriter(&file, Header{})
	for i := range events {
		if err := w.Event(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(Outcome{}); err != nil {
		t.Fatal(err)
	}
	events[2].Before = long[:event.MaxValue]
	r := read(t, file.Bytes())
	sameEvents(t, collect(t, r, Filter{}), events)
	for i := range events {
		e, err := r.At(events[i].Seq)
		if err != nil || e == nil || !sameEvent(e, &events[i]) {
			t.Errorf("At(%d) = %v, %v", events[i].Seq, e, err)
		}
	}
}

func TestWriterRefusesDisorder(t *testing.T) {
	for _, c := range []struct {
		name  string
		e     event.Event
		wants string
	}{
		{"same number", event.Event{Seq: 5, Kind: event.Load}, "event 5 comes after event 5"},
		{"unknown kind", event.Event{Seq: 6, Kind: 63}, "unknown kind 63"},
	} {
		w := NewWriter(&bytes.Buffer{}, Header{})
		if err := w.Event(&event.Event{Seq: 5, Kind: event.Load}); err != nil {
			t.Fatal(err)
		}
		err := w.Event(&c.e)
		if err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if again := w.Event(&event.Event{Seq: 9, Kind: event.Load}); again != err {
			t.Errorf("%s: the error does not stay: %v", c.name, again)
		}
		if closed := w.Close(Outcome{}); closed != err {
			t.Errorf("%s: Close says %v", c.name, closed)
		}
	}
}

type failingWriter struct{ left int }

var errFull = errors.New("no space left")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriterReportsAFullDisk(t *testing.T) {
	for _, room := range []int{0, 100, 1000, 200_000} {
		w := NewWriter(&failingWriter{room}, testHeader)
		r := newRun(1, heapStart)
		for range 30_000 {
			put(w, r.next())
		}
		if err := w.Close(Outcome{}); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}

// matches is what a Filter means, event by event.
func matches(f Filter, e *event.Event) bool {
	in := func(n int, has func(int) bool) bool {
		for i := range n {
			if has(i) {
				return true
			}
		}
		return n == 0
	}
	if !in(len(f.Goroutines), func(i int) bool { return f.Goroutines[i] == e.G }) ||
		!in(len(f.Kinds), func(i int) bool { return f.Kinds[i] == e.Kind }) ||
		!in(len(f.Sites), func(i int) bool { return f.Sites[i] == e.Site }) ||
		e.Seq < f.First || f.Last != 0 && e.Seq > f.Last {
		return false
	}
	if f.Addr == 0 {
		return true
	}
	return e.Addr != 0 && e.Kind != event.Call && e.Addr < f.Addr+max(f.Size, 1) && f.Addr < e.Addr+uint64(max(e.Size, 1))
}

func randomFilter(rnd *rand.Rand, events []event.Event) Filter {
	var f Filter
	some := &events[rnd.IntN(len(events))]
	if rnd.IntN(2) == 0 {
		f.Goroutines = []uint32{some.G, uint32(rnd.IntN(100))}
	}
	if rnd.IntN(2) == 0 {
		f.Kinds = [][]event.Kind{{some.Kind}, Writes(), {event.Alloc}, {event.Load, event.Call}}[rnd.IntN(4)]
	}
	if rnd.IntN(3) == 0 {
		f.Sites = []uint32{some.Site, 9999}
	}
	if rnd.IntN(2) == 0 {
		f.Addr, f.Size = some.Addr, []uint64{0, 1, 8, 500, 1 << 20}[rnd.IntN(5)]
		if f.Addr > 3 && rnd.IntN(2) == 0 {
			f.Addr -= 3
		}
		if f.Addr == 0 {
			f.Size = 0
		}
	}
	if rnd.IntN(3) == 0 {
		f.First = some.Seq
		f.Last = some.Seq + uint64(rnd.IntN(20_000))
	}
	return f
}

// TestFilteredIterationAgreesWithLookingAtEveryEvent also for a file without its
// index.
func TestFilteredIterationAgreesWithLookingAtEveryEvent(t *testing.T) {
	file, events := record(t, 3, 60_000)
	whole, cut := read(t, file), read(t, file[:len(file)-30])
	if cut.Truncated() == nil || len(whole.index.blocks) < 5 {
		t.Fatalf("truncated: %v, %d blocks", cut.Truncated(), len(whole.index.blocks))
	}
	rnd := rand.New(rand.NewPCG(5, 5))
	for range 100 {
		f := randomFilter(rnd, events)
		var want []event.Event
		for i := range events {
			if matches(f, &events[i]) {
				want = append(want, events[i])
			}
		}
		for _, r := range []*Reader{whole, cut} {
			sameEvents(t, collect(t, r, f), want)
			c := r.Cursor(f)
			c.SeekEnd()
			var back []event.Event
			for c.Prev() {
				if back = append(back, *c.Event()); len(back) > 1000 {
					break
				}
			}
			slices.Reverse(back)
			sameEvents(t, back, want[len(want)-len(back):])
		}
	}
}

// TestCursorStaysBetweenEvents goes to and fro.
func TestCursorStaysBetweenEvents(t *testing.T) {
	file, events := record(t, 4, 30_000)
	r := read(t, file)
	rnd := rand.New(rand.NewPCG(1, 2))
	c := r.Cursor(Filter{})
	at := 0
	for range 20_000 {
		switch rnd.IntN(30) {
		case 0:
			at = rnd.IntN(len(events) + 1)
			c.Seek(uint64(at) + 1) // events are numbered from 1
		case 1:
			at = len(events)
			c.SeekEnd()
		}
		if rnd.IntN(2) == 0 {
			if got, want := c.Next(), at < len(events); got != want {
				t.Fatalf("Next at %d is %v", at, got)
			} else if got {
				if at++; !sameEvent(c.Event(), &events[at-1]) {
					t.Fatalf("Next at %d is event %d", at-1, c.Event().Seq)
				}
			}
		} else {
			if got, want := c.Prev(), at > 0; got != want {
				t.Fatalf("Prev at %d is %v", at, got)
			} else if got {
				if at--; !sameEvent(c.Event(), &events[at]) {
					t.Fatalf("Prev at %d is event %d", at+1, c.Event().Seq)
				}
			}
		}
	}
}

func TestQueriesAgreeWithLookingAtEveryEvent(t *testing.T) {
	file, events := record(t, 8, 60_000)
	r := read(t, file)
	objects := r.Objects()
	callers := map[uint32]uint32{}
	for i := range events {
		if e := &events[i]; e.Kind == event.Call {
			callers[e.Frame] = uint32(e.Arg)
		}
	}
	rnd := rand.New(rand.NewPCG(9, 9))
	found := map[string]int{}
	for range 300 {
		i := rnd.IntN(len(events))
		e := &events[i]
		if e.Addr == 0 {
			continue
		}
		var store, alloc *event.Event
		for j := range events[:i+1] {
			o := &events[j]
			if o.Addr > e.Addr || o.Addr+uint64(max(o.Size, 1)) <= e.Addr {
				continue
			}
			if writes.has(o.Kind) && j < i && (o.Kind != event.AtomicCompare || o.Arg != 0) {
				store = o
			}
			if o.Kind == event.Alloc {
				alloc = o
			}
		}
		got, err := r.LastStore(e.Addr, 1, e.Seq)
		check(t, "last store", got, store, err)
		got, err = r.Allocation(e.Addr, e.Seq)
		check(t, "allocation", got, alloc, err)
		got, err = objects.At(e.Addr, e.Seq)
		check(t, "object", got, alloc, err)
		if store != nil {
			found["store"]++
		}
		if alloc != nil {
			found["alloc"]++
		}
		stack, err := r.Stack(e.Frame)
		if err != nil {
			t.Fatal(err)
		}
		frame := e.Frame
		for _, f := range stack {
			if f.ID != frame || f.Parent != callers[frame] {
				t.Fatalf("stack of frame %d: %v", e.Frame, stack)
			}
			frame = f.Parent
		}
		if frame != 0 {
			t.Fatalf("stack of frame %d ends with %d", e.Frame, frame)
		}
	}
	if found["store"] < 20 || found["alloc"] < 20 {
		t.Errorf("the events hardly test this: %v", found)
	}
}

func check(t *testing.T, what string, got, want *event.Event, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got == nil && want == nil {
		return
	}
	if got == nil || want == nil || !sameEvent(got, want) {
		t.Fatalf("%s is %+v, want %+v", what, got, want)
	}
}

func TestFramesNumberedInAnyOrderAreFound(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, Header{})
	frames := []uint32{70, 3, 50, 4}
	for i, f := range frames {
		caller := uint32(0)
		if i > 0 {
			caller = frames[i-1]
		}
		w.Event(&event.Event{Seq: uint64(i + 1), G: 1, Kind: event.Call, Frame: f, Arg: uint64(caller), Site: f})
		w.Flush()
	}
	if err := w.Close(Outcome{}); err != nil {
		t.Fatal(err)
	}
	r := read(t, file.Bytes())
	stack, err := r.Stack(4)
	if err != nil || len(stack) != 4 || stack[3].ID != 70 || stack[3].Site != 70 {
		t.Errorf("stack %v, %v", stack, err)
	}
	if _, err := r.Stack(5); !errors.Is(err, ErrNoFrame) {
		t.Errorf("an unknown frame gives %v", err)
	}
}

func TestAStackThatNeverEndsIsAnError(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, Header{})
	w.Event(&event.Event{Seq: 1, G: 1, Kind: event.Call, Frame: 1, Arg: 2})
	w.Event(&event.Event{Seq: 2, G: 1, Kind: event.Call, Frame: 2, Arg: 1})
	w.Event(&event.Event{Seq: 3, G: 1, Kind: event.Call, Frame: 3, Arg: 3})
	w.Close(Outcome{})
	r := read(t, file.Bytes())
	for frame := range uint32(3) {
		if _, err := r.Stack(frame + 1); err == nil || !strings.Contains(err.Error(), "does not end") {
			t.Errorf("frame %d: %v", frame+1, err)
		}
	}
}

func TestFilesAreCreatedAndOpenedAlsoWhenTheProcessDies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.trace")
	w, err := Create(path, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	source := newRun(2, heapStart)
	var events []event.Event
	for range 20_000 {
		e := source.next()
		events = append(events, copyEvent(e))
		if err := put(w, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	// The process dies here, within a write.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block := read(t, data).index.blocks[0].block.offset
	if err := os.WriteFile(path, append(data, data[block:block+500]...), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	sameEvents(t, collect(t, r, Filter{}), events)
	if r.Truncated() == nil || r.Outcome != nil {
		t.Errorf("truncated %v, outcome %v", r.Truncated(), r.Outcome)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	w.Close(Outcome{})
}

// TestAnAbandonedTraceHasItsEventsAndNoOutcome: the program that was recorded has died.
func TestAnAbandonedTraceHasItsEventsAndNoOutcome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.trace")
	w, err := Create(path, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	e := newRun(2, heapStart).next()
	want := []event.Event{copyEvent(e)}
	if err := put(w, e); err != nil {
		t.Fatal(err)
	}
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	if err := put(w, e); err == nil {
		t.Error("an abandoned trace takes events")
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sameEvents(t, collect(t, r, Filter{}), want)
	if r.Outcome != nil {
		t.Errorf("outcome %v", r.Outcome)
	}
}

func TestWhatIsNotATraceIsRefused(t *testing.T) {
	dir := t.TempDir()
	file, _ := record(t, 1, 10)
	// edited changes the header.
	edited := func(from, to string) []byte {
		out := bytes.Replace(bytes.Clone(file), []byte(from), []byte(to), 1)
		end := len(magic) + sectionHeader + int(binary.LittleEndian.Uint32(out[len(magic)+8:]))
		putSection(out[len(magic):end], headerSection)
		return out
	}
	for name, c := range map[string]struct {
		data  []byte
		wants string
	}{
		"empty":        {nil, "not a trace file: it is empty"},
		"text":         {[]byte("hello, this is a text file\n"), "not a trace file"},
		"magic":        {file[:8], "cut off within its header"},
		"half header":  {file[:40], "cut off within its header"},
		"other format": {edited(fmt.Sprintf(`"format":%d`, Version), `"format":9`), fmt.Sprintf("format 9, and this program reads format %d", Version)},
		"other kinds":  {edited(kindsID(), "01234567"), "other kinds of events than this program knows"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), c.wants) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}
