package gossa

import (
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Trace is a recorded run as the engine reads it: most of it goroutine by goroutine, for
// which it has the streams of the run.
type Trace struct {
	// Interrupted, if it is set, is asked now and then, and ends reading with its error.
	Interrupted func() error

	reader  *trace.Reader
	last    uint64
	streams *trace.Streams // nil until they are needed
	err     error
}

// keptBlocks is how many blocks of the file are kept decoded: all of a run of half a million
// events, some 100 MB.
const keptBlocks = 128

// NewTrace makes a Trace of an open file.
func NewTrace(r *trace.Reader) *Trace {
	r.KeepBlocks(keptBlocks)
	t := &Trace{reader: r}
	_, t.last, _ = r.Bounds()
	return t
}

// orderingKinds are the kinds of events that may order goroutines.
var orderingKinds = slices.DeleteFunc(event.Kinds(), func(k event.Kind) bool {
	e := engineEvent(&event.Event{Kind: k, Arg: 1<<64 - 1}) // of a WaitGroup, counting down
	return !e.Orders() && k != event.TryLock && k != event.TryRLock
})

// split returns the streams of the trace; nil if it cannot be read.
func (t *Trace) split() *trace.Streams {
	if t.streams == nil && t.err == nil {
		var err error
		t.streams, err = t.reader.Streams(orderingKinds, t.Interrupted)
		t.fail(err)
	}
	return t.streams
}

// Err is the first error of reading the file. What was read until then was used.
func (t *Trace) Err() error { return t.err }

// fail keeps the first error of reading the file. Queries have no error of their own: the
// analysis ends with what was read, and its caller asks Err.
func (t *Trace) fail(err error) {
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("reading the trace: %w", err)
	}
}

func (t *Trace) Last() uint64 { return t.last }

func (t *Trace) Event(seq uint64) (exec.Event, bool) {
	e, err := t.reader.At(seq)
	t.fail(err)
	if e == nil {
		return exec.Event{}, false
	}
	return engineEvent(e), true
}

// each calls do with the events after a number that pass the filter.
func (t *Trace) each(f trace.Filter, after uint64, do func(*exec.Event) bool) {
	c := t.reader.Cursor(f)
	c.Seek(after + 1)
	for n := 1; c.Next(); n++ {
		if event := engineEvent(c.Event()); !do(&event) {
			return
		}
		if n%eventsBetweenQuestions == 0 && t.interrupted() {
			return
		}
	}
	t.fail(c.Err())
}

// interrupted reports whether reading is to end.
func (t *Trace) interrupted() bool {
	if t.Interrupted != nil {
		t.fail(t.Interrupted())
	}
	return t.err != nil
}

// eventsBetweenQuestions is how many events are read between two questions whether to go on.
const eventsBetweenQuestions = 1 << 14

func (t *Trace) AllAccesses(do func(*exec.Event) bool) {
	t.each(trace.Filter{Kinds: trace.Accesses()}, 0, do)
}

func (t *Trace) Goroutines() []uint32 {
	all, _ := t.reader.Goroutines()
	return all
}

func (t *Trace) Ordering(do func(*exec.Event) bool) {
	streams := t.split()
	if streams == nil {
		return
	}
	for e := streams.NextChosen(0); e != nil; e = streams.NextChosen(e.Seq) {
		if event := engineEvent(e); event.Orders() && !do(&event) {
			return
		}
	}
}

func (t *Trace) Next(g uint32, after uint64) (exec.Event, bool) {
	streams := t.split()
	if streams == nil {
		return exec.Event{}, false
	}
	e := streams.Next(g, after)
	if e == nil {
		return exec.Event{}, false
	}
	return engineEvent(e), true
}

func (t *Trace) LastStore(addr uint64, size uint32, before uint64) (exec.Event, bool) {
	streams := t.split()
	if streams == nil {
		return exec.Event{}, false
	}
	e, err := streams.LastStore(addr, uint64(size), before)
	t.fail(err)
	if e == nil {
		return exec.Event{}, false
	}
	return engineEvent(e), true
}

func (t *Trace) Accesses(addr uint64, size uint32, from, to uint64, do func(*exec.Event) bool) {
	if streams := t.split(); streams != nil {
		t.fail(streams.Forward(addr, uint64(size), max(from, 1), to, t.eachEngineEvent(do)))
	}
}

func (t *Trace) AccessesBefore(addr uint64, size uint32, before uint64, do func(*exec.Event) bool) {
	if streams := t.split(); streams != nil {
		t.fail(streams.Backward(addr, uint64(size), before, t.eachEngineEvent(do)))
	}
}

