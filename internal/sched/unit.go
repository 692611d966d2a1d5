package sched

// A Unit is a part of a search that a process does by itself. What comes of it depends on
// the unit and the program alone: not on the process that does it, nor on when, nor on what was done before.
type Unit struct {
	Method Method
	// Runs and Steps end the unit: so many runs, or the run in which all of them together
	// have taken so many steps. 0 is no limit.
	Runs  int    `json:",omitempty"`
	Steps uint64 `json:",omitempty"`

	// By chance: the seed, the number of the first run, and the Length and StallLength that
	// earlier units had at their end.
	Seed        uint64 `json:",omitempty"`
	From        uint64 `json:",omitempty"`
	Length      uint64 `json:",omitempty"`
	StallLength uint64 `json:",omitempty"`

	// By MethodDFS: the sequence of random numbers, the subtree and the bound. Limited gives
	// it up where a run is so long that the tree is hopeless.
	Chance  uint64 `json:",omitempty"`
	Root    Path   `json:",omitzero"`
	Bound   int    `json:",omitempty"`
	Limited bool   `json:",omitempty"`

	// By MethodReplay: the schedule, as text. It is one run.
	Schedule string `json:",omitempty"`
}

// How long the runs of a limited unit may be. A Subtree keeps all nodes of a run in mind,
// and looks through them at each choice.
const (
	limitedNodes   = 20_000
	limitedChoices = 500
)

// Strategy returns what does the unit; nil if there is no such method, or no such schedule.
func (u *Unit) Strategy() Strategy {
	switch u.Method {
	case MethodPCT:
		s := NewPCT(u.Seed, 0).from(u.From, u.Length)
		s.stalls.length = u.StallLength
		return s
	case MethodRandom:
		s := NewRandom(u.Seed).from(u.From)
		s.stalls.length = u.StallLength
		return s
	case MethodDFS:
		s := NewSubtree(u.Root, u.Bound)
		s.chance = u.Chance
		if u.Limited {
			s.Limit(limitedNodes, limitedChoices)
		}
		return s
	case MethodReplay:
		if s, err := ParseSchedule(u.Schedule); err == nil {
			return NewReplay(s)
		}
	}
	return nil
}

// A UnitDone is what came of a unit, as far as the rest of the search is concerned.
type UnitDone struct {
	Runs   int    `json:",omitempty"`
	Steps  uint64 `json:",omitempty"` // of all runs
	CutOff int    `json:",omitempty"` // runs that did not come to their end
	// Length is what PCT has learnt, StallLength what strategies by chance have.
	Length      uint64 `json:",omitempty"`
	StallLength uint64 `json:",omitempty"`
	// Fresh is how many of the runs were unlike all of the units before. It is
	// filled in where the fingerprints of all units come together.
	Fresh int `json:"-"`

	// By MethodDFS: the runs that did not repeat the one that they start from, that the
	// unit was given up, and that there is nothing to choose in the whole program; what is
	// left.
	Diverged   int  `json:",omitempty"`
	Abandoned  bool `json:",omitempty"`
	Sequential bool `json:",omitempty"`
	// What the runs came upon: random numbers of the sequence, stalls, choices by chance.
	Drew   bool `json:",omitempty"`
	Stalls bool `json:",omitempty"`
	Draws  bool `json:",omitempty"`
	// A goroutine was kept from going round a loop again; and it might have done something there.
	KeptBack bool `json:",omitempty"`
	Rounds   bool `json:",omitempty"`
	Harvest  `json:",omitzero"`
}

// Done returns what came of a unit that a strategy was doing, but for the steps of its
// runs, which strategies do not count.
func (u *Unit) Done(s Strategy) UnitDone {
	p := s.Progress()
	done := UnitDone{Runs: int(p.Runs), CutOff: int(p.CutOff), Diverged: int(p.Diverged)}
	switch s := s.(type) {
	case *PCT:
		done.Length, done.StallLength = s.length, s.stalls.length
	case *Random:
		done.StallLength = s.stalls.length
	case *Subtree:
		done.Drew, done.Stalls, done.Draws = s.drew, s.stalls, s.draws
		done.KeptBack, done.Rounds = s.keptBack, s.rounds
		done.Abandoned = s.abandoned
		done.Sequential = s.runs == 1 && s.choices == 0 && s.fixed == 0 && !s.drew
		if !s.abandoned {
			done.Harvest = s.Harvest()
		}
	}
	return done
}
