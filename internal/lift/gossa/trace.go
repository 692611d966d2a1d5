package gossa

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Trace is a recorded run as the engine reads it. It holds nothing of the run but a
// place in it for each goroutine.
type Trace struct {
	reader  *trace.Reader
	last    uint64
	cursors map[cursorKey]*trace.Cursor
	err     error
}

// A cursorKey is where reading a goroutine's events has got to: the engine reads them
// one after the other, and now and then looks ahead.
type cursorKey struct {
	g   uint32
	seq uint64
}

const maxCursors = 64

// NewTrace makes a Trace of an open file.
func NewTrace(r *trace.Reader) *Trace {
	t := &Trace{reader: r, cursors: map[cursorKey]*trace.Cursor{}}
	_, t.last, _ = r.Bounds()
	return t
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
	for c.Next() {
		if event := engineEvent(c.Event()); !do(&event) {
			return
		}
	}
	t.fail(c.Err())
}

func (t *Trace) All(after uint64, do func(*exec.Event) bool) { t.each(trace.Filter{}, after, do) }

// Next reads on where the last event of the goroutine was read, if it can: the engine follows
// one goroutine at a time.
func (t *Trace) Next(g uint32, after uint64) (exec.Event, bool) {
	c := t.cursors[cursorKey{g, after}]
	if c == nil {
		c = t.reader.Cursor(trace.Filter{Goroutines: []uint32{g}})
		c.Seek(after + 1)
	}
	delete(t.cursors, cursorKey{g, after})
	if !c.Next() {
		t.fail(c.Err())
		return exec.Event{}, false
	}
	event := engineEvent(c.Event())
	if len(t.cursors) >= maxCursors {
		clear(t.cursors)
	}
	t.cursors[cursorKey{g, event.Seq}] = c
	return event, true
}

func (t *Trace) LastStore(addr uint64, size uint32, before uint64) (exec.Event, bool) {
	e, err := t.reader.LastStore(addr, uint64(size), before)
	t.fail(err)
	if e == nil {
		return exec.Event{}, false
	}
	return engineEvent(e), true
}

func (t *Trace) Accesses(addr uint64, size uint32, from, to uint64, do func(*exec.Event) bool) {
	if from > to {
		return
	}
	t.each(trace.Filter{Addr: addr, Size: uint64(size), Kinds: trace.Accesses(), First: from, Last: to}, max(from, 1)-1, do)
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
