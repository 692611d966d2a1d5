package explore

import (
	"github.com/cofferdam-go/cofferdam/internal/search"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A SearchState is all that a Search for all failures has come to between two turns, for another
// process to go on with.
type SearchState struct {
	Warm, Cold *search.State
	// All says that Cold stands for the whole search; WhyCold is why there is one, Ended why Warm
	// ended, NotBeside why there is one process at a time.
	All                       bool
	WhyCold, Ended, NotBeside *Ended
	Deaths                    []Death
}

// State returns what the search has come to.
func (s *Search) State() *SearchState {
	state := &SearchState{Warm: s.warm.State(), All: s.all, WhyCold: endedBy(s.whyCold), Ended: endedBy(s.ended), NotBeside: endedBy(s.notBeside)}
	if s.cold != nil {
		state.Cold = s.cold.State()
		for _, died := range s.cold.deaths {
			state.Deaths = append(state.Deaths, *died.death())
		}
	}
	return state
}

// Restore has a new search go on where another one with the same target and options was left.
func (s *Search) Restore(state *SearchState) {
	s.warm.Restore(state.Warm)
	s.all, s.ended, s.notBeside = state.All, state.Ended.err(), state.NotBeside.err()
	if state.Cold == nil {
		return
	}
	s.whyCold, s.cold = state.WhyCold.err(), newPass(s.p, s.target, s.o, true)
	s.cold.Restore(state.Cold)
	for i := range state.Deaths {
		s.cold.noteDeath(state.Deaths[i].err())
	}
}

// Renumbered is what is left of the state where the sites of the program have other numbers, since
// other packages were built together with it: how many runs there were, and which by chance.
func (s *SearchState) Renumbered() *SearchState {
	renumbered := func(is *search.State) *search.State {
		if is == nil {
			return nil
		}
		sum := wire.Summary{Progress: wire.Progress{Runs: is.Sum.Runs, Cut: is.Sum.Cut, Steps: is.Sum.Steps}, Passed: is.Sum.Passed, Residue: is.Sum.Residue, Before: is.Sum.Before}
		return &search.State{Plan: is.Plan.Renumbered(), Sum: sum, Held: is.Held, UnitTakes: is.UnitTakes}
	}
	left := *s
	left.Warm, left.Cold = renumbered(s.Warm), renumbered(s.Cold)
	return &left
}

// A Gathered failure is one that a search for all has come upon. It is to be believed when Confirm
// has seen it again.
type Gathered struct {
	wire.Found
	Fresh   bool         // it was in a process of its own
	Residue wire.Residue // that the runs of its process met
	Death   *Death       // how the program died, if that is the failure
}

// Gathered returns the failures of all runs that count, those of the worst kind first.
func (s *Search) Gathered() []Gathered {
	var all []Gathered
	for _, g := range s.gathered() {
		one := Gathered{Found: g.found, Fresh: g.pass.fresh, Residue: g.pass.Sum.Residue}
		if died := g.pass.deaths[g.found.Message]; died != nil && g.found.Schedule == "" {
			one.Death = died.death()
		}
		all = append(all, one)
	}
	return all
}

// Reached is how far the search is: its runs, how many schedules it has seen that are unlike each
// other, and what was tried.
func (s *Search) Reached() (sum wire.Summary) {
	switch {
	case s.cold == nil:
		return s.warm.Sum
	case s.all:
		return s.cold.Sum
	}
	sum, _ = both(&s.warm.Sum, &s.cold.Sum)
	sum.Classes = s.warm.Sum.Classes + s.cold.Sum.Classes
	return sum
}
