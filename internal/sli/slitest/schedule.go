package slitest

import (
	"errors"
	"iter"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// An Outcome is how one schedule of a program ended.
type Outcome struct {
	// Simulation has the memory as it was at the end.
	Simulation *Simulation
	Log        *exec.Log
	// Failure has no Cause if there was none.
	Failure exec.Failure
	// Deadlock says that no goroutine could go on.
	Deadlock bool
	// Err says why the program could not be simulated.
	Err error
}

// Schedules runs fn under every schedule that changes goroutines only before
// instructions that another goroutine can notice. setup makes a simulation that is
// ready to run; it is called for each schedule, because a run uses the memory up.
//
// No schedule is left out and none is guessed to be equal to another, which is what
// makes the outcomes fit to judge a search that is cleverer. The price is a number of
// runs that grows exponentially with the program.
func Schedules(setup func() *Simulation, fn *ir.Func) iter.Seq[Outcome] {
	return func(yield func(Outcome) bool) {
		var taken, options []int // of each choice: the one taken, and how many there are
		for {
			s := setup()
			depth := 0
			current := uint32(0)
			s.Pick = func(ready []uint32) uint32 {
				if slices.Contains(ready, current) && !noticeable(s.Next(current)) {
					return current
				}
				if depth == len(taken) {
					taken, options = append(taken, 0), append(options, len(ready))
				}
				current = ready[taken[depth]]
				depth++
				return current
			}
			o := Outcome{Simulation: s}
			o.Log, o.Failure, o.Err = s.Run(fn)
			if errors.Is(o.Err, ErrStuck) {
				o.Deadlock, o.Err = true, nil
			}
			if !yield(o) {
				return
			}
			for len(taken) > 0 && taken[len(taken)-1]+1 == options[len(taken)-1] {
				taken, options = taken[:len(taken)-1], options[:len(taken)-1]
			}
			if len(taken) == 0 {
				return
			}
			taken[len(taken)-1]++
		}
	}
}

// noticeable reports whether other goroutines can notice that the instruction was
// executed, or the instruction depends on what others did.
func noticeable(in *ir.Instr) bool {
	switch in.Op {
	case ir.Load, ir.Store, ir.Update:
		return !in.Private
	case ir.Sync, ir.Spawn, ir.RunDefers:
		return true
	case ir.Call:
		return in.Callee == nil
	}
	return false
}
