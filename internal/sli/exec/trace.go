package exec

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// A Kind is what the engine can tell events of a trace apart by.
type Kind uint8

const (
	KindOther Kind = iota
	KindLoad
	KindStore
	KindUpdate // an atomic read and write in one
	KindAlloc
	KindFree   // the memory Addr, Size is not the program's any more
	KindResult // a call of something outside the program returned; After is its result
	KindCall   // Frame is the new frame, Arg its caller's; After are the arguments, one after the other, if something outside the program called
	KindReturn // of Frame
	KindSpawn  // Arg is the new goroutine
	KindStart
	KindEnd
	KindCrash
	KindFail // a test said that it failed
	KindLock // Addr names the lock
	KindRLock
	KindUnlock
	KindRUnlock
	KindRelease // what came before happens before what follows a later Acquire of Addr
	KindAcquire
	KindSend // the n-th Recv of Addr follows the n-th Send
	KindRecv
)

// An Event is one step of a run.
type Event struct {
	Seq    uint64 // from 1, rising
	G      uint32
	Kind   Kind
	Site   uint32
	Frame  uint32
	Addr   uint64
	Size   uint32
	Arg    uint64
	Atomic bool
	// Map says that Addr names a map and not memory.
	Map bool
	// Before and After are the memory's contents, possibly cut short.
	Before, After []byte
}

// Writes reports whether the event changes memory, or ends it.
func (e *Event) Writes() bool {
	return e.Kind == KindStore || e.Kind == KindUpdate || e.Kind == KindFree
}

// Orders reports whether the event is one of those that Ordering tells of.
func (e *Event) Orders() bool {
	switch e.Kind {
	case KindOther, KindAlloc, KindFree, KindResult, KindCall, KindReturn:
		return false
	case KindLoad, KindStore, KindUpdate:
		return e.Atomic
	}
	return true
}

// IsAccess reports whether the event touches memory.
func (e *Event) IsAccess() bool { return e.Kind == KindLoad || e.Writes() }

func (e *Event) Touches(addr uint64, size uint32) bool {
	return e.Addr < addr+uint64(size) && addr < e.Addr+uint64(e.Size)
}

// A Trace is a run that went wrong. Its methods are queries that an index can
// answer, so that a trace need not be in memory: Log holds one there, the front end
// reads one from a file.
type Trace interface {
	// Last is the number of the last event.
	Last() uint64
	// Event is the event with the number.
	Event(seq uint64) (Event, bool)
	// Goroutines are those that have events, in the order of their numbers.
	Goroutines() []uint32
	// Ordering calls f for every event that may order goroutines, takes or releases a lock, or
	// says that a test failed, until f returns false: all but plain accesses, calls, returns
	// and allocations.
	Ordering(f func(*Event) bool)
	// AllAccesses calls f for every event that touches memory, until f returns false.
	AllAccesses(f func(*Event) bool)
	// Next is the first event of the goroutine after the number.
	Next(g uint32, after uint64) (Event, bool)
	// LastStore is the last event before the number that wrote to the memory.
	LastStore(addr uint64, size uint32, before uint64) (Event, bool)
	// Accesses calls f for every event between the numbers, both included, that
	// touched the memory, until f returns false.
	Accesses(addr uint64, size uint32, from, to uint64, f func(*Event) bool)
	// AccessesBefore calls f for every event before the number that touched the memory, the
	// last first, until f returns false.
	AccessesBefore(addr uint64, size uint32, before uint64, f func(*Event) bool)
	// Shared reports whether more than one goroutine accesses the memory, or words that it
	// has a part of.
	Shared(addr uint64, size uint32) bool
	// Allocation is the event that allocated the memory last before the number, and
	// the number of the event up to which the memory was nothing else: it was not allocated
	// again.
	Allocation(addr uint64, before uint64) (e Event, until uint64, ok bool)
	// Frame tells the frame that called a frame, and the site of the event that entered it.
	Frame(id uint32) (parent uint32, site uint32, ok bool)
	// BadAddress reports whether the program could not use the memory just before the
	// event with the number: it was not there, or not any more.
	BadAddress(addr uint64, before uint64) bool
}

// MemoryAt is what size bytes at addr held just before the event with the number.
// What no event says is not known.
func MemoryAt(t Trace, addr uint64, size int, before uint64) ir.Value {
	buf := make([]byte, size)
	have := make([]bool, size)
	left := size
	fill := func(event *Event, b []byte) {
		for i := range buf {
			off := addr + uint64(i) - event.Addr
			if !have[i] && addr+uint64(i) >= event.Addr && off < uint64(len(b)) {
				buf[i], have[i] = b[off], true
				left--
			}
		}
	}
	for at := before; left > 0; {
		event, ok := t.LastStore(addr, uint32(size), at)
		if !ok {
			break
		}
		if event.Map {
			return ir.Unknown(size)
		}
		// A part of this store may have been overwritten by one that was found before;
		// fill leaves bytes alone that it has.
		if event.After == nil && event.Touches(addr, uint32(size)) {
			return ir.Unknown(size)
		}
		fill(&event, event.After)
		at = event.Seq
	}
	if left > 0 {
		// No store before wrote these bytes: they held what the first access after finds.
		t.Accesses(addr, uint32(size), before, t.Last(), func(event *Event) bool {
			if event.Map {
				return true
			}
			fill(event, event.Before)
			if event.Writes() && event.Before == nil {
				return false
			}
			return left > 0
		})
	}
	if left > 0 {
		if a, _, ok := t.Allocation(addr, before); ok {
			fill(&a, make([]byte, a.Size))
		}
	}
	if left > 0 {
		// A load before says it too, since no store came between.
		t.Accesses(addr, uint32(size), 1, before, func(event *Event) bool {
			if event.Kind == KindLoad && !event.Map {
				fill(event, event.Before)
			}
			return left > 0
		})
	}
	if left > 0 {
		return ir.Unknown(size)
	}
	return ir.Bytes(buf)
}
