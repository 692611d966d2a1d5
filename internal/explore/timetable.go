package explore

import (
	"cmp"
	"slices"
	"time"
)

// A Timetable divides the time of several searches among them. It decides by what it is
// told, and looks at no clock.
//
// Each search has a short first turn, in the order that they are given in: most tests have
// few schedules, or fail soon. What is left is for the searches that are not over, in
// rounds, each of which takes half of it. Half of a round is divided evenly, so that a
// search with slow runs is not left out, and half by how much that is new a search has shown
// in a second of its last turn.
type Timetable struct {
	left     time.Duration
	searches []appointment
	untried  int   // searches without a first turn
	round    []int // searches that still have a turn in the present round
	// evenly has the first turn be an even part of the time.
	evenly bool
}

// An appointment is what a Timetable knows of a search.
type appointment struct {
	over  bool
	turn  time.Duration // in the present round
	shown float64       // by its last turn, for each second
}

const (
	// firstPart is which part of its even share a search has for its first turn: one in so
	// many.
	firstPart = 4
	// leastTurn is the least that is worth starting processes for.
	leastTurn = 250 * time.Millisecond
)

// NewTimetable returns one for so many searches. Evenly gives each an even part of the time
// at once, instead of a short first turn: where a search is of so many runs, and not of as
// many as there is time for, being left in between would change which they are.
func NewTimetable(total time.Duration, searches int, evenly bool) *Timetable {
	return &Timetable{left: total, searches: make([]appointment, searches), untried: searches, evenly: evenly}
}

// Next returns the search that is next, and for how long; false if the time is up, or all
// searches are over.
func (t *Timetable) Next() (search int, turn time.Duration, ok bool) {
	if t.left <= 0 {
		return 0, 0, false
	}
	if t.untried > 0 {
		share := t.left / time.Duration(t.untried)
		if len(t.searches) > 1 && !t.evenly {
			share = max(share/firstPart, min(share, leastTurn))
		}
		return len(t.searches) - t.untried, share, true
	}
	for {
		if len(t.round) == 0 && !t.newRound() {
			return 0, 0, false
		}
		if search := t.round[0]; !t.searches[search].over {
			return search, min(t.searches[search].turn, t.left), true
		}
		t.round = t.round[1:]
	}
}

// newRound gives turns to all searches that are not over, the most promising first; there
// may be none.
func (t *Timetable) newRound() bool {
	sum := 0.0
	for i := range t.searches {
		if s := &t.searches[i]; !s.over {
			t.round = append(t.round, i)
			sum += s.shown
		}
	}
	n := len(t.round)
	if n == 0 {
		return false
	}
	whole := t.left / 2
	if n == 1 || whole < time.Duration(n)*leastTurn {
		whole = t.left
	}
	for _, i := range t.round {
		s := &t.searches[i]
		even := whole / time.Duration(n)
		s.turn = even
		if sum > 0 {
			s.turn = even/2 + time.Duration(float64(whole/2)*s.shown/sum)
		}
		s.turn = max(s.turn, leastTurn)
	}
	slices.SortStableFunc(t.round, func(i, j int) int { return cmp.Compare(t.searches[j].turn, t.searches[i].turn) })
	return true
}

// A Turn is what came of a turn.
type Turn struct {
	Took time.Duration // whatever was done in it
	New  int           // distinct schedules that were not seen before
	Over bool          // the search has nothing left to do
}

// Had takes note of the turn of the search that was next.
func (t *Timetable) Had(search int, turn Turn) {
	s := &t.searches[search]
	s.over = turn.Over
	// With one more, a turn in which few runs fitted says little against a search.
	s.shown = float64(turn.New+1) / max(turn.Took.Seconds(), 0.001)
	t.left -= turn.Took
	if t.untried > 0 {
		t.untried--
	} else {
		t.round = t.round[1:]
	}
}
