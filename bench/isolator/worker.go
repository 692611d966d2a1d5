package isolator

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A worker is this program as a child of itself: built with -race, or with
// another backend. The parent times its trials.
type worker struct{ *measure.Child }

// costs asks the worker for what faults cost; the other things it can be asked for are
// the steps of a trial.
const costs = "costs"

// A request asks the worker for a step of a trial of casesRace, for the costs of
// faults, or to execute what is counted.
type request struct {
	Do    string `json:"do"`
	Quick bool   `json:"quick"`
	Case  int    `json:"case"`
}

func startWorker(program string, env ...string) (*worker, error) {
	cmd := exec.Command(program, name, command.WorkerArgument)
	cmd.Env = append(os.Environ(), env...)
	child, err := measure.StartChild(cmd)
	if err != nil {
		return nil, err
	}
	return &worker{child}, nil
}

// ask waits for the answer, which has costs if they were asked for.
func (w *worker) ask(r request) ([]measure.Cost, error) {
	return measure.Ask[[]measure.Cost](w.Child, r)
}

// contender is a case of casesRace, run by the worker.
func (w *worker) contender(v measure.Variant, index int, quick bool) measure.Contender {
	return measure.Contender{Variant: v, Prepare: func() measure.Trial {
		return w.Trial(func(step string) any { return request{Do: step, Case: index, Quick: quick} }, nil)
	}}
}

// serve is the worker's side. It ends with its input.
func serve(in io.Reader, out io.Writer) int {
	quiet()
	var trial measure.Trial
	return measure.Serve(in, out, func(r request) (answer any, err error) {
		switch r.Do {
		case measure.PrepareTrial:
			trial = casesRace(r.Quick)[r.Case].Contenders[0].Prepare()
			runtime.GC()
		case measure.RunTrial:
			trial.Run()
		case measure.CloseTrial:
			if trial.Close != nil {
				err = trial.Close()
			}
		case sectionsCounted:
			countSections()
		case costs:
			return faultCosts(r.Quick, func() error { return nil })
		default:
			err = fmt.Errorf("the child cannot %q", r.Do)
		}
		return measure.Took{}, err
	})
}
