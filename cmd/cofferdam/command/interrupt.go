package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/scratch"
)

// An Interruption is why a command ends that a signal has asked to.
type Interruption struct {
	Signal  os.Signal
	reached string // how far the command came; "" if that is not worth telling
}

func (i *Interruption) Error() string {
	if i.reached == "" {
		return "interrupted"
	}
	return "interrupted: " + i.reached
}

// Code is what shells say of a process that a signal has ended.
func (i *Interruption) Code() int {
	if s, ok := i.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return ExitError
}

// patience is how long an interrupted command may take to end by itself. It is longer
// than instrumented programs take that are asked to.
const patience = 2 * time.Second

// Signals has the context of a command end at the first signal. Where the command is in
// the middle of a computation that does not look at contexts, giveUp ends the process:
// when patience is at its end, or at the second signal.
type Signals struct {
	arrived chan os.Signal
	cancel  context.CancelCauseFunc
	giveUp  func(*Interruption)

	mu      sync.Mutex
	reached string          // what to tell about how far the command came
	forward func(os.Signal) // gets the signals instead, while it is set
}

// watchSignals returns a context that ends at a signal. Stop ends the watching.
func watchSignals(ctx context.Context, stderr io.Writer) (_ context.Context, s *Signals, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s = &Signals{arrived: make(chan os.Signal, 4), cancel: cancel, giveUp: func(i *Interruption) {
		_ = scratch.RemoveAll() // there is nobody to tell
		fmt.Fprintf(stderr, "cofferdam: %v\n", i)
		os.Exit(i.Code())
	}}
	signal.Notify(s.arrived, os.Interrupt, syscall.SIGTERM)
	// A write to a closed pipe then fails, instead of ending the process.
	closedPipe := make(chan os.Signal, 1)
	signal.Notify(closedPipe, syscall.SIGPIPE)
	go s.watch()
	return ctx, s, func() {
		signal.Stop(s.arrived)
		signal.Stop(closedPipe)
		close(s.arrived)
		cancel(nil)
	}
}

func (s *Signals) watch() {
	var first *Interruption
	var late <-chan time.Time
	for {
		select {
		case sig, ok := <-s.arrived:
			switch {
			case !ok:
				return
			case s.forwarded(sig):
			case first != nil:
				s.giveUp(first)
				return
			default:
				first, late = s.interruption(sig), time.After(patience)
				s.cancel(first)
			}
		case <-late:
			s.giveUp(first)
			return
		}
	}
}

func (s *Signals) interruption(sig os.Signal) *Interruption {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Interruption{sig, s.reached}
}

// Reach says how far the command has come, to be told when it is interrupted now.
func (s *Signals) Reach(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reached = text
}

func (s *Signals) forwarded(sig os.Signal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forward == nil {
		return false
	}
	s.forward(sig)
	return true
}

// To sends signals elsewhere from now on, such as to a program that decides by itself
// what they mean; nil has them end the command again.
func (s *Signals) To(forward func(os.Signal)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forward = forward
}

// ErrClosedPipe is why a command ends whose output is not read any more.
var ErrClosedPipe = errors.New("the output is not read any more")

// A pipeWriter ends a command when nothing reads its output any more, as when head has
// enough.
type pipeWriter struct {
	w      io.Writer
	cancel context.CancelCauseFunc
}

func (p *pipeWriter) Write(text []byte) (int, error) {
	n, err := p.w.Write(text)
	if errors.Is(err, syscall.EPIPE) {
		p.cancel(ErrClosedPipe)
	}
	return n, err
}

// exitClosedPipe is what shells say of a process that a closed pipe has ended: of 128 and the
// number of the signal.
const exitClosedPipe = 128 + 13

// ended says how a command ends that has returned an error while its context has ended
// for a cause.
func ended(cause, err error) error {
	var interrupted *Interruption
	switch {
	case errors.As(cause, &interrupted):
		return &Exit{interrupted.Code(), interrupted}
	case errors.Is(cause, ErrClosedPipe), errors.Is(err, syscall.EPIPE):
		return &Exit{Code: exitClosedPipe}
	}
	return err
}
