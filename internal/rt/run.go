package rt

import (
	"runtime"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/record"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// Run runs f, and all that it starts, under control, until every goroutine has ended or
// waits for something that cannot come. There is one run at a time.
func Run(config Config, f func()) *Result {
	if !Supported() {
		panic("rt: programs cannot be brought under control on " + runtime.GOARCH)
	}
	if s.done == nil {
		s.done = make(chan struct{}, 1)
		s.frames.Reset()
	}
	s.begin(config)
	runs++
	c := s.spawn(f)
	s.races.TakeSlot(&c.Thread, c.id)
	if config.Within > 0 {
		deadline.Store(&timeLimit{config.Now, config.Now() + config.Within})
	}
	on.Store(true)
	s.pass(s.choose(nil))
	<-s.done
	deadline.Store(nil)

	s.started = len(s.all)
	r := s.result
	r.Steps, r.Points, r.Goroutines, r.Now, r.Stalled = s.steps, s.points, len(s.all), s.clock.now, s.clock.stalled
	r.Held.Chance = s.chance.drawn()
	r.Races = s.races.Races
	s.judgeLeft()
	if foreign.Load() {
		r.Outside = append(r.Outside, Outside{What: "goroutines that were started outside control took part"})
	}
	if s.races.Forgot() {
		r.Outside = append(r.Outside, Outside{What: "more was accessed than can be kept in mind: some races may be missed"})
	}
	r.Held.Outside = len(r.Outside) > 0
	recording.Store(false)
	if config.Ended != nil {
		config.Ended(r)
	}
	s.takeDown()
	if foreign.Load() || s.newcomers(nil) || s.leftOutside() {
		s.journal.Reset()
	} else {
		r.Residue = !s.journal.Undo()
	}
	on.Store(strays.count.Load() > 0)
	s.clean()
	r.NotBeside = whyNotBeside()
	outcome(config, r)
	return r
}

// stackSize is what the stacks of a run's goroutines have at their start, if the run before had
// so many of them. With the hooks most goroutines come to need more than the runtime starts
// with, and to copy each stack as it grows took a tenth of a short run.
func stackSize(goroutines int) uint32 {
	const usual, crowd = 16 << 10, 1_000
	if goroutines == 0 || goroutines > crowd {
		return 0 // what the runtime starts with: not to spend a gigabyte on a crowd
	}
	return usual
}

// runs counts the runs of the process.
var runs uint64

// Number returns how many runs there have been, the present one included. What belongs to a
// run by its number need not be told when the run is over.
func Number() uint64 { return runs }

func (s *scheduler) begin(config Config) {
	s.config = config
	s.strategy = config.Strategy
	s.strategy.Begin()
	s.watches = s.strategy.Watches()
	s.busy = s.watches || config.Record != nil
	s.blind = !config.Races && config.Record == nil
	if s.config.MaxSteps == 0 {
		s.config.MaxSteps = 10_000_000
	}
	s.limit = s.config.MaxSteps
	s.chose, s.looked = false, 0
	s.pause, s.worked = min(s.limit, 2*spinning), 2*spinning
	s.result = &Result{Frames: &s.frames}
	s.races.Begin()
	s.objects.begin()
	forgetOwn()
	s.recorder = record.New(config.Record, config.Accesses)
	recording.Store(s.recorder.On)
	if config.Halt != nil {
		s.recorder.HaltAt(config.HaltAt, config.Halt)
	}
	if s.recorder.On {
		// So that numbers do not depend on earlier runs.
		s.frames.Reset()
		s.library.trees++
	}
	s.procs = runtime.GOMAXPROCS(0)
	s.baseline = native()
	foreign.Store(false)
	staleEnded.Store(0)
	lockStrays()
	strays.closed = false
	unlockStrays()
	if config.Sleep != nil && watching.CompareAndSwap(false, true) {
		s.baseline++
		go watch(config.Sleep)
	}
	if Patched.Active != nil {
		s.renumber()
		s.newest = Patched.Newest()
		_, _, s.timers = Patched.Active(s.newest, func(uintptr) bool { return false })
		s.timers = max(s.timers, 1) // the watchdog's
	}
	if Patched.Begin != nil {
		Patched.Begin()
	}
	s.journal.Begin(Patched.Old, Patched.Collections, s.recorder.On)
	if Patched.ResetProcs != nil {
		Patched.ResetProcs()
	}
	if Patched.Stacks != nil {
		Patched.Stacks(stackSize(s.started))
	}
	sequence := s.strategy.Chance()
	s.chance.begin(config.Seed, sequence)
	s.clock.begin(config.Seed, sequence)
	s.moves = moves{}
}

// outcome tells the strategy how the run ended. One that left goroutines waiting came to
// its end: no step of it kept others from going on.
func outcome(config Config, r *Result) {
	failed := len(r.Races) > 0
	for i := range r.Failures {
		kind := r.Failures[i].Kind
		failed = failed || kind != event.FailureLeak && kind != event.FailurePartialDeadlock
	}
	used := sched.Used{Draws: r.Held.Chance, Clock: r.Held.Clock}
	switch {
	case failed:
		config.Strategy.End(event.Failed, used)
	case r.CutOff:
		config.Strategy.End(event.CutOff, used)
	default:
		config.Strategy.End(event.Passed, used)
	}
}
