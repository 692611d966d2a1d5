package judge

import (
	"crypto/sha256"
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// Options bound a search.
type Options struct {
	// States is how many states are explored at most; 0 means a million.
	States int
}

// A Verdict is how a program can end.
type Verdict struct {
	// Outcomes are all ways in which it ends, sorted by their text.
	Outcomes []Outcome
	// Races are the pairs of accesses that can come at the same time.
	Races []Race
	// States is how many states were explored.
	States int
	// Complete says that there are no others.
	Complete bool
	// Spins says that goroutines may go on for ever without an end in sight: there is a state
	// from which no outcome can be reached any more. It is known of complete verdicts.
	Spins bool
}

// An Outcome is how a run ended.
type Outcome struct {
	Ending Ending
	// Text is what the program returned, or what it printed at its end otherwise.
	Text string
	// Leak says that goroutines are left that wait for ever.
	Leak bool
	// Goes says that goroutines are left that go on for ever. Others may wait beside them.
	Goes bool
}

// An Ending is a way to end.
type Ending uint8

const (
	Returned   Ending = iota
	Deadlocked        // nobody can go on
	Panicked          // a panic left a goroutine
	Fatal             // the runtime system ended the program
)

func (o Outcome) String() string {
	text := o.Text
	switch o.Ending {
	case Returned:
	case Deadlocked:
		text = "deadlock"
	case Panicked:
		text = "panic: " + text
	case Fatal:
		text = "fatal error: " + text
	}
	if o.Leak {
		text += " (leak)"
	}
	if o.Goes {
		text += " (goes on)"
	}
	return text
}

// A Race is two accesses to the same memory, at least one of which stores.
type Race struct{ First, Second token.Position }

func (r Race) String() string { return fmt.Sprintf("%v and %v", r.First, r.Second) }

// An UnsupportedError says what of a program the judge does not know.
type UnsupportedError struct{ Function, What string }

func (e *UnsupportedError) Error() string { return e.Function + " cannot be judged: " + e.What }

// Explore runs a function of the package, which has no parameters, under all schedules.
func (p *Program) Explore(function string, o Options) (v *Verdict, err error) {
	fn := p.pkg.Func(function)
	if fn == nil {
		return nil, fmt.Errorf("there is no function %s in %s", function, p.pkg.Pkg.Path())
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case unsupported:
			err = &UnsupportedError{Function: function, What: string(r)}
		default:
			panic(r)
		}
	}()
	if o.States == 0 {
		o.States = 1_000_000
	}
	x := &search{m: p.m, outcomes: map[Outcome]bool{}, races: map[Race]bool{}, seen: map[[sha256.Size]byte]int{}, results: map[int]string{}}
	s := &state{m: p.m}
	t := &thread{id: rootID}
	s.threads = []*thread{t}
	p.m.call(t, fn, nil, nil, first)
	p.m.runLocal(s, t)
	x.push(s, -1)
	for len(x.stack) > 0 && len(x.seen) <= o.States {
		n := len(x.stack) - 1
		s := x.stack[n]
		x.stack = x.stack[:n]
		x.expand(s)
	}
	v = &Verdict{States: len(x.seen), Complete: len(x.stack) == 0}
	if v.Complete {
		v.Spins = x.findSpins()
	}
	for out := range x.outcomes {
		v.Outcomes = append(v.Outcomes, out)
	}
	slices.SortFunc(v.Outcomes, func(a, b Outcome) int { return strings.Compare(a.String(), b.String()) })
	for r := range x.races {
		v.Races = append(v.Races, r)
	}
	slices.SortFunc(v.Races, func(a, b Race) int { return strings.Compare(a.String(), b.String()) })
	return v, nil
}

type search struct {
	m        *machine
	stack    []*state
	seen     map[[sha256.Size]byte]int // the numbers of states
	outcomes map[Outcome]bool
	races    map[Race]bool
	// before has, for each state, those from which a step leads to it, and ends has the states
	// that are an outcome or lead to a crash.
	before [][]int
	ends   []int
	// results has what the program returned, for the states in which it has.
	results map[int]string
}

