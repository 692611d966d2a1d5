package rt

import (
	"runtime"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// Run runs f, and all that it starts, under control, until everybody has ended or waits
// for something that cannot come. There is one run at a time.
func Run(config Config, f func()) *Result {
	if !Supported() {
		panic("rt: programs cannot be brought under control on " + runtime.GOARCH)
	}
	if s.done == nil {
		s.done = make(chan struct{}, 1)
		s.frames.reset()
	}
	s.begin(config)
	c := s.spawn(f)
	s.takeSlot(c)
	on.Store(true)
	s.pass(s.choose(nil))
	<-s.done

	r := s.result
	r.Steps, r.Points, r.Goroutines, r.Now = s.steps, s.points, len(s.all), s.clock.now
	r.Left = s.blocked()
	if foreign.Load() {
		r.Outside = append(r.Outside, Outside{What: "goroutines that are not under control took part"})
	}
	recording.Store(false)
	if config.Ended != nil {
		config.Ended(r)
	}
	s.takeDown()
	if foreign.Load() || s.newcomers(nil) {
		s.journal.reset()
	} else {
		r.Residue = !s.journal.undo()
	}
	on.Store(strays.count.Load() > 0)
	s.clean()
	outcome(config, r)
	return r
}

func (s *scheduler) begin(config Config) {
	s.config = config
	s.strategy = config.Strategy
	s.strategy.Begin()
	s.watches = s.strategy.Watches()
	s.busy = s.watches || config.Record != nil
	s.blind = !config.Races && config.Record == nil
	s.limit = config.MaxSteps
	if s.limit == 0 {
		s.limit = 10_000_000
	}
	s.pause = min(s.limit, 2*spinning)
	s.result = &Result{Frames: &s.frames}
	s.shadow.begin()
	s.objects.begin()
	s.recorder = recorder{on: config.Record != nil}
	if config.Accesses != nil {
		s.recorder.accesses = make([]event.Access, together)
	}
	recording.Store(s.recorder.on)
	if s.recorder.on {
		// So that numbers do not depend on earlier runs.
		s.frames.reset()
	}
	s.procs = runtime.GOMAXPROCS(0)
	s.baseline = native()
	foreign.Store(false)
	lockStrays()
	strays.closed = false
	unlockStrays()
	if config.Sleep != nil && watching.CompareAndSwap(false, true) {
		s.baseline++
		go watch(config.Sleep)
	}
	s.journal.begin(s.recorder.on)
	if Patched.Seed != nil {
		Patched.Seed(config.Seed)
	}
}

// outcome tells the strategy how the run ended.
func outcome(config Config, r *Result) {
	switch {
	case r.Failed():
		config.Strategy.End(event.Failed)
	case r.CutOff:
		config.Strategy.End(event.CutOff)
	default:
		config.Strategy.End(event.Passed)
	}
}
