package race

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// two returns two threads of a run, of which the second was started by the first.
func two(d *Detector) (a, b *Thread) {
	d.Begin()
	a, b = &Thread{}, &Thread{}
	d.TakeSlot(a, 1)
	a.Release(&b.Vector)
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
			b.Vector.Join(&lock)
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
	d.Touch(b, word, 8, event.Store, 1)
	d.LeaveSlot(b)
	unknowing, knowing := &Thread{}, &Thread{}
	a.Past(&unknowing.Vector)
	d.TakeSlot(unknowing, 3)
	if unknowing.Slot == b.Slot {
		t.Error("a slot is used again whose last owner may still be met")
	}
	a.Learn(b)
	a.Past(&knowing.Vector)
	d.TakeSlot(knowing, 4)
	if knowing.Slot != b.Slot || d.tenant(b.Slot, knowing.Now()) != 4 || d.tenant(b.Slot, b.Now()) != 2 {
		t.Errorf("slot %d of %d", knowing.Slot, d.Slots)
	}
}

// TestASlotWithoutAccessesSinceItsReleaseIsUsedAgain: a goroutine that says that it is done,
// and ends, has done nothing since.
func TestASlotWithoutAccessesSinceItsReleaseIsUsedAgain(t *testing.T) {
	var d Detector
	a, b := two(&d)
	d.Touch(b, word, 8, event.Store, 1)
	var group Vector
	b.ReleaseMerge(&group)
	d.LeaveSlot(b)
	a.Vector.Join(&group)
	c := &Thread{}
	a.Past(&c.Vector)
	if d.TakeSlot(c, 3); c.Slot != b.Slot || c.Now() <= b.Now() {
		t.Errorf("slot %d at %d, want %d", c.Slot, c.Now(), b.Slot)
	}
}

// TestVectorsAreWhatMapsWouldBe holds vectors that share parts against maps that share none.
func TestVectorsAreWhatMapsWouldBe(t *testing.T) {
	type plain map[uint32]uint32
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		vectors, plains := make([]Vector, 6), make([]plain, 6)
		for i := range plains {
			plains[i] = plain{}
		}
		slot := func() uint32 {
			return []uint32{r.Uint32N(lowSlots + 8), r.Uint32N(3 * branchSlots), 1 << 17}[r.IntN(3)]
		}
		for range 400 {
			i, j := r.IntN(6), r.IntN(6)
			switch r.IntN(8) {
			case 0:
				vectors[i].Set(&vectors[j])
				plains[i] = maps.Clone(plains[j])
			case 1, 2:
				vectors[i].Join(&vectors[j])
				for s, at := range plains[j] {
					plains[i][s] = max(plains[i][s], at)
				}
			case 3:
				if r.IntN(10) == 0 {
					vectors[i].Reset()
					clear(plains[i])
				}
			default:
				s, at := slot(), r.Uint32N(1000)
				vectors[i].Raise(s, at)
				plains[i][s] = max(plains[i][s], at)
			}
			for k := range vectors {
				for s, at := range plains[k] {
					if got := vectors[k].At(s); got != at {
						t.Fatalf("seed %d: vector %d has %d at slot %d, want %d", seed, k, got, s, at)
					}
				}
				if s := slot(); vectors[k].At(s) != plains[k][s] {
					t.Fatalf("seed %d: vector %d has %d at slot %d, want %d", seed, k, vectors[k].At(s), s, plains[k][s])
				}
			}
		}
	}
}

