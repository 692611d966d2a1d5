package rt

import (
	"runtime"
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/frames"
	"github.com/cofferdam-go/cofferdam/internal/rt/journal"
	"github.com/cofferdam-go/cofferdam/internal/rt/race"
	"github.com/cofferdam-go/cofferdam/internal/rt/record"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// s is the one scheduler. Its fields belong to the goroutine that holds the token and is inside
// rt; between runs, and while the leftovers are taken down, to Run.
var s scheduler

type scheduler struct {
	config   Config
	strategy sched.Strategy
	watches  bool
	result   *Result

	current *goroutine   // holds the token
	last    *goroutine   // took the last step
	all     []*goroutine // of this run, by id - 1
	spare   []*goroutine
	// ready, ids and ops are parallel, by ascending id: what a strategy is shown.
	ready []*goroutine
	ids   []uint32
	ops   []event.Op
	// passed is how many were taken from their front; a goroutine's index counts these.
	passed   int
	arrivals uint64 // how often one became ready
	arrived  uint32 // the last that did
	point    sched.Turn
	// coming are goroutines that are about to be put among the ready; see regroup.
	coming []*goroutine

	steps  uint64
	limit  uint64 // of steps
	pause  uint64 // the step at which to look whether a goroutine spins
	worked uint64 // the step at which time goes on because of all the work that was done
	ahead  uint64 // up to this step the one that runs goes on without a question
	row    int    // steps in a row of the same goroutine
	// changedAt is the step at which a goroutine did something last that others may see.
	changedAt uint64
	points    uint64
	site      uint32 // where the last step was

	rootEnded bool
	busy      bool   // every step is of interest: watched, recorded, or the end
	blind     bool   // nothing is to be remembered of a load
	chose     bool   // there was a choice since the last look
	looked    uint64 // the step of the last look
	lingered  int    // how often something moved on though the root has ended
	baseline  int    // native goroutines that are none of ours
	natives   int    // native goroutines that are ours
	started   int    // goroutines of the run before
	newest    uint64 // the number of the newest goroutine before the run
	beforeAll int    // native goroutines before the first run; 0 if runs are not renumbered
	timers    int    // native timers before the run
	idled     int64  // nanoseconds spent waiting for those outside
	idledAt   uint64 // the step at which that began
	listened  int64  // nanoseconds of time that went by only because input was waited for
	programs  bool   // the run has started other programs
	quiet     int    // goroutines that wait for all others to wait
	procs     int    // what the program takes GOMAXPROCS to be

	done chan struct{} // the run is over

	frames   frames.Tree
	races    race.Detector
	objects  objects
	scratch  race.Vector
	clock    clock
	moves    moves
	chance   chance
	recorder record.Recorder
	compare  compare
	journal  journal.Journal
	library  library
	// finalizers are what the collector may find something to do for.
	finalizers finalizers
	// lastIncomplete says that compare or recorder hold something that is to be completed.
	lastIncomplete bool
}

// token says which goroutine runs: 0 if none does, otherwise the address of the g, and in
// its lowest bits what it does. A goroutine that is stuck outside loses it: that is why a
// hook looks at it and takes and gives it back, though no other is after it nearly
// always. See takeToken and setToken.
var token atomic.Uintptr

const (
	// inside: the goroutine is in rt. Hooks called from there do the plain operation.
	inside = 1
	// suspect: it runs the program and has called no hook since the watchdog looked.
	suspect = 2
)

// on says that hooks have to look which goroutine calls them.
var on atomic.Bool

// enter is how a hook begins: it returns the calling goroutine if that is under
// control, and takes it into rt, until leave. It returns nil if the hook is to do the
// plain operation.
func enter() *goroutine {
	if !on.Load() {
		return nil
	}
	g, _, _ := here()
	return enterAs(g)
}

// enterAs is enter for a caller that knows its g.
func enterAs(g uintptr) *goroutine {
	if takeToken(g) {
		return s.current
	}
	return enterSlow(g, true)
}

// enterLibrary is enter for what the patched standard library calls.
func enterLibrary() *goroutine {
	if !on.Load() {
		return nil
	}
	g, _, _ := here()
	if takeToken(g) {
		return s.current
	}
	return enterSlow(g, false)
}

// enterSlow is enter for goroutines that are not simply the one that runs. It takes note of
// instrumented code that is not under control; the standard library is used by
// every goroutine, also by those that have nothing to do with the run.
func enterSlow(g uintptr, instrumented bool) *goroutine {
	for {
		switch t := token.Load(); t {
		case g, g | suspect:
			if token.CompareAndSwap(t, g|inside) {
				return s.current
			}
		case g | inside:
			return nil
		default:
			if dog := watchdog.Load(); dog != 0 && t == dog|inside {
				// It may take the token from this goroutine, and may give it back.
				runtime.Gosched()
				continue
			}
			c := returned(g)
			if c == nil && instrumented {
				foreign.Store(true)
			}
			return c
		}
	}
}

// leave ends a hook: c's own code goes on, and is told apart by the token from code that
// is not under control.
func (c *goroutine) leave() { setToken(c.g) }

// Controlled reports whether the caller is a goroutine under control.
func Controlled() bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	c.leave()
	return true
}

