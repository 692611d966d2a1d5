package main

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

// An interruption is why a command ends that a signal has asked to.
type interruption struct {
	signal  os.Signal
	reached string // how far the command came; "" if that is not worth telling
}

func (i *interruption) Error() string {
	if i.reached == "" {
		return "interrupted"
	}
	return "interrupted: " + i.reached
}

// code is what shells say of a process that a signal has ended.
func (i *interruption) code() int {
	if s, ok := i.signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return exitError
}

// patience is how long an interrupted command may take to end by itself. It is longer
// than instrumented programs take that are asked to.
const patience = 2 * time.Second

// signals has the context of a command end at the first signal. Where the command is in
// the middle of a computation that does not look at contexts, giveUp ends the process:
// when patience is at its end, or at the second signal.
type signals struct {
	arrived chan os.Signal
	cancel  context.CancelCauseFunc
	giveUp  func(*interruption)

	mu      sync.Mutex
	reached string          // what to tell about how far the command came
	forward func(os.Signal) // gets the signals instead, while it is set
}

// watchSignals returns a context that ends at a signal. Stop ends the watching.
func watchSignals(ctx context.Context, stderr io.Writer) (_ context.Context, s *signals, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s = &signals{arrived: make(chan os.Signal, 4), cancel: cancel, giveUp: func(i *interruption) {
		_ = scratch.RemoveAll() // there is nobody to tell
		fmt.Fprintf(stderr, "cofferdam: %v\n", i)
		os.Exit(i.code())
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

func (s *signals) watch() {
	var first *interruption
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

func (s *signals) interruption(sig os.Signal) *interruption {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &interruption{sig, s.reached}
}

// reach says how far the command has come, to be told when it is interrupted now.
func (s *signals) reach(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reached = text
}

func (s *signals) forwarded(sig os.Signal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forward == nil {
		return false
	}
	s.forward(sig)
	return true
}

// to sends signals elsewhere from now on, such as to a program that decides by itself
// what they mean; nil has them end the command again.
func (s *signals) to(forward func(os.Signal)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forward = forward
}

// errClosedPipe is why a command ends whose output is not read any more.
var errClosedPipe = errors.New("the output is not read any more")

// A pipeWriter ends a command when nothing reads its output any more, as when head has
// enough.
type pipeWriter struct {
	w      io.Writer
	cancel context.CancelCauseFunc
}

func (p *pipeWriter) Write(text []byte) (int, error) {
	n, err := p.w.Write(text)
	if errors.Is(err, syscall.EPIPE) {
		p.cancel(errClosedPipe)
	}
	return n, err
}

// exitClosedPipe is what shells say of a process that a closed pipe has ended: of 128 and the
// number of the signal.
const exitClosedPipe = 128 + 13

// ended says how a command ends that has returned an error while its context has ended
// for a cause.
func ended(cause, err error) error {
	var interrupted *interruption
	switch {
	case errors.As(cause, &interrupted):
		return &exitCode{interrupted.code(), interrupted}
	case errors.Is(cause, errClosedPipe), errors.Is(err, syscall.EPIPE):
		return &exitCode{code: exitClosedPipe}
	}
	return err
}
