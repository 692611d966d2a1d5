package drive

import (
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
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
		case f.Op != event.None:
			t.Point = point(r, f.G, f.Op, f.Site, f.Frame, 0)
		case f.Kind == event.FailureExit:
			t.Point = point(r, f.G, event.Exit, f.Site, f.Frame, 0)
		}
		t.Waiting = waiters(r, f.Blocked)
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

// waiters are goroutines that wait, those that do so in the same way together.
func waiters(r *rt.Result, all []rt.Blocked) []trace.Waiter {
	var out []trace.Waiter
	for i := range all {
		w := waiter(r, &all[i])
		if at := slices.IndexFunc(out, func(v trace.Waiter) bool { return alike(&v, &w) }); at >= 0 {
			out[at].More = append(out[at].More, w.G)
		} else {
			out = append(out, w)
		}
	}
	return out
}

// alike reports whether there is nothing to say of one goroutine that is not said of the
// other.
func alike(v, w *trace.Waiter) bool {
	return v.Op == w.Op && v.Site == w.Site && v.Shape == w.Shape && v.Library == w.Library && v.Length == w.Length && v.Capacity == w.Capacity &&
		slices.Equal(v.Stack, w.Stack) && len(v.Holds) == 0 && len(w.Holds) == 0 &&
		slices.EqualFunc(v.HeldBy, w.HeldBy, func(a, b trace.Hold) bool { return a.G == b.G && a.Site == b.Site })
}

// waiter is a goroutine that waits, as a trace has it.
func waiter(r *rt.Result, b *rt.Blocked) trace.Waiter {
	return trace.Waiter{
		Point: point(r, b.G, b.Op.Kind, b.Op.Site, b.Frame, b.Op.Addr), Shape: b.Shape, Library: b.Library,
		Holds: holds(r, b.Holds), HeldBy: holds(r, b.HeldBy),
		Length: b.Length, Capacity: b.Capacity, Count: b.Count, Unheard: b.Unheard,
	}
}

func holds(r *rt.Result, all []rt.Held) []trace.Hold {
	var out []trace.Hold
	for _, h := range all {
		out = append(out, trace.Hold{Point: point(r, h.G, h.Kind, h.Site, h.Frame, h.Addr), Ended: h.Ended, Returned: h.Returned})
	}
	return out
}

// lateGoroutines are those of a run that was cut off that are told why.
func lateGoroutines(r *rt.Result, late []rt.Late) []wire.Late {
	var all []wire.Late
	for _, l := range late {
		p := point(r, l.G, event.Outside, l.Site, l.Frame, 0)
		if len(l.PCs) > 0 {
			p.Op, p.Stack = event.None, calls(l.PCs)
		} else if pc, ok := r.Frames.PC(l.Site); ok {
			p.Stack = append(calls([]uintptr{pc}), p.Stack...)
		}
		all = append(all, wire.Late{Waits: l.Waits, Point: p})
	}
	return all
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
	var all []trace.Call
	for _, pc := range pcs {
		at, known := callsAt[pc]
		if !known {
			at = resolve(pc)
			callsAt[pc] = at
		}
		all = append(all, at...)
	}
	return all
}

// callsAt are the calls that return addresses stand for. A search comes to the same ones again
// in every run that has a race.
var callsAt = map[uintptr][]trace.Call{}

// resolve returns the calls that a return address stands for: several where functions were
// inlined.
func resolve(pc uintptr) []trace.Call {
	var all []trace.Call
	for frames := runtime.CallersFrames([]uintptr{pc}); ; {
		f, more := frames.Next()
		if f.Function != "" {
			all = append(all, trace.Call{Function: programName(f.Function), File: f.File, Line: f.Line})
		}
		if !more {
			return all
		}
	}
}

// programName is what the program calls a function: its main function, with the literals in it, is
// called by another one, and so has another name (package hooks).
func programName(function string) string {
	name, isMain := strings.CutPrefix(function, "main.")
	rest, renamed := strings.CutPrefix(strings.TrimLeft(name, "_"), "cofferdamMain")
	if isMain && renamed && (rest == "" || rest[0] == '.') {
		return "main.main" + rest
	}
	return function
}
