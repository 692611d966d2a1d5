package isolator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A worker is this program as a child of itself: built with -race, or with
// another backend. It does what it is told by lines of JSON on its standard
// input, and answers each with one. So its trials are interleaved with the
// parent's, and timed by the parent; a line takes some 30 µs, a trial a thousand
// times as long.
type worker struct {
	cmd *exec.Cmd
	in  io.Closer
	enc *json.Encoder
	dec *json.Decoder
}

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
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a child: %w", err)
	}
	return &worker{cmd, in, json.NewEncoder(in), json.NewDecoder(out)}, nil
}

// call waits for the answer.
func (w *worker) call(r request) (reply, error) {
	var answer reply
	if err := w.enc.Encode(r); err != nil {
		return answer, fmt.Errorf("asking the child to %s: %w", r.Do, err)
	}
	if err := w.dec.Decode(&answer); err != nil {
		return answer, fmt.Errorf("the child does not answer to %s: %w", r.Do, err)
	}
	if answer.Error != "" {
		return answer, errors.New(answer.Error)
	}
	return answer, nil
}

// stop ends the child by ending its input.
func (w *worker) stop() error {
	w.in.Close()
	return w.cmd.Wait()
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
	signal.Ignore(os.Interrupt) // the parent decides
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	var trial measure.Trial
	for {
		var r request
		if err := dec.Decode(&r); err != nil {
			return 0
		}
		var answer reply
		switch r.Do {
		case "prepare":
			trial = casesRace(r.Quick)[r.Case].Contenders[0].Prepare()
			runtime.GC()
		case "run":
			trial.Run()
		case "close":
			if trial.Close != nil {
				if err := trial.Close(); err != nil {
					answer.Error = err.Error()
				}
			}
		case "costs":
			costs, err := faultCosts(r.Quick, func() error { return nil })
			if answer.Costs = costs; err != nil {
				answer.Error = err.Error()
			}
		default:
			answer.Error = fmt.Sprintf("the child cannot %q", r.Do)
		}
		if err := enc.Encode(answer); err != nil {
			return 1
		}
	}
}
