package trace

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// TestAccessesTogetherAreWrittenLikeOneByOne writes them in lists of any length, across
// the ends of blocks.
func TestAccessesTogetherAreWrittenLikeOneByOne(t *testing.T) {
	var one, several bytes.Buffer
	w, v := NewWriter(&one, testHeader), NewWriter(&several, testHeader)
	r := newRun(3, heapStart)
	random := rand.New(rand.NewPCG(1, 2))
	var waiting []event.Access
	deliver := func() {
		if err := v.Accesses(waiting); err != nil {
			t.Fatal(err)
		}
		waiting = waiting[:0]
	}
	var events []event.Event
	for range 40_000 {
		e := r.next()
		events = append(events, copyEvent(e))
		if err := put(w, e); err != nil {
			t.Fatal(err)
		}
		a, ok := accessOf(e)
		if !ok || random.IntN(30) == 0 {
			deliver()
		}
		if ok {
			waiting = append(waiting, a)
		} else if err := v.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	deliver()
	w.Close(Outcome{})
	v.Close(Outcome{})
	if !bytes.Equal(one.Bytes(), several.Bytes()) {
		t.Error("the files differ")
	}
	sameEvents(t, collect(t, read(t, several.Bytes()), Filter{}), events)
}

// TestAccessesOfEveryShape are read back: all sizes, near and far in every respect, and
// what cannot have the short form.
func TestAccessesOfEveryShape(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, testHeader)
	random := rand.New(rand.NewPCG(5, 6))
	var events []event.Event
	seq := uint64(0)
	for range 20_000 {
		seq++
		if random.IntN(50) == 0 {
			seq += random.Uint64N(1 << 20)
		}
		e := event.Event{Seq: seq, G: 1 + uint32(random.IntN(50)/49), Kind: event.Load, Site: random.Uint32() >> random.IntN(33), Frame: uint32(random.IntN(20) / 19),
			Addr: random.Uint64() >> random.IntN(65), Size: 1 << random.IntN(4)}
		if n := len(events); n > 0 && random.IntN(3) == 0 {
			e.Addr, e.Site = events[n-1].Addr, events[n-1].Site+uint32(random.IntN(300))-150
		}
		value := func() []byte {
			if n := len(events); n > 0 && random.IntN(3) == 0 && events[n-1].Size == e.Size {
				return events[n-1].Before
			}
			b := make([]byte, e.Size)
			for i := range random.IntN(int(e.Size) + 1) {
				b[i] = byte(random.Uint32())
			}
			return b
		}
		e.Before = value()
		if random.IntN(2) == 0 {
			e.Kind, e.After = event.Store, value()
		}
		events = append(events, e)
		if err := put(w, &e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(Outcome{}); err != nil {
		t.Fatal(err)
	}
	r := read(t, file.Bytes())
	sameEvents(t, collect(t, r, Filter{}), events)
	for i := 0; i < len(events); i += 97 {
		if e := events[i]; e.Addr != 0 {
			f := Filter{Addr: e.Addr, Size: uint64(e.Size), Kinds: []event.Kind{e.Kind}, Sites: []uint32{e.Site}, First: e.Seq, Last: e.Seq}
			sameEvents(t, collect(t, r, f), []event.Event{e})
		}
	}
}