// step announces what c is about to do and returns when it is its turn. It returns
// false if c is being taken down: then nothing but the plain operation is to be done.
func (c *goroutine) step(op event.Op) bool {
	s.site = op.Site
	s.completeLast()
	if !op.Yield && c.free() {
		return true
	}
	return c.stepSlow(op)
}

// free takes a step if it is certain that c goes on and there is nothing else to do.
func (c *goroutine) free() bool {
	if s.steps >= s.ahead || strays.waiting.Load() {
		return false
	}
	s.steps++
	c.taken++
	s.row++
	return true
}

func (c *goroutine) stepSlow(op event.Op) bool {
	if c.dying {
		c.dead()
		return false
	}
	op.G = c.id
	s.ops[s.at(c)] = op
	s.adopt()
	if s.steps >= s.pause {
		s.look(c)
	}
	if overdue.Load() {
		s.stopIfLate(c)
	}
	if op.Yield && s.clock.queue.Len() > 0 {
		s.goOnWhilePolling()
	}
	if len(s.ready) == 1 && !s.watches && !s.mayStall() {
		s.took(c)
		s.ahead = s.pause
	} else if d := s.choose(c); d != c {
		s.pass(d)
		c.park()
	}
	return true
}

// took counts a step.
func (s *scheduler) took(c *goroutine) {
	s.steps++
	c.taken++
	if s.row++; c != s.last {
		s.row = 0
	}
	s.last = c
}

// foresee finds out how far c, which took the last step, goes without a question.
func (s *scheduler) foresee(c *goroutine) {
	s.ahead = 0
	next := s.strategy.Next(c.id)
	s.library.askAt = next
	if next <= c.taken {
		return
	}
	n := next - c.taken
	if len(s.ready) > 1 {
		n = min(n, uint64(max(spinning-s.row, 0)))
	}
	s.ahead = min(s.pause, s.steps+min(n, s.pause))
}

// spinning is after how many steps without rest a goroutine is taken to wait by trying
// again and again, so that the others get their turn and time goes on.
const spinning = 10_000

// sequentialSteps is how many times as many steps as Config.MaxSteps a run may have if there was
// a choice at none of the others: a test that computes for long in one goroutine is to come to its
// end, and is through then.
const sequentialSteps = 16

// allowSequential puts the limit off by the steps since the last look, if no other goroutine could
// have taken any of them. The time of the run must have a limit then.
func (s *scheduler) allowSequential() {
	if !s.chose && s.config.Within > 0 {
		s.limit = min(s.limit+s.steps-s.looked, sequentialSteps*s.config.MaxSteps)
	}
	s.chose, s.looked = false, s.steps
}

