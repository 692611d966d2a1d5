package trace

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// recordFile writes events until the file has about size bytes.
func recordFile(t testing.TB, size int64) (path string, events uint64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "large.trace")
	w, err := Create(path, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(21, heapStart)
	for w.offset < size {
		if err := put(w, r.next()); err != nil {
			t.Fatal(err)
		}
		events++
	}
	if err := errors.Join(w.SetSites(testSites(300)), w.Close(Outcome{Result: event.Passed})); err != nil {
		t.Fatal(err)
	}
	return path, events
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestALargeTraceIsNotReadIntoMemory measures what a Reader holds on to after it was
// used all over the file, whose events take ten times its size.
func TestALargeTraceIsNotReadIntoMemory(t *testing.T) {
	const most = 40 << 20
	size := int64(24 << 20)
	if testing.Short() {
		size = 8 << 20
	}
	path, events := recordFile(t, size)
	before := heapInUse()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	check := func(after string) {
		if used := heapInUse() - min(before, heapInUse()); used > most {
			t.Errorf("%s the reader holds %d MB", after, used>>20)
		}
	}
	check("opened,")
	n := uint64(0)
	c := r.Cursor(Filter{})
	for c.Next() {
		if n++; n%(events/4) == 0 {
			check(fmt.Sprintf("at event %d", n))
		}
	}
	if c.Err() != nil || n != events {
		t.Fatalf("%d of %d events: %v", n, events, c.Err())
	}
	objects := r.Objects()
	for seq := uint64(1); seq < events; seq += events / 500 {
		e, err := r.At(seq)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := objects.At(e.Addr, e.Seq); err != nil {
			t.Fatal(err)
		}
		if _, err := r.LastStore(e.Addr, 8, e.Seq); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Stack(e.Frame); err != nil {
			t.Fatal(err)
		}
	}
	check("asked all over,")
	runtime.KeepAlive(r)
}

// prepared are events of a run, to measure writing alone.
func prepared(n int) []event.Event {
	r := newRun(1, heapStart)
	var events []event.Event
	for range n {
		events = append(events, copyEvent(r.next()))
	}
	return events
}

func BenchmarkWrite(b *testing.B) {
	events := prepared(200_000)
	w := NewWriter(io.Discard, testHeader)
	b.ReportAllocs()
	seq := uint64(0)
	for b.Loop() {
		seq++
		e := &events[seq%uint64(len(events))]
		e.Seq = seq
		if err := w.Event(e); err != nil {
			b.Fatal(err)
		}
	}
	w.Flush()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
	b.ReportMetric(float64(w.offset)/float64(b.N), "bytes/event")
}

func BenchmarkRead(b *testing.B) {
	path, _ := recordFile(b, 40<<20)
	r, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	c := r.Cursor(Filter{})
	for b.Loop() {
		if !c.Next() {
			c.Seek(0)
		}
	}
	if c.Err() != nil {
		b.Fatal(c.Err())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

// BenchmarkLarge asks a trace of 1 GB what an analysis asks. It takes a minute to
// write: go test -run '^$' -bench Large ./internal/trace
func BenchmarkLarge(b *testing.B) {
	path, events := recordFile(b, 1<<30)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			r, err := Open(path)
			if err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
	r, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	each := func(name string, ask func(e *event.Event) error) {
		b.Run(name, func(b *testing.B) {
			seq := uint64(1)
			for b.Loop() {
				seq = (seq + 7_654_321) % events
				e, err := r.At(seq + 1)
				if err == nil {
					err = ask(e)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(heapInUse()>>20), "MB-held")
		})
	}
	each("at", func(*event.Event) error { return nil })
	each("last-store", func(e *event.Event) error { _, err := r.LastStore(e.Addr, 8, e.Seq); return err })
	each("allocation", func(e *event.Event) error { _, err := r.Allocation(e.Addr, e.Seq); return err })
	each("stack", func(e *event.Event) error { _, err := r.Stack(e.Frame); return err })
	each("100-back-in-goroutine", func(e *event.Event) error {
		c := r.Cursor(Filter{Goroutines: []uint32{e.G}})
		c.Seek(e.Seq)
		for n := 0; n < 100 && c.Prev(); n++ {
		}
		return c.Err()
	})
}
