package gossa

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Failures are the failures of a trace that the engine can start from, those that
// crashed before those that did not.
func (p *Program) Failures(t *Trace, o *trace.Outcome) []exec.Failure {
	var crashes, races []exec.Failure
	for i := range o.Failures {
		failure := &o.Failures[i]
		switch failure.Kind {
		case event.FailurePanic:
			crashes = append(crashes, exec.Failure{Cause: causeOf(failure.Cause), G: failure.G, CrashedAt: p.crashedAt(failure)})
		case event.FailureTest:
			crashes = append(crashes, exec.Failure{Cause: ir.Assertion, G: failure.G})
		case event.FailureFatal:
			if failure.Cause == event.ConcurrentMap {
				if x, ok := t.mapConflict(failure); ok {
					races = append(races, x)
				}
			}
		case event.FailureRace:
			if x, ok := t.eventsOfRace(failure); ok {
				races = append(races, x)
			}
		}
	}
	return append(crashes, races...)
}

// causeOf is what the engine calls the cause of a panic.
func causeOf(cause event.FailureCause) ir.Cause {
	switch cause {
	case event.NilPointer:
		return ir.NilDereference
	case event.OutOfRange:
		return ir.OutOfRange
	case event.WrongType:
		return ir.WrongType
	case event.DivideByZero:
		return ir.DivideByZero
	}
	return ir.Panic
}

// crashedAt finds the line of the innermost call of the panic that is the program's.
func (p *Program) crashedAt(failure *trace.Failure) func(*ir.Instr) bool {
	for _, c := range failure.Stack {
		if !p.files[c.File] {
			continue
		}
		return func(in *ir.Instr) bool {
			if o := p.origins[in.Origin]; o.Instr != nil && o.Instr.Pos().IsValid() {
				if at := p.Fset.PositionFor(o.Instr.Pos(), false); at.Filename == c.File && at.Line == c.Line {
					return true
				}
			}
			at := p.Position(in)
			return at.Filename == c.File && at.Line == c.Line
		}
	}
	return nil
}

// eventsOfRace finds the events of the two accesses of a race.
func (t *Trace) eventsOfRace(failure *trace.Failure) (exec.Failure, bool) {
	if len(failure.Others) == 0 {
		return exec.Failure{}, false
	}
	x := exec.Failure{Cause: ir.Race, G: failure.G}
	is := func(e *exec.Event, p *trace.Point) bool {
		return e.G == p.G && e.Site == p.Site && (p.Frame == 0 || e.Frame == p.Frame)
	}
	a, b := &failure.Others[0], &failure.Point
	t.Accesses(failure.Addr, 1, 1, t.last, func(e *exec.Event) bool {
		switch {
		case is(e, a):
			x.Other = e.Seq
		case is(e, b) && x.Other != 0:
			x.Seq = e.Seq
			return false
		}
		return true
	})
	if b.Op == event.MapRead || b.Op == event.MapWrite {
		x.Cause = ir.MapConflict
	}
	return x, x.Seq != 0 && x.Other != 0
}

// mapConflict finds the accesses to a map that met. The second of them did not take
// place, so an earlier one at its site may have to stand for it.
func (t *Trace) mapConflict(failure *trace.Failure) (exec.Failure, bool) {
	x := exec.Failure{Cause: ir.MapConflict, G: failure.G}
	last := map[uint64]uint64{} // the last access of another goroutine, by map
	var other uint64
	t.each(trace.Filter{Kinds: []event.Kind{event.MapRead, event.MapWrite}}, 0, func(event *exec.Event) bool {
		if event.G != failure.G {
			last[event.Addr] = event.Seq
			other = event.Seq
		} else if event.Site == failure.Site {
			x.Seq = event.Seq
		}
		return true
	})
	if event, ok := t.Event(x.Seq); ok && last[event.Addr] != 0 {
		other = last[event.Addr]
	}
	x.Other = other
	return x, x.Other != 0
}
