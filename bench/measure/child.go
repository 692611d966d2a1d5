package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

// A Child is a process that runs trials for this one. It does what it is told by
// lines of JSON on its standard input, and answers each with one, so that its trials
// are interleaved with those of others; a line takes some 30 µs, a trial a thousand
// times as long.
type Child struct {
	cmd *exec.Cmd
	in  io.Closer
	enc *json.Encoder
	dec *json.Decoder
}

// A line is one answer of a child.
type line[Answer any] struct {
	Error  string `json:"error,omitempty"`
	Answer Answer `json:"answer"`
}

// The steps of a trial that a child can be asked for.
const (
	PrepareTrial = "prepare"
	RunTrial     = "run"
	CloseTrial   = "close"
)

// Took is the answer of a child that times its trials itself.
type Took struct {
	Seconds  float64            `json:"seconds,omitempty"`
	Counters map[string]float64 `json:"counters,omitempty"`
}

// StartChild starts a process that calls [Serve].
func StartChild(cmd *exec.Cmd) (*Child, error) {
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
	return &Child{cmd, in, json.NewEncoder(in), json.NewDecoder(out)}, nil
}

// Ask asks the child to do something, and waits for its answer.
func Ask[Answer any](c *Child, request any) (Answer, error) {
	var got line[Answer]
	if err := c.enc.Encode(request); err != nil {
		return got.Answer, fmt.Errorf("asking the child for %+v: %w", request, err)
	}
	if err := c.dec.Decode(&got); err != nil {
		return got.Answer, fmt.Errorf("the child does not answer to %+v: %w", request, err)
	}
	if got.Error != "" {
		return got.Answer, errors.New(got.Error)
	}
	return got.Answer, nil
}

// Trial is one that the child runs, asked for each of its steps by the request that ask
// makes. Its answer to running it is left in took, if that is not nil, and is then
// what counts; otherwise the trial is timed from here.
func (c *Child) Trial(ask func(step string) any, took *Took) Trial {
	_, failed := Ask[Took](c, ask(PrepareTrial))
	do := func(step string) (answer Took) {
		if failed == nil {
			answer, failed = Ask[Took](c, ask(step))
		}
		return answer
	}
	trial := Trial{
		Run:   func() { do(RunTrial) },
		Close: func() error { do(CloseTrial); return failed },
	}
	if took != nil {
		trial.Run = func() { *took = do(RunTrial) }
		trial.Seconds = func() float64 { return took.Seconds }
		trial.Counters = func() map[string]float64 { return took.Counters }
	}
	return trial
}

// Stop ends the child by ending its input.
func (c *Child) Stop() error {
	c.in.Close()
	return c.cmd.Wait()
}

// Kill ends the child in the middle of what it does. What it was asked for has no answer.
func (c *Child) Kill() { c.cmd.Process.Kill() }

// Process is the child's number.
func (c *Child) Process() int { return c.cmd.Process.Pid }

// Serve is the child's side: it answers requests, and returns the exit code when
// there are no more. Interrupts are for the parent to decide about.
func Serve[Request, Answer any](in io.Reader, out io.Writer, do func(Request) (Answer, error)) int {
	signal.Ignore(os.Interrupt)
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r Request
		if err := dec.Decode(&r); err != nil {
			return 0
		}
		answer, err := do(r)
		said := line[Answer]{Answer: answer}
		if err != nil {
			said.Error = err.Error()
		}
		if err := enc.Encode(said); err != nil {
			return 1
		}
	}
}
