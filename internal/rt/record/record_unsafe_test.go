package record

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// escaped keeps variables from the stack, which may move.
var escaped any

// together is how much room there is for accesses at once.
const together = 16

func at[T any](p *T) (addr, size uintptr) {
	escaped = p
	return uintptr(unsafe.Pointer(p)), unsafe.Sizeof(*p)
}

// TestEventsComeInOrderWithTheirEffects: an access and another event, whether accesses are
// delivered apart or not.
func TestEventsComeInOrderWithTheirEffects(t *testing.T) {
	for _, apart := range []bool{false, true} {
		var seqs, befores, afters []uint64
		record := func(e *event.Event) {
			seqs = append(seqs, e.Seq)
			if e.Kind == event.Store {
				befores, afters = append(befores, uint64(e.Before[0])), append(afters, uint64(e.After[0]))
			}
		}
		accesses := func(all []event.Access) []event.Access {
			for _, a := range all {
				seqs, befores, afters = append(seqs, a.Seq), append(befores, a.Before), append(afters, a.After)
			}
			return make([]event.Access, together)
		}
		if !apart {
			accesses = nil
		}
		r := New(record, accesses)
		if !r.On {
			t.Fatal("not on")
		}
		x := new(int64)
		addr, size := at(x)
		for i := range int64(2 * together) {
			if !r.Access(1, 0, event.Store, 7, addr, size) {
				t.Fatal("a store is complete before it happens")
			}
			*x = i + 1
			r.Complete()
		}
		r.Event(1, 0, event.Gosched, 8, 0, 0, 0)
		for i := range uint64(2 * together) {
			if seqs[i] != i+1 || befores[i] != i || afters[i] != i+1 {
				t.Fatalf("event %d has the number %d, %d -> %d", i, seqs[i], befores[i], afters[i])
			}
		}
		if len(seqs) != 2*together+1 || !slices.IsSorted(seqs) {
			t.Errorf("apart %t: %d events", apart, len(seqs))
		}
	}
}

func TestValuesOfAnySizeAndSwaps(t *testing.T) {
	var last event.Event
	r := New(func(e *event.Event) { last = *e }, nil)
	wide := new([200]byte)
	addr, size := at(wide)
	if r.Value(1, 2, event.Load, 3, addr, size) || len(last.Before) != event.MaxValue || last.Size != 200 || last.Frame != 2 {
		t.Errorf("a load of %d bytes: %+v", size, last)
	}
	word := new(uint32)
	addr, size = at(word)
	if !r.Value(1, 2, event.AtomicCompare, 3, addr, size) {
		t.Error("a swap is complete before it happens")
	}
	*word = 4
	r.Swapped(true)
	r.Complete()
	if last.Kind != event.AtomicCompare || last.Arg != 1 || last.After[0] != 4 {
		t.Errorf("%+v", last)
	}
	if r.Allocation() != 1 || r.Allocation() != 2 {
		t.Error("allocations are not counted")
	}
}

// TestHaltsComeBeforeTheirAccesses: at a store that is halted at, memory is as it was before.
func TestHaltsComeBeforeTheirAccesses(t *testing.T) {
	for _, apart := range []bool{false, true} {
		room := make([]event.Access, together)
		accesses := func([]event.Access) []event.Access { return room }
		if !apart {
			accesses = nil
		}
		x := new(int64)
		addr, size := at(x)
		r := New(func(*event.Event) {}, accesses)
		var values []int64
		r.HaltAt([]uint64{2, 5, 6}, func() { values = append(values, *x) })
		for i := range int64(4) {
			r.Access(1, 0, event.Store, 7, addr, size)
			*x = 10 * (i + 1)
			r.Complete()
		}
		r.Event(1, 0, event.Gosched, 8, 0, 0, 0)
		if !slices.Equal(values, []int64{10, 40}) {
			t.Errorf("apart %t: at events 2 and 5 there were %d", apart, values)
		}
	}
}
