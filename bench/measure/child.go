package measure

import (
	"encoding/json"
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

// Call asks the child to do something, and waits for its answer.
func (c *Child) Call(what string, request, answer any) error {
	if err := c.enc.Encode(request); err != nil {
		return fmt.Errorf("asking the child to %s: %w", what, err)
	}
	if err := c.dec.Decode(answer); err != nil {
		return fmt.Errorf("the child does not answer to %s: %w", what, err)
	}
	return nil
}

// Stop ends the child by ending its input.
func (c *Child) Stop() error {
	c.in.Close()
	return c.cmd.Wait()
}

// Process is the child's number.
func (c *Child) Process() int { return c.cmd.Process.Pid }

// Serve is the child's side: it answers requests, and returns the exit code when
// there are no more. Interrupts are for the parent to decide about.
func Serve[Request, Answer any](in io.Reader, out io.Writer, do func(Request) Answer) int {
	signal.Ignore(os.Interrupt)
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r Request
		if err := dec.Decode(&r); err != nil {
			return 0
		}
		if err := enc.Encode(do(r)); err != nil {
			return 1
		}
	}
}
