package transactions

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A worker is a process for one configuration: this program as a child of itself,
// or the peer. It times its trials itself.
type worker struct{ *measure.Child }

// workerArgument makes the program a worker.
const workerArgument = "-as-worker"

// A request asks the worker to prepare a trial of a configuration, to run it, or to
// verify what it did.
type request struct {
	Do      string          `json:"do"` // prepare, run, close
	Figure  string          `json:"figure,omitempty"`
	Size    size            `json:"size,omitempty"`
	Case    string          `json:"case,omitempty"` // as Case.String
	Variant measure.Variant `json:"variant,omitempty"`
	Ops     int             `json:"ops,omitempty"` // of the case, for the peer, which does not have the cases
}

// A reply to run has the seconds that the operations of the case took.
type reply struct {
	Error    string             `json:"error,omitempty"`
	Seconds  float64            `json:"seconds,omitempty"`
	Counters map[string]float64 `json:"counters,omitempty"`
}

func (s *session) startWorker(program string, args ...string) (*worker, error) {
	child, err := measure.StartChild(exec.CommandContext(s.ctx, program, args...))
	if err != nil {
		return nil, err
	}
	return &worker{child}, nil
}

// call waits for the answer.
func (w *worker) call(r request) (answer reply, err error) {
	if err := w.Call(r.Do, r, &answer); err != nil {
		return answer, err
	}
	if answer.Error != "" {
		return answer, errors.New(answer.Error)
	}
	return answer, nil
}

// A configuration is a case in one variant, and the process that runs it, while
// there is one.
type configuration struct {
	request
	session *session
	program string
	args    []string
	once    bool // a process serves one trial: the inputs of native sets are too large for all to be there at once
	worker  *worker
}

// contender is the configuration as package measure sees it.
func (c *configuration) contender() measure.Contender {
	return measure.Contender{Variant: c.Variant, Prepare: func() measure.Trial {
		var answer reply
		var failed error
		do := func(r request) {
			if failed == nil {
				answer, failed = c.worker.call(r)
			}
		}
		if c.worker == nil {
			c.worker, failed = c.session.startWorker(c.program, c.args...)
		}
		prepare := c.request
		prepare.Do = "prepare"
		do(prepare)
		ran := reply{}
		return measure.Trial{
			Run:      func() { do(request{Do: "run"}); ran = answer },
			Seconds:  func() float64 { return ran.Seconds },
			Counters: func() map[string]float64 { return ran.Counters },
			Close: func() error {
				do(request{Do: "close"})
				if c.once {
					c.end()
				}
				return failed
			},
		}
	}}
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
func (s *session) measure(budget time.Duration, cases []measure.Case, peer string) error {
	defer s.progress.Clear()
	for _, c := range cases {
		res, err := s.measureCase(budget, c, peer)
		if len(res.Timings) > 0 {
			s.report.Results = append(s.report.Results, res)
		}
		if err != nil {
			return errors.Join(s.ctx.Err(), err)
		}
	}
	return nil
}

func (s *session) measureCase(budget time.Duration, c measure.Case, peer string) (measure.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return measure.Result{}, fmt.Errorf("this program does not find itself to start children: %w", err)
	}
	remote := c
	remote.Contenders = nil
	for _, local := range c.Contenders {
		conf := &configuration{session: s, program: self, args: []string{"stm", workerArgument}, once: s.size == native,
			request: request{Figure: c.Figure, Size: s.size, Case: c.String(), Variant: local.Variant, Ops: c.Ops}}
		if local.Variant == Peer {
			if peer == "" {
				continue
			}
			conf.program, conf.args = peer, nil
		}
		defer conf.end()
		remote.Contenders = append(remote.Contenders, conf.contender())
	}
	runner := measure.Runner{Rounds: s.runs, Retries: (s.runs + 1) / 2, Progress: s.progress, Budget: budget}
	return runner.Run(s.ctx, remote)
}

// find returns the contender that a request names.
func find(r request) (measure.Contender, error) {
	for _, f := range figures {
		if f.name != r.Figure {
			continue
		}
		for _, c := range f.cases(r.Size) {
			if c.String() != r.Case {
				continue
			}
			for _, contender := range c.Contenders {
				if contender.Variant == r.Variant && contender.Prepare != nil {
					return contender, nil
				}
			}
		}
	}
	return measure.Contender{}, fmt.Errorf("there is no figure %q with %q in variant %q", r.Figure, r.Case, r.Variant)
}

// serve is the worker's side. It ends with its input.
func serve(in io.Reader, out io.Writer) int {
	var contender measure.Contender // which keeps its input from one trial to the next
	var trial measure.Trial
	return measure.Serve(in, out, func(r request) (answer reply) {
		var err error
		switch {
		case r.Do == "prepare":
			if contender.Prepare == nil {
				contender, err = find(r)
			}
			if err == nil {
				trial = contender.Prepare()
				runtime.GC()
			}
		case r.Do == "run" && trial.Run != nil:
			trial.Run()
			answer.Seconds, answer.Counters = trial.Seconds(), trial.Counters()
		case r.Do == "close" && trial.Run != nil:
			err = trial.Close()
			trial = measure.Trial{}
		default:
			err = fmt.Errorf("the child cannot %q", r.Do)
		}
		if err != nil {
			answer.Error = err.Error()
		}
		return answer
	})
}
