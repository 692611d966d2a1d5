package trace

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// recorded is a trace of a random run, with its events.
func recorded(t *testing.T, seed uint64, n int) (*Reader, []event.Event) {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, testHeader)
	run := newRun(seed, heapStart)
	var all []event.Event
	for range n {
		e := run.next()
		all = append(all, copyEvent(e))
		if err := put(w, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(Outcome{Result: event.Passed}); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r, all
}

// TestStreamsAreTheEventsOfTheTrace compares each stream with the events that it must have, read
// in order and from anywhere.
func TestStreamsAreTheEventsOfTheTrace(t *testing.T) {
	r, all := recorded(t, 5, 60_000)
	chosen := []event.Kind{event.Lock, event.Unlock, event.Go, event.Alloc}
	s, err := r.Streams(chosen, nil)
	if err != nil {
		t.Fatal(err)
	}
	byGoroutine := map[uint32][]event.Event{}
	var together []event.Event
	for _, e := range all {
		byGoroutine[e.G] = append(byGoroutine[e.G], e)
		if setOf(chosen...).has(e.Kind) {
			together = append(together, e)
		}
	}
	if len(together) == 0 || len(byGoroutine) < 2 {
		t.Fatal("the run has nothing to compare")
	}
	walk := func(what string, want []event.Event, next func(uint64) *event.Event) {
		seq := uint64(0)
		for i := range want {
			e := next(seq)
			if e == nil || cmp.Diff(want[i], copyEvent(e)) != "" {
				t.Fatalf("%s: event %d is %+v, want %+v", what, i, e, want[i])
			}
			seq = e.Seq
		}
		if e := next(seq); e != nil {
			t.Errorf("%s: after the last comes %+v", what, e)
		}
		for i := len(want) - 1; i > 0; i -= 1 + len(want)/50 {
			if e := next(want[i-1].Seq); e == nil || e.Seq != want[i].Seq {
				t.Errorf("%s: after %d comes %+v, want %d", what, want[i-1].Seq, e, want[i].Seq)
			}
		}
	}
	walk("the chosen kinds", together, s.NextChosen)
	for _, g := range s.Goroutines() {
		walk("a goroutine", byGoroutine[g], func(after uint64) *event.Event { return s.Next(g, after) })
		delete(byGoroutine, g)
	}
	if len(byGoroutine) > 0 {
		t.Errorf("%d goroutines have no stream", len(byGoroutine))
	}
	for i := range all {
		if e := &all[i]; e.Kind == event.Call {
			want, err := r.Frame(e.Frame)
			parent, site, ok := s.Frame(e.Frame)
			if err != nil || !ok || parent != want.Parent || site != want.Site {
				t.Fatalf("frame %d is %d, %d, %t; want %+v, %v", e.Frame, parent, site, ok, want, err)
			}
		}
	}
}

// TestAccessesByWordAreThoseOfTheTrace asks for memory here and there, of one byte and of many,
// and compares with a walk over all events.
func TestAccessesByWordAreThoseOfTheTrace(t *testing.T) {
	r, all := recorded(t, 9, 20_000)
	s, err := r.Streams(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	accesses := setOf(Accesses()...)
	for i := 0; i < len(all); i += 97 {
		e := &all[i]
		if !accesses.has(e.Kind) || !hasMemory(e) {
			continue
		}
		for _, size := range []uint64{1, 8, 40} {
			lo, hi := e.Addr+2, e.Addr+2+size-1
			var want []uint64
			gs := map[uint32]bool{}
			for j := range all {
				if x := &all[j]; accesses.has(x.Kind) && hasMemory(x) && touches(x, lo, hi) {
					want = append(want, x.Seq)
					gs[x.G] = true
				}
			}
			var got, back []uint64
			err := errors.Join(
				s.Forward(lo, size, 1, 1<<40, func(x *event.Event) bool { got = append(got, x.Seq); return true }),
				s.Backward(lo, size, 1<<40, func(x *event.Event) bool { back = append([]uint64{x.Seq}, back...); return true }))
			if err != nil || !cmp.Equal(want, got) || !cmp.Equal(want, back) {
				t.Fatalf("%d bytes at %#x: %d accesses forward and %d backward, want %d; %v", size, lo, len(got), len(back), len(want), err)
			}
			if len(gs) > 1 && !s.Shared(lo, size) {
				t.Errorf("%#x is of %d goroutines, and is not shared", lo, len(gs))
			}
			last, err := r.LastStore(lo, size, e.Seq)
			mine, err2 := s.LastStore(lo, size, e.Seq)
			if err != nil || err2 != nil || (last == nil) != (mine == nil) || last != nil && last.Seq != mine.Seq {
				t.Fatalf("the last store before %d is %+v, want %+v", e.Seq, mine, last)
			}
		}
	}
}

func TestStreamsEndWhenTheyAreInterrupted(t *testing.T) {
	r, _ := recorded(t, 5, 1000)
	enough := errors.New("enough")
	if _, err := r.Streams(nil, func() error { return enough }); !errors.Is(err, enough) {
		t.Errorf("the error is %v, want %v", err, enough)
	}
}
