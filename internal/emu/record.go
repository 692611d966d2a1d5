package emu

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Recorder writes what a process does to a trace.
type Recorder struct {
	w      *trace.Writer
	seq    uint64
	frames uint32
	stacks [][]uint32 // the frames that each thread is in, by its number
	err    error
}

// Record has a process write all it does from now on to a trace. Its error is told by
// Finish.
func Record(p *linux.Process, w *trace.Writer) *Recorder {
	r := &Recorder{w: w}
	p.Watch(r.turn)
	return r
}

// maxDepth is how many frames of a thread are kept. What leaves frames in another way than
// by returning (longjmp, exceptions) would make them ever more.
const maxDepth = 1 << 12

// turn writes down what a thread did. Runs of plain accesses, which is what nearly all are,
// go to the trace as they are.
func (r *Recorder) turn(t *linux.Thread, done []event.Access) {
	for int(t.Number) >= len(r.stacks) {
		r.stacks = append(r.stacks, nil)
	}
	stack := r.stacks[t.Number]
	frame := uint32(0)
	if len(stack) > 0 {
		frame = stack[len(stack)-1]
	}
	first := 0
	for i := range done {
		a := &done[i]
		r.seq++
		a.Seq, a.G, a.Frame = r.seq, t.Number, frame
		if a.Kind == event.Load || a.Kind == event.Store {
			continue
		}
		r.accesses(done[first:i])
		first = i + 1
		switch a.Kind {
		case event.Call:
			r.frames++
			r.event(&event.Event{Seq: a.Seq, G: a.G, Kind: event.Call, Site: a.Site, Frame: r.frames, Addr: a.Addr, Arg: uint64(frame)})
			frame = r.frames
			if len(stack) < maxDepth {
				stack = append(stack, frame)
			}
		case event.Return:
			r.event(&event.Event{Seq: a.Seq, G: a.G, Kind: event.Return, Site: a.Site, Frame: frame})
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
			if frame = 0; len(stack) > 0 {
				frame = stack[len(stack)-1]
			}
		default:
			r.other(a)
		}
	}
	r.accesses(done[first:])
	r.stacks[t.Number] = stack
}

func (r *Recorder) accesses(all []event.Access) {
	if len(all) > 0 && r.err == nil {
		r.err = r.w.Accesses(all)
	}
}

// other writes an event that is neither a plain access nor a call.
func (r *Recorder) other(a *event.Access) {
	e := &event.Event{Seq: a.Seq, G: a.G, Kind: a.Kind, Site: a.Site, Frame: a.Frame, Addr: a.Addr, Size: uint32(a.Size)}
	switch {
	case a.Kind.IsAtomic():
		e.Before = binary.LittleEndian.AppendUint64(nil, a.Before)[:a.Size]
		e.After = binary.LittleEndian.AppendUint64(nil, a.After)[:a.Size]
		if a.Kind == event.AtomicCompare && a.Before != a.After {
			e.Arg = 1
		}
	default:
		e.Arg = a.After
	}
	r.event(e)
}

func (r *Recorder) event(e *event.Event) {
	if r.err == nil {
		r.err = r.w.Event(e)
	}
}

// Finish writes the table of sites, which are the instructions of the process that events
// can happen at, and returns the first error there was.
func (r *Recorder) Finish(p *linux.Process) error {
	p.Watch(nil)
	if r.err != nil {
		return r.err
	}
	symbols := NewSymbols(p.Mem)
	var sites []trace.Site
	for n, s := range p.Code.Sites() {
		if !s.Inst.Notable() {
			continue
		}
		file := symbols.File(s.PC)
		site := trace.Site{ID: n, Package: file, File: file, Function: symbols.Name(s.PC), Expr: s.Inst.Text(s.PC, symbols.Name)}
		if source, line := symbols.Line(s.PC); line > 0 {
			site.File, site.Line = source, line
		}
		sites = append(sites, site)
	}
	slices.SortFunc(sites, func(a, b trace.Site) int { return cmp.Compare(a.ID, b.ID) })
	return r.w.SetSites(sites)
}

// Events returns how many events were written.
func (r *Recorder) Events() uint64 { return r.seq }

// Fail writes that a thread failed, as the last event of a run. The failure learns its
// number.
func (r *Recorder) Fail(f *trace.Failure) {
	r.seq++
	f.Seq = r.seq
	r.event(&event.Event{Seq: r.seq, G: max(f.G, 1), Kind: event.Fail, Site: f.Site})
}