// push adds a state that a step from another one leads to, unless one like it was there before.
func (x *search) push(s *state, from int) {
	s.threads = slices.DeleteFunc(s.threads, func(t *thread) bool { return len(t.frames) == 0 })
	if s.crash != nil {
		x.outcomes[*s.crash] = true
		x.ends = append(x.ends, from)
		return
	}
	sum := sha256.Sum256([]byte(x.m.encode(s)))
	n, known := x.seen[sum]
	if !known {
		n = len(x.before)
		x.seen[sum], s.number = n, n
		x.before = append(x.before, nil)
		x.stack = append(x.stack, s)
		if s.returned {
			x.results[n] = s.result
		}
	}
	if from >= 0 {
		x.before[n] = append(x.before[n], from)
	}
}

// findSpins reports whether there is a state from which no end can be reached. If the program
// has returned there, that is an outcome.
func (x *search) findSpins() (found bool) {
	reaches := make([]bool, len(x.before))
	queue := x.ends
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if reaches[n] {
			continue
		}
		reaches[n] = true
		queue = append(queue, x.before[n]...)
	}
	for n, ends := range reaches {
		if ends {
			continue
		}
		found = true
		if text, returned := x.results[n]; returned {
			x.outcomes[Outcome{Text: text, Goes: true}] = true
		}
	}
	return found
}

// expand takes each step that is possible in a state.
func (x *search) expand(s *state) {
	x.findRaces(s)
	ended := true
	for i, t := range s.threads {
		if !x.m.enabled(s, t) {
			continue
		}
		ended = false
		n := 1
		if t.parked == running {
			n = x.m.choices(s, t, x.m.current(s, t))
		}
		for choice := range n {
			c := s.copy()
			x.m.step(c, c.own(i), choice)
			x.push(c, s.number)
		}
	}
	if ended {
		x.outcomes[s.outcome()] = true
		x.ends = append(x.ends, s.number)
	}
}

// step takes the visible step that a goroutine is at, and the local ones after it.
func (m *machine) step(s *state, t *thread, choice int) {
	if t.parked == crashing {
		s.crash = &Outcome{Ending: Panicked, Text: show(t.top().panic.held)}
		return
	}
	if t.parked == onTimer {
		t.parked, t.offers = running, nil
		m.runLocal(s, t)
		return
	}
	op := m.current(s, t)
	m.protect(t, func() { m.operation(s, t, op, choice) })
	if s.crash == nil {
		m.runLocal(s, t)
	}
}

// outcome is how a program has ended in whose state nobody can go on.
func (s *state) outcome() Outcome {
	if !s.returned {
		return Outcome{Ending: Deadlocked}
	}
	return Outcome{Text: s.result, Leak: len(s.threads) > 0}
}

// findRaces looks for two goroutines whose next operations conflict.
func (x *search) findRaces(s *state) {
	for i, t := range s.threads {
		if t.parked != running {
			continue
		}
		first := x.m.current(s, t)
		for _, u := range s.threads[:i] {
			if u.parked != running {
				continue
			}
			second := x.m.current(s, u)
			if conflicting(first, second) || s.addsBesideWait(first, second) || s.addsBesideWait(second, first) {
				x.addRace(x.m.position(first, t), x.m.position(second, u))
			}
		}
	}
}

func conflicting(a, b operation) bool {
	for _, p := range a.accesses {
		for _, q := range b.accesses {
			if p.conflicts(q) {
				return true
			}
		}
	}
	return false
}

func (x *search) addRace(a, b token.Position) {
	if a.String() > b.String() {
		a, b = b, a
	}
	x.races[Race{a, b}] = true
}

// position is where an operation is in the source.
func (m *machine) position(op operation, t *thread) token.Position {
	if op.instr == nil {
		return token.Position{}
	}
	return m.prog.Fset.Position(op.instr.Pos())
}
