package explore

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// keepBusy keeps the processors busy until the test is over: what the watchdog sees of a
// goroutine then is that it does not run.
func keepBusy(t *testing.T) {
	var over atomic.Bool
	done := make(chan bool)
	for range runtime.NumCPU() {
		go func() {
			for !over.Load() {
			}
			done <- true
		}()
	}
	t.Cleanup(func() {
		over.Store(true)
		for range runtime.NumCPU() {
			<-done
		}
	})
}

// TestWhatComesBackIsTakenIn: goroutines go outside control and come back, and communicate
// with goroutines that never were there and with others that never left. None is lost.
func TestWhatComesBackIsTakenIn(t *testing.T) {
	p := build(t, "testdata/reach")
	targets := []string{"TestOutsideSends", "TestOutsideSignals", "TestOutsideIsDone", "TestProcessesAndChannels", "TestPipes", "TestFiles"}
	for _, procs := range []int{1, 4} {
		for _, target := range targets {
			t.Run(fmt.Sprintf("%s/%d", target, procs), func(t *testing.T) {
				if procs > 1 {
					keepBusy(t)
				}
				t.Setenv("GOMAXPROCS", fmt.Sprint(procs))
				o := options(t)
				o.Runs, o.Seed = 5, uint64(procs)
				res, err := p.Explore(t.Context(), target, o)
				if err != nil {
					t.Fatal(err)
				}
				if res.Failure != nil || res.Ended != nil || res.Cut > 0 || res.Runs == 0 {
					t.Errorf("%d runs, %d cut off, ended by %v: %v", res.Runs, res.Cut, res.Ended, res.Failure)
				}
			})
		}
	}
}

// TestARunThatTakesTooLongIsCutOff: it is told what it did, and where in the program.
func TestARunThatTakesTooLongIsCutOff(t *testing.T) {
	p := build(t, "testdata/reach")
	for target, want := range map[string]struct {
		waits    bool
		function string
	}{
		"TestEndComputes":         {false, "example.com/reach.compute"},
		"TestEndWaitsForAPipe":    {true, "example.com/reach.TestEndWaitsForAPipe"},
		"TestEndWaitsForAProcess": {true, "example.com/reach.TestEndWaitsForAProcess.func1"},
	} {
		o := options(t)
		o.Within, o.Budget, o.Runs = 200*time.Millisecond, time.Second, 2
		res, err := p.Explore(t.Context(), target, o)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		if res.TookTooLong != 2 || res.Cut != 2 || res.Failure != nil || res.Came() || len(res.Late) == 0 {
			t.Errorf("%s: %+v", target, res)
			continue
		}
		var text strings.Builder
		res.WriteLate(&text)
		if res.Late[0].Waits != want.waits || !strings.Contains(text.String(), "    "+want.function+"\n") || strings.Contains(text.String(), "cofferdamrt") {
			t.Errorf("%s: waits %v\n%s", target, res.Late[0].Waits, text.String())
		}
	}
}

// TestADeathIsTold: by what the program was ended, and where, if it was ended by itself.
func TestADeathIsTold(t *testing.T) {
	p := build(t, "testdata/reach")
	for target, want := range map[string]struct {
		kind     event.FailureKind
		message  string
		function string
	}{
		"TestEndExits":    {event.FailureExit, "exit status 7", ""},
		"TestEndPanics":   {event.FailurePanic, "outside", "example.com/reach.panics.Write"},
		"TestEndOverruns": {event.FailureFatal, "stack overflow", "example.com/reach.overrun"},
	} {
		res, err := p.Explore(t.Context(), target, options(t))
		if err != nil || res.Failure == nil || res.Death == nil {
			t.Errorf("%s: %+v, %v", target, res, err)
			continue
		}
		if f := res.Failure; f.Kind != want.kind || f.Message != want.message {
			t.Errorf("%s: %s: %s", target, f.Kind, f.Message)
		}
		calls := outerCalls(res.Failure.Stack)
		if want.function != "" && (len(calls) == 0 || calls[0].Function != want.function) {
			t.Errorf("%s: %+v", target, calls)
		}
	}
	o := options(t)
	o.Budget = time.Second
	res, err := p.Explore(t.Context(), "TestEndIsKilled", o)
	var died *DeathError
	if err != nil || res.Failure != nil || res.Came() || !errors.As(res.Ended, &died) || !died.killed() {
		t.Errorf("killed: %+v, %v", res, err)
	}
}