// eachEngineEvent calls a function with events in the engine's terms, until it is to end.
func (t *Trace) eachEngineEvent(do func(*exec.Event) bool) func(*event.Event) bool {
	n := 0
	return func(e *event.Event) bool {
		if n++; n%eventsBetweenQuestions == 0 && t.interrupted() {
			return false
		}
		event := engineEvent(e)
		return do(&event)
	}
}

func (t *Trace) Shared(addr uint64, size uint32) bool {
	streams := t.split()
	return streams != nil && streams.Shared(addr, uint64(size))
}

// Allocation never ends: nothing is collected while a controlled run lasts.
func (t *Trace) Allocation(addr uint64, before uint64) (exec.Event, uint64, bool) {
	if before == 0 {
		return exec.Event{}, 0, false
	}
	e, err := t.reader.Allocation(addr, before-1)
	t.fail(err)
	if e == nil {
		return exec.Event{}, 0, false
	}
	return engineEvent(e), t.last, true
}

// BadAddress is true of the page at 0 alone: nothing is unmapped or collected while a
// controlled run lasts.
func (t *Trace) BadAddress(addr uint64, _ uint64) bool { return addr < ir.FirstPage }

func (t *Trace) Frame(id uint32) (parent, site uint32, ok bool) {
	if streams := t.split(); streams != nil {
		if parent, site, ok := streams.Frame(id); ok {
			return parent, site, ok
		}
	}
	f, err := t.reader.Frame(id)
	if err != nil {
		return 0, 0, false
	}
	return f.Parent, f.Site, true
}

// engineEvent puts an event into the engine's terms. What the program's operations
// order is said by releases and acquires.
func engineEvent(e *event.Event) exec.Event {
	x := exec.Event{
		Seq: e.Seq, G: e.G, Site: e.Site, Frame: e.Frame, Addr: e.Addr, Size: max(e.Size, 1), Arg: e.Arg,
		Atomic: e.Kind.IsAtomic(), Before: e.Before, After: e.After,
	}
	switch e.Kind {
	case event.MapRead, event.MapWrite:
		x.Map, x.Before, x.After = true, nil, nil
	}
	switch e.Kind {
	case event.Load, event.MapRead, event.AtomicLoad:
		x.Kind = exec.KindLoad
	case event.Store, event.MapWrite, event.AtomicStore:
		x.Kind = exec.KindStore
	case event.AtomicUpdate, event.AtomicCompare:
		x.Kind = exec.KindUpdate
	case event.Alloc:
		x.Kind = exec.KindAlloc
	case event.Call:
		x.Kind = exec.KindCall
	case event.Return:
		x.Kind = exec.KindReturn
	case event.Go:
		x.Kind = exec.KindSpawn
	case event.Start:
		x.Kind = exec.KindStart
	case event.End:
		x.Kind = exec.KindEnd
	case event.Panic, event.Exit:
		x.Kind = exec.KindCrash
	case event.Fail:
		x.Kind = exec.KindFail
	case event.Lock:
		x.Kind = exec.KindLock
	case event.RLock:
		x.Kind = exec.KindRLock
	case event.TryLock, event.TryRLock:
		switch {
		case e.Arg != 1:
		case e.Kind == event.TryLock:
			x.Kind = exec.KindLock
		default:
			x.Kind = exec.KindRLock
		}
	case event.Unlock:
		x.Kind = exec.KindUnlock
	case event.RUnlock:
		x.Kind = exec.KindRUnlock
	case event.Send:
		x.Kind = exec.KindSend
	case event.Recv:
		x.Kind = exec.KindRecv
	case event.Close, event.Signal, event.Broadcast, event.PoolPut, event.TimerStart,
		event.NetListen, event.NetDial, event.NetWrite, event.NetClose, event.NetDeadline, event.FileWrite:
		x.Kind = exec.KindRelease
	case event.WaitGroupAdd:
		if int64(e.Arg) < 0 {
			x.Kind = exec.KindRelease
		}
	case event.WaitGroupWait, event.CondWait, event.PoolGet, event.TimerFire, event.NetAccept, event.NetRead, event.FileRead:
		x.Kind = exec.KindAcquire
	case event.Gosched, event.ChanLen, event.Select, event.Sleep, event.TimerStop, event.Blocked, event.Outside, event.Random, event.ReadClock, event.Stall:
	default:
		panic(fmt.Sprintf("gossa: event of kind %v", e.Kind))
	}
	return x
}
