package race

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// two returns two threads of a run, of which the second was started by the first.
func two(d *Detector) (a, b *Thread) {
	d.Begin()
	a, b = &Thread{}, &Thread{}
	d.TakeSlot(a, 1)
	b.Vector.Set(a.Vector)
	a.Tick()
	d.TakeSlot(b, 2)
	return a, b
}

const word = 0x1000

// TestRacesAndNoRaces has pairs of accesses by two threads; with a release and an acquire
// between them there is never a race.
func TestRacesAndNoRaces(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second event.Kind
		addr, size    uintptr // of the second; the first is a word of 8 bytes
		race          bool
	}{
		{"loads", event.Load, event.Load, word, 8, false},
		{"load and store", event.Load, event.Store, word, 8, true},
		{"stores", event.Store, event.Store, word, 8, true},
		{"the last byte", event.Store, event.Load, word + 7, 1, true},
		{"the byte behind", event.Store, event.Load, word + 8, 1, false},
		{"over two words", event.Store, event.Load, word - 4, 8, true},
		{"a large piece", event.Store, event.Store, word - 1024, 4096, true},
		{"atomics", event.AtomicStore, event.AtomicUpdate, word, 8, false},
		{"atomic and plain", event.AtomicStore, event.Load, word, 8, true},
		{"locks", event.Lock, event.Unlock, word, 8, false},
		{"send and close", event.Send, event.Close, word, 1, true},
		{"sends", event.Send, event.Send, word, 1, false},
	} {
		var d Detector
		for run := range 3 {
			a, b := two(&d)
			d.Touch(a, word, 8, c.first, 10)
			d.Touch(b, c.addr, c.size, c.second, 20)
			d.Touch(b, c.addr, c.size, c.second, 20) // told once
			if got := len(d.Races); got != 0 != c.race || got > 1 {
				t.Errorf("%s, run %d: %+v", c.name, run, d.Races)
			}
			if c.race {
				r := d.Races[0]
				if r.First.G != 1 || r.Second.G != 2 || r.First.Site != 10 || r.Second.Site != 20 || r.First.Kind != c.first || r.Second.Kind != c.second {
					t.Errorf("%s: %+v", c.name, r)
				}
			}
			d.Ended(a)
			d.Ended(b)
			d.End()

			a, b = two(&d)
			var lock Vector
			d.Touch(a, word, 8, c.first, 10)
			a.Release(&lock)
			b.Vector.Join(lock)
			if d.Touch(b, c.addr, c.size, c.second, 20); len(d.Races) != 0 {
				t.Errorf("%s, ordered: %+v", c.name, d.Races)
			}
			d.Ended(a)
			d.Ended(b)
			d.End()
		}
	}
}

func TestSlotsAreUsedAgainWhenTheirPastIsKnown(t *testing.T) {
	var d Detector
	a, b := two(&d)
	d.LeaveSlot(b)
	unknowing, knowing := &Thread{}, &Thread{}
	unknowing.Vector.Set(a.Vector)
	d.TakeSlot(unknowing, 3)
	if unknowing.Slot == b.Slot {
		t.Error("a slot is used again whose last owner may still be met")
	}
	a.Vector.Join(b.Vector)
	knowing.Vector.Set(a.Vector)
	d.TakeSlot(knowing, 4)
	if knowing.Slot != b.Slot || d.tenant(b.Slot, knowing.Now()) != 4 || d.tenant(b.Slot, b.Now()) != 2 {
		t.Errorf("slot %d of %d", knowing.Slot, d.Slots)
	}
}