// look is called now and then, by the goroutine that runs.
func (s *scheduler) look(c *goroutine) {
	s.allowSequential()
	if !s.rootEnded {
		s.endIfLivelocked(c)
	}
	if s.steps >= s.limit {
		s.result.CutOff = true
		c.stop()
	}
	s.pause = min(s.limit, s.steps+2*spinning)
	onlyPolls := false
	if s.rootEnded {
		onlyPolls = s.onlyPolls()
		if s.lingered++; s.lingered > maxLinger || onlyPolls && s.clock.queue.Len() == 0 && strays.count.Load() == 0 {
			s.result.Going = s.goingOn()
			c.stop()
		}
		s.pause = min(s.limit, s.steps+lingerSteps)
	}
	if s.steps >= s.worked || onlyPolls {
		s.worked = s.steps + 2*spinning
		s.goOn()
	}
	if others.Load() > 0 || foreign.Load() {
		s.poll()
	}
}

// choose asks the strategy for one of the ready goroutines. c is the one that took the
// last step, if it can go on.
func (s *scheduler) choose(c *goroutine) *goroutine {
	p := &s.point
	p.Step, p.Current, p.Last, p.Taken = s.steps, 0, 0, 0
	if s.last != nil {
		p.Last, p.Taken = s.last.id, s.last.taken
	}
	tired := c != nil && s.row >= spinning && len(s.ready) > 1
	if tired {
		op := s.ops[s.at(c)]
		s.remove(c)
		defer func() { s.insert(c, op) }()
	} else if c != nil {
		p.Current = c.id
	}
	for {
		p.Ready, p.Ops, p.Arrivals, p.Arrived = s.ids, s.ops, s.arrivals, s.arrived
		if s.mayStall() {
			s.offerTime(p)
		}
		p.Idle, p.Stalled = s.moves.since(s.steps)
		i := 0
		s.chose = s.chose || len(p.Ready) > 1
		if len(p.Ready) > 1 || s.watches {
			s.points++
			i = s.strategy.Pick(p)
		}
		if i < len(s.ready) {
			d := s.ready[i]
			s.took(d)
			s.foresee(d)
			return d
		}
		s.stall()
	}
}

// pass gives the token to d, which waits for it in park.
func (s *scheduler) pass(d *goroutine) {
	s.current = d
	s.chance.give(d)
	token.Store(inside)
	d.wake <- struct{}{}
}

// park waits for the token.
func (c *goroutine) park() {
	<-c.wake
	token.Store(c.g | inside)
	if c.dying {
		c.die()
	}
}

// rest lets the others go, after c has left the ready ones, and returns when c has been
// picked again.
func (c *goroutine) rest() {
	switch d := s.dispatch(c); d {
	case c:
	case nil:
		c.park()
	default:
		s.pass(d)
		c.park()
	}
}

// dispatch returns the goroutine that goes next when the goroutine that ran, c, cannot go
// on. It returns nil if that is not to be decided here any more: the run is over, or
// another goroutine came back from outside meanwhile.
func (s *scheduler) dispatch(c *goroutine) *goroutine {
	for len(s.ready) == 0 {
		if s.adopt() {
			continue
		}
		if s.allEnded() {
			s.over()
			return nil
		}
		// What was there before the run is in no bubble, and is not waited for.
		if strays.count.Load() == 0 && s.wakeQuiet() {
			continue
		}
		if s.outsiders(c) {
			if !s.idle(c) {
				return nil
			}
			continue
		}
		if s.poll() || s.advance() {
			continue
		}
		s.stuck()
		s.over()
		return nil
	}
	return s.choose(nil)
}

// allEnded reports whether none is left that a goroutine outside could let go on. What
// those outside do by themselves is no part of the run.
func (s *scheduler) allEnded() bool {
	if !s.rootEnded || s.clock.queue.Len() > 0 {
		return false
	}
	for _, c := range s.all {
		if c.state != ended {
			return false
		}
	}
	return true
}

// over ends the run. From here on everything belongs to Run.
func (s *scheduler) over() {
	s.completeLast()
	s.recorder.Deliver()
	s.ahead = 0
	token.Store(inside)
	s.done <- struct{}{}
}

// stop ends the run for c, which does not go on.
func (c *goroutine) stop() {
	s.over()
	c.park()
}

// fail ends the run with a failure of c.
func (c *goroutine) fail(f Failure) {
	f.G, f.Frame, f.Step = c.id, c.Frame, s.steps
	s.result.Failures = append(s.result.Failures, f)
	c.stop()
}
