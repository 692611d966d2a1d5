package isolator

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A worker is this program as a child of itself: built with -race, or with
// another backend. The parent times its trials.
type worker struct{ *measure.Child }

// workerArgument makes the program a worker.
const workerArgument = "-as-worker"

// A request asks the worker to prepare a trial of casesRace, to run it, to close
// it; or for the costs of faults.
type request struct {
	Do    string `json:"do"` // prepare, run, close, costs
	Quick bool   `json:"quick"`
	Case  int    `json:"case"`
}

type reply struct {
	Error string         `json:"error,omitempty"`
	Costs []measure.Cost `json:"costs,omitempty"`
}

func startWorker(program string, env ...string) (*worker, error) {
	cmd := exec.Command(program, "isolate", workerArgument)
	cmd.Env = append(os.Environ(), env...)
	child, err := measure.StartChild(cmd)
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

// contender is a case of casesRace, run by the worker.
func (w *worker) contender(v measure.Variant, index int, quick bool) measure.Contender {
	return measure.Contender{Variant: v, Prepare: func() measure.Trial {
		_, failed := w.call(request{Do: "prepare", Case: index, Quick: quick})
		do := func(what string) {
			if failed == nil {
				_, failed = w.call(request{Do: what})
			}
		}
		return measure.Trial{
			Run:   func() { do("run") },
			Close: func() error { do("close"); return failed },
		}
	}}
}

// serve is the worker's side. It ends with its input.
func serve(in io.Reader, out io.Writer) int {
	var trial measure.Trial
	return measure.Serve(in, out, func(r request) (answer reply) {
		var err error
		switch r.Do {
		case "prepare":
			trial = casesRace(r.Quick)[r.Case].Contenders[0].Prepare()
			runtime.GC()
		case "run":
			trial.Run()
		case "close":
			if trial.Close != nil {
				err = trial.Close()
			}
		case "costs":
			answer.Costs, err = faultCosts(r.Quick, func() error { return nil })
		default:
			err = fmt.Errorf("the child cannot %q", r.Do)
		}
		if err != nil {
			answer.Error = err.Error()
		}
		return answer
	})
}
