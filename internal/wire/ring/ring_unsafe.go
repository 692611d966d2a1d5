// Package ring carries the events of a run that is recorded from the program to the tool,
// through memory that both have mapped: the program leaves them there as they are, and the
// tool, on another processor, makes a trace of them while the run goes on. To make it in the
// program cost as much as the run itself.
//
// # How it works
//
// A ring is a list of slots, used again and again, each as large as an [event.Access]. Two
// numbers count the slots that were ever written and those that were ever read; each has one
// side that changes it. An access takes one slot, and is made in its place. Another event
// takes a slot that says so (otherEvent) and behind it as many as its values need.
//
// Neither side wakes the other. The tool looks every now and then, often enough that the
// ring is seldom full; a program that finds it full calls Wait until it is not. That is less
// than a system call for each batch would cost, and nothing is lost when one side ends.
//
//	ring_unsafe.go         slots, and both ends
//	create.go              the file
//	map_unix.go, map_windows_unsafe.go  its memory
package ring

import (
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

const (
	// slots is how many there are, 6 MB of memory, of which a short run touches little. On a
	// busy machine the tool may not get a processor for as long as it takes to fill them.
	slots = 1 << 17
	// together is how many accesses are published at once.
	together = 1 << 8

	headSize = 4096
	slotSize = unsafe.Sizeof(event.Access{})
	fileSize = headSize + slots*int(slotSize)

	// otherEvent is the Size of a slot that is no access. Its After is the lengths of both
	// values, a byte each, and the event's size above; its Before the event's argument.
	otherEvent = 0xff
	sizeShift  = 32
)

// A head is at the start of the memory. The counters are apart, so that the one side's
// stores do not take the other's from its cache.
type head struct {
	written atomic.Uint64
	_       [120]byte
	read    atomic.Uint64
}

// A Ring is one side's view of the memory.
type Ring struct {
	// Wait is called again and again while there is no room for what is to be written.
	Wait func()

	memory  []byte
	head    *head
	slots   *[slots]event.Access
	written uint64 // as head.written
	read    uint64 // of the writing side: what head.read was when it last looked
	values  [2 * event.MaxValue]byte
}

// view returns a ring in memory that was mapped.
func view(memory []byte) *Ring {
	return &Ring{
		memory: memory,
		head:   (*head)(unsafe.Pointer(&memory[0])),
		slots:  (*[slots]event.Access)(unsafe.Pointer(&memory[headSize])),
	}
}

// Accesses publishes accesses that were made in the room that it returned the last time,
// from its start on, and returns room for more. The room is not valid after Event.
func (r *Ring) Accesses(made []event.Access) (room []event.Access) {
	r.publish(uint64(len(made)))
	free := r.room(1)
	at := r.written % slots
	return r.slots[at:min(at+min(free, together), slots)]
}

// Event publishes an event.
func (r *Ring) Event(e *event.Event) {
	bytes := len(e.Before) + len(e.After)
	n := 1 + (uint64(bytes)+uint64(slotSize)-1)/uint64(slotSize)
	r.room(n)
	*r.slot(r.written) = event.Access{
		Seq: e.Seq, Addr: e.Addr, G: e.G, Site: e.Site, Frame: e.Frame, Kind: e.Kind, Size: otherEvent,
		Before: e.Arg, After: uint64(len(e.Before)) | uint64(len(e.After))<<8 | uint64(e.Size)<<sizeShift,
	}
	copy(r.values[copy(r.values[:], e.Before):], e.After)
	for i := uint64(1); i < n; i++ {
		copy(r.bytes(r.written+i), r.values[(i-1)*uint64(slotSize):])
	}
	r.publish(n)
}

// publish makes the next n slots visible to the reading side.
func (r *Ring) publish(n uint64) {
	if n > 0 {
		r.written += n
		r.head.written.Store(r.written)
	}
}

// room waits until there are n free slots, and returns how many there are.
func (r *Ring) room(n uint64) uint64 {
	for slots-(r.written-r.read) < n {
		if r.read = r.head.read.Load(); slots-(r.written-r.read) < n {
			r.Wait()
		}
	}
	return slots - (r.written - r.read)
}

// slot is the i-th that was ever written.
func (r *Ring) slot(i uint64) *event.Access { return &r.slots[i%slots] }

// bytes is the memory of a slot.
func (r *Ring) bytes(i uint64) []byte {
	return (*[slotSize]byte)(unsafe.Pointer(r.slot(i)))[:]
}

// Drain calls the functions with what was published and not read yet, in its order, and
// reports whether there was anything. What they are given is valid until they return.
func (r *Ring) Drain(accesses func([]event.Access), other func(*event.Event)) bool {
	end, at := r.head.written.Load(), r.head.read.Load()
	if at == end {
		return false
	}
	for at < end {
		if n := r.accesses(at, end); n > 0 {
			accesses(r.slots[at%slots : at%slots+n])
			at += n
		} else {
			var e event.Event
			at += r.event(at, &e)
			other(&e)
		}
		r.head.read.Store(at)
	}
	return true
}

// accesses returns how many slots from the i-th on are accesses, without a gap in memory.
func (r *Ring) accesses(i, end uint64) uint64 {
	n, most := uint64(0), min(end-i, slots-i%slots, together)
	for n < most && r.slot(i+n).Size != otherEvent {
		n++
	}
	return n
}

// event reads the event at the i-th slot, and returns how many slots it takes.
func (r *Ring) event(i uint64, e *event.Event) uint64 {
	a := r.slot(i)
	before, after := int(a.After&0xff), int(a.After>>8&0xff)
	*e = event.Event{Seq: a.Seq, G: a.G, Kind: a.Kind, Site: a.Site, Frame: a.Frame, Addr: a.Addr, Size: uint32(a.After >> sizeShift), Arg: a.Before}
	n := uint64(1)
	for got := 0; got < before+after; n++ {
		got += copy(r.values[min(got, len(r.values)):], r.bytes(i+n))
	}
	if before > 0 {
		e.Before = r.values[:before]
	}
	if after > 0 {
		e.After = r.values[before : before+after]
	}
	return n
}
