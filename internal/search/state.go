package search

import (
	"encoding/binary"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A State is all that a pass has come to between two calls of Run, so that another process can go on
// with it.
type State struct {
	Plan sched.PlanState
	Sum  wire.Summary
	Over bool
	// Prints are the fingerprints of runs, 8 bytes each.
	Prints    []byte
	Held      sched.Held
	UnitTakes time.Duration
}

// State returns what the pass has come to.
func (x *Pass) State() *State {
	s := &State{Plan: x.plan.State(), Sum: x.Sum, Over: x.Over, Held: x.held, UnitTakes: x.unitTakes, Prints: make([]byte, 0, 8*len(x.prints))}
	for print := range x.prints {
		s.Prints = binary.LittleEndian.AppendUint64(s.Prints, print)
	}
	return s
}

// Restore has a new pass go on where another one with the same options was left, which gathers
// all failures.
func (x *Pass) Restore(s *State) {
	x.plan.Restore(&s.Plan)
	x.Sum, x.Over, x.held, x.unitTakes = s.Sum, s.Over, s.Held, s.UnitTakes
	x.fingerprints(s.Prints)
}
