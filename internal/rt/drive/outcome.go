package drive

import (
	"runtime"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// outcome is what a result says, as a trace has it.
func outcome(r *rt.Result) *trace.Outcome {
	o := &trace.Outcome{Steps: r.Steps, Virtual: time.Duration(r.Now)}
	switch {
	case r.Failed():
		o.Result = event.Failed
	case r.CutOff:
		o.Result = event.CutOff
	}
	for i := range r.Failures {
		f := &r.Failures[i]
		t := trace.Failure{
			Kind:    f.Kind,
			Cause:   causeOf(f.Kind, f.Message),
			Message: f.Message,
			Point:   trace.Point{G: f.G, Site: f.Site, Frame: f.Frame, Stack: calls(f.PCs)},
		}
		switch {
		case len(f.PCs) == 0 && f.Kind == event.FailureFatal:
			op := event.MapWrite
			if t.Cause == event.UnlockOfUnlocked {
				op = event.Unlock
			}
			t.Point = point(r, f.G, op, f.Site, f.Frame, 0)
		case f.Kind == event.FailureExit:
			t.Point = point(r, f.G, event.Exit, f.Site, f.Frame, 0)
		}
		for _, b := range f.Blocked {
			t.Others = append(t.Others, point(r, b.G, b.Op.Kind, b.Op.Site, b.Frame, b.Op.Addr))
		}
		o.Failures = append(o.Failures, t)
	}
	for _, race := range r.Races {
		a, b := race.First, race.Second
		o.Failures = append(o.Failures, trace.Failure{
			Kind:    event.FailureRace,
			Message: a.Kind.String() + " and " + b.Kind.String() + " of the same memory, with nothing to order them",
			Point:   point(r, b.G, b.Kind, b.Site, b.Frame, b.Addr),
			Others:  []trace.Point{point(r, a.G, a.Kind, a.Site, a.Frame, a.Addr)},
		})
	}
	for _, w := range r.Outside {
		o.Outside = append(o.Outside, w.What)
	}
	return o
}

// point is an operation with the calls that it is in: what is known of each is where it
// returns to, so that the innermost line is that of the operation's own site.
func point(r *rt.Result, g uint32, k event.Kind, site, frame uint32, addr uintptr) trace.Point {
	var pcs []uintptr
	for _, c := range r.Frames.Stack(frame) {
		pcs = append(pcs, c.PC)
	}
	return trace.Point{Op: k, G: g, Site: site, Frame: frame, Addr: uint64(addr), Stack: calls(pcs)}
}

// calls resolves a stack of return addresses.
func calls(pcs []uintptr) []trace.Call {
	if len(pcs) == 0 {
		return nil
	}
	var all []trace.Call
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		if f.Function != "" {
			all = append(all, trace.Call{Function: f.Function, File: f.File, Line: f.Line})
		}
		if !more {
			return all
		}
	}
}