// TestAChainOfThreadsSharesWhatItKnows: each thread learns by a lock of all before it, and all
// are alive.
func TestAChainOfThreadsSharesWhatItKnows(t *testing.T) {
	const threads = 65_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var d Detector
	d.Begin()
	var lock Vector
	all := make([]*Thread, threads)
	for i := range all {
		u := &Thread{}
		d.TakeSlot(u, uint32(i))
		u.Vector.Join(&lock)
		u.Release(&lock)
		all[i] = u
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (after.HeapAlloc - before.HeapAlloc) / threads; each > 4<<10 {
		t.Errorf("%d bytes for each thread", each)
	}
	if last := all[threads-1]; !last.Knows(all[0].Slot, 1) || all[0].Knows(last.Slot, 1) {
		t.Error("the last thread does not know the first, or the first the last")
	}
}

func TestForgottenAccessesDoNotRace(t *testing.T) {
	var d Detector
	a, b := two(&d)
	d.Touch(a, word, 8, event.Store, 10)
	d.Forget()
	if d.Touch(b, word, 8, event.Store, 20); len(d.Races) != 0 {
		t.Errorf("%+v", d.Races)
	}
	if d.Touch(a, word, 8, event.Store, 30); len(d.Races) != 1 {
		t.Errorf("after that: %+v", d.Races)
	}
}

// TestARunThatTouchesMuchMemoryIsTold: its shadow has a limit, races within what is kept in mind
// are found after it was reached, and the next run has nothing of it.
func TestARunThatTouchesMuchMemoryIsTold(t *testing.T) {
	const pages, bytes = 4, pageWords * wordSize
	d := Detector{shadow: shadow{most: pages}}
	a, b := two(&d)
	for i := range uintptr(3 * pages) {
		d.Touch(a, word+i*bytes, 8, event.Store, 1)
		d.Touch(b, word+i*bytes, 8, event.Store, uint32(2+i))
	}
	if !d.Forgot() || len(d.Races) != 3*pages || len(d.shadow.pages) > 16 {
		t.Errorf("forgot: %t; %d races; %d pages", d.Forgot(), len(d.Races), len(d.shadow.pages))
	}
	d.Ended(a)
	d.Ended(b)
	d.End()
	a, b = two(&d)
	d.Touch(b, word, 8, event.Load, 1)
	if d.Touch(a, word, 8, event.Load, 2); d.Forgot() || len(d.Races) != 0 {
		t.Errorf("the next run: forgot %t, %+v", d.Forgot(), d.Races)
	}
}

// TestOfACrowdNoneIsForgotten: a thread that closes a channel, and knows of all sends but one,
// races with that one, whichever it is.
func TestOfACrowdNoneIsForgotten(t *testing.T) {
	const senders = 300
	for _, unknown := range []int{0, 1, fewReaders, senders / 2, senders - 1} {
		var d Detector
		a, closer := two(&d)
		for i := range senders {
			sender := &Thread{}
			a.Release(&sender.Vector)
			d.TakeSlot(sender, uint32(3+i))
			d.Touch(sender, word, 1, event.Send, uint32(100+i))
			d.Touch(sender, word, 1, event.Send, uint32(100+i))
			if i != unknown {
				closer.Learn(sender)
			}
		}
		d.Touch(closer, word, 1, event.Close, 1)
		if len(d.Races) != 1 || d.Races[0].First.Site != uint32(100+unknown) {
			t.Errorf("of %d sends the closer does not know %d: %+v", senders, unknown, d.Races)
		}
	}
}

// TestWhatAThreadReadsAgainTakesNoSpace: the lists of a word are as long as there are threads,
// not accesses.
func TestWhatAThreadReadsAgainTakesNoSpace(t *testing.T) {
	var d Detector
	a, b := two(&d)
	for range 10_000 {
		for _, u := range []*Thread{a, b} {
			d.Touch(u, word, 8, event.AtomicLoad, 1)
			u.Tick()
		}
	}
	if n := len(d.shadow.others); n > 4*fewReaders {
		t.Errorf("%d accesses are kept of two threads", n)
	}
	d.Touch(a, word, 8, event.Store, 2)
	if len(d.Races) != 1 {
		t.Errorf("%+v", d.Races)
	}
}

// TestMoreAccessesThanCanBeKeptAreTold: the lists have a limit for all words together.
func TestMoreAccessesThanCanBeKeptAreTold(t *testing.T) {
	const most = 64
	d := Detector{shadow: shadow{mostOthers: most}}
	a, b := two(&d)
	for i := range uintptr(2 * most) {
		d.Touch(a, word+i*wordSize, 8, event.AtomicLoad, 1)
	}
	if !d.Forgot() || len(d.shadow.others) > most {
		t.Errorf("forgot: %t; %d accesses", d.Forgot(), len(d.shadow.others))
	}
	if d.Touch(b, word+(2*most-1)*wordSize, 8, event.Store, 2); len(d.Races) != 1 {
		t.Errorf("after that: %+v", d.Races)
	}
}
