package transactions

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A request asks the worker, a process for one configuration, for a step of a trial:
// this program as a child of itself. It times its trials itself.
type request struct {
	Do      string          `json:"do"`
	Figure  string          `json:"figure,omitempty"`
	Size    size            `json:"size,omitempty"`
	Case    string          `json:"case,omitempty"` // as Case.String
	Variant measure.Variant `json:"variant,omitempty"`
	Watch   time.Duration   `json:"watch,omitempty"` // if it is not 0, how long a run is watched for: see native.go
}

// A configuration is a case in one variant, and the process that runs it, while
// there is one.
type configuration struct {
	request
	session *session
	program string
	once    bool          // a process serves one trial: the inputs of native sets are too large for all to be there at once
	limit   time.Duration // of a trial, if it is not 0
	worker  *measure.Child
}

// contender is the configuration as package measure sees it.
func (c *configuration) contender() measure.Contender {
	return measure.Contender{Variant: c.Variant, Prepare: func() measure.Trial {
		if c.worker == nil {
			var err error
			if c.worker, err = c.session.startWorker(c.program); err != nil {
				return measure.Trial{Run: func() {}, Close: func() error { return err }}
			}
		}
		var took measure.Took
		trial := c.worker.Trial(func(step string) any {
			asked := c.request
			asked.Do = step
			return asked
		}, &took)
		closing := trial.Close
		trial.Close = func() error {
			if took.Counters[cutOff] > 0 { // it is still running
				c.worker.Kill()
				c.end()
				return nil
			}
			err := closing()
			if c.once {
				c.end()
			}
			return err
		}
		if c.limit != 0 {
			c.limited(&trial, &took)
		}
		return trial
	}}
}

// limited has a trial cut off when it takes longer than it may: its process is ended, and what
// it took is the limit, which is counted.
func (c *configuration) limited(trial *measure.Trial, took *measure.Took) {
	var cut atomic.Bool
	worker, run, closing := c.worker, trial.Run, trial.Close
	trial.Run = func() {
		late := time.AfterFunc(c.limit, func() {
			cut.Store(true)
			worker.Kill()
		})
		run()
		if late.Stop(); cut.Load() {
			*took = measure.Took{Seconds: c.limit.Seconds(), Counters: map[string]float64{cutOff: 1}}
		}
	}
	trial.Close = func() error {
		if cut.Load() {
			c.end()
			return nil
		}
		return closing()
	}
}

func (s *session) startWorker(program string) (*measure.Child, error) {
	return measure.StartChild(exec.CommandContext(s.Context, program, name, command.WorkerArgument))
}

// end ends the process, if there is one.
func (c *configuration) end() {
	if c.worker != nil {
		c.worker.Stop() // its answers are in; how it ends does not matter
		c.worker = nil
	}
}

// measure runs cases, each configuration in a process, and adds their results. It
// stops at the first error, which is the context's if the run was interrupted.
func (s *session) measure(budget time.Duration, cases []measure.Case) error {
	defer s.Progress.Clear()
	for _, c := range cases {
		e := s.effortOf(c.Figure, budget)
		runner := s.runner(e)
		runner.Weight = s.weight(c.Figure)
		res, known := s.ledger.has(c)
		var err error
		if known {
			s.Progress.Drop(runner.Trials([]measure.Case{c}))
		} else {
			rest, had := s.taken(c)
			s.Progress.Drop(runner.Trials([]measure.Case{c}) - runner.Trials([]measure.Case{rest}))
			if res, err = s.measureCase(e, runner, rest); err == nil {
				res.Timings = append(had, res.Timings...)
				switch c.Figure {
				case figureStamp, figureModes, figureLeaders, figureScale:
					err = s.enterReads(&res)
				}
				err = errors.Join(err, s.ledger.add(res))
			}
		}
		if len(res.Timings) > 0 {
			s.Report.Results = append(s.Report.Results, res)
		}
		if err != nil {
			return errors.Join(s.Context.Err(), err)
		}
	}
	return nil
}

// taken divides the contenders of a case into those that are to be measured and those that
// another figure has measured already: with native sets, which are the same in all figures, none
// is measured twice. What is compared round by round, with a target, is not taken from elsewhere.
func (s *session) taken(c measure.Case) (rest measure.Case, had []measure.Timing) {
	rest = c
	if s.size != native || c.Figure == figureStamp || c.Figure == figureCompiled {
		return rest, nil
	}
	rest.Contenders = nil
next:
	for _, contender := range c.Contenders {
		for _, r := range s.Report.Results {
			if t, ok := r.Timing(contender.Variant); ok && r.Name == c.Name && r.Figure != figureCompiled {
				had = append(had, t)
				continue next
			}
		}
		rest.Contenders = append(rest.Contenders, contender)
	}
	return rest, had
}

func (s *session) measureCase(e effort, runner *measure.Runner, c measure.Case) (measure.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return measure.Result{}, fmt.Errorf("this program does not find itself to start children: %w", err)
	}
	remote := c
	remote.Contenders = nil
	configured := func(v measure.Variant) *configuration {
		return &configuration{session: s, program: s.workerOf(v, self), once: s.size == native, limit: e.limit,
			request: request{Figure: c.Figure, Size: s.size, Case: c.String(), Variant: v}}
	}
	for _, local := range c.Contenders {
		if of, ok := pairOf(local.Variant); ok {
			one, other := configured(of), configured(of)
			defer one.end()
			defer other.end()
			remote.Contenders = append(remote.Contenders, together(local.Variant, [2]measure.Contender{one.contender(), other.contender()}))
			continue
		}
		conf := configured(local.Variant)
		defer conf.end()
		remote.Contenders = append(remote.Contenders, conf.contender())
	}
	return runner.Run(s.Context, remote)
}

// find returns the contender that a request names.
func find(r request) (measure.Contender, error) {
	var cases []measure.Case
	if r.Figure == figureReads {
		cases = readsCases(r.Size)
	}
	for _, f := range figures {
		if f.name == r.Figure {
			cases = f.cases(r.Size)
		}
	}
	for _, c := range cases {
		if c.String() != r.Case {
			continue
		}
		for _, contender := range c.Contenders {
			if contender.Variant == r.Variant {
				return contender, nil
			}
		}
	}
	return measure.Contender{}, fmt.Errorf("there is no figure %q with %q in variant %q", r.Figure, r.Case, r.Variant)
}

// serve is the worker's side. It ends with its input.
func serve(in io.Reader, out io.Writer) int {
	var contender measure.Contender // which keeps its input from one trial to the next
	var trial measure.Trial
	return measure.Serve(in, out, func(r request) (took measure.Took, err error) {
		switch {
		case r.Do == measure.PrepareTrial:
			if contender.Prepare == nil {
				contender, err = find(r)
			}
			if err == nil {
				trial = contender.Prepare()
				runtime.GC()
			}
		case r.Do == measure.RunTrial && trial.Run != nil:
			if r.Watch != 0 {
				return watchedRun(trial, r.Watch), nil
			}
			trial.Run()
			took = measure.Took{Seconds: trial.Seconds(), Counters: trial.Counters()}
		case r.Do == measure.CloseTrial && trial.Run != nil:
			err = trial.Close()
			trial = measure.Trial{}
		default:
			err = fmt.Errorf("the child cannot %q", r.Do)
		}
		return took, err
	})
}
