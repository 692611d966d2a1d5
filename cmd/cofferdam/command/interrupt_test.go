package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// signalled sends signals to a command and returns what it was told: "end" when its
// context ended, and "gone" when the process was to end.
func signalled(t *testing.T, act func(s *Signals, done <-chan struct{})) (told []string) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &Signals{arrived: make(chan os.Signal), cancel: cancel, giveUp: func(i *Interruption) {
			told = append(told, fmt.Sprintf("gone with %d after %v", i.Code(), time.Since(start)))
		}}
		ended := make(chan struct{})
		go func() {
			s.watch()
			close(ended)
		}()
		act(s, ended)
		if ctx.Err() != nil {
			told = append([]string{context.Cause(ctx).Error()}, told...)
		}
	})
	return told
}

func TestTheFirstSignalEndsACommandAndTheSecondTheProcess(t *testing.T) {
	for name, test := range map[string]struct {
		act  func(s *Signals, ended <-chan struct{})
		want []string
	}{
		"it ends by itself": {func(s *Signals, ended <-chan struct{}) {
			s.arrived <- os.Interrupt
			close(s.arrived)
			<-ended
		}, []string{"interrupted"}},
		"it computes": {func(s *Signals, ended <-chan struct{}) {
			s.Reach("half of it")
			s.arrived <- os.Interrupt
			<-ended
		}, []string{"interrupted: half of it", "gone with 130 after 2s"}},
		"two signals": {func(s *Signals, ended <-chan struct{}) {
			s.arrived <- syscall.SIGTERM
			s.arrived <- os.Interrupt
			<-ended
		}, []string{"interrupted", "gone with 143 after 0s"}},
		"the program decides": {func(s *Signals, ended <-chan struct{}) {
			n := 0
			s.To(func(os.Signal) { n++ })
			s.arrived <- os.Interrupt
			s.arrived <- os.Interrupt
			synctest.Wait()
			s.To(nil)
			close(s.arrived)
			<-ended
			if n != 2 {
				t.Errorf("%d of 2 signals were passed on", n)
			}
		}, nil},
	} {
		if got := signalled(t, test.act); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestHowACommandEnds(t *testing.T) {
	failed := errors.New("failed")
	for name, test := range map[string]struct {
		cause, err error
		want       string
	}{
		"by itself":                   {nil, nil, "<nil>"},
		"by an error":                 {nil, failed, "failed"},
		"interrupted":                 {&Interruption{Signal: os.Interrupt}, failed, "130 interrupted"},
		"interrupted at its end":      {&Interruption{os.Interrupt, "half of it"}, nil, "130 interrupted: half of it"},
		"unread":                      {ErrClosedPipe, failed, "141 <nil>"},
		"unread, but something found": {ErrClosedPipe, &Exit{1, failed}, "141 <nil>"},
		"unread at its end":           {nil, fmt.Errorf("writing: %w", syscall.EPIPE), "141 <nil>"},
	} {
		err := ended(test.cause, test.err)
		got := fmt.Sprint(err)
		if exit := (*Exit)(nil); errors.As(err, &exit) {
			got = fmt.Sprint(exit.Code, " ", exit.Err)
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestACommandWhoseOutputIsNotReadEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	w := &pipeWriter{failing{syscall.ENOSPC}, cancel}
	if _, err := w.Write(nil); !errors.Is(err, syscall.ENOSPC) || ctx.Err() != nil {
		t.Errorf("a full disk: %v, %v", err, ctx.Err())
	}
	w.w = failing{syscall.EPIPE}
	if _, err := w.Write(nil); !errors.Is(err, syscall.EPIPE) || context.Cause(ctx) != ErrClosedPipe {
		t.Errorf("a closed pipe: %v, %v", err, context.Cause(ctx))
	}
}

// failing is what cannot be written to, for a reason.
type failing struct{ reason error }

func (f failing) Write([]byte) (int, error) { return 0, f.reason }
