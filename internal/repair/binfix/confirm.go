package binfix

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/internal/emu/drive"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/native"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Confirmation is what the schedule that failed in the emulator did on the processor, thread
// by thread in the same order under ptrace.
type Confirmation struct {
	// Confirmed: the program failed there, too. Signal is what ended it, "" if it did not end
	// by one, as by a deadlock or a use of freed memory.
	Confirmed bool   `json:"confirmed"`
	Signal    string `json:"signal,omitempty"`
	Deadlock  bool   `json:"deadlock,omitempty"`
	// Reached: the failing instruction was reached with all threads as in the emulator.
	Reached bool `json:"reached,omitempty"`
	// Why says why it is not confirmed.
	Why string `json:"why,omitempty"`
}

// refusedTracing is why nothing is confirmed where the system does not allow it.
const refusedTracing = "ptrace is refused here"

// confirm has the program follow the schedule on the processor. That the schedule cannot be
// followed there is no error: the emulator's C library is told of another processor.
func (f *fixer) confirm(outcome *trace.Outcome) (*Confirmation, error) {
	if f.Native == 0 {
		return nil, nil // nothing is to run on the processor
	}
	f.Progress("following the schedule on the processor", "")
	var nearest *Confirmation
	legs := -1 // how many of a route's legs the nearest followed
	for _, after := range []bool{false, true} {
		route, err := f.result.Program.Route(outcome.Schedule, after)
		if errors.Is(err, drive.ErrHalves) {
			return &Confirmation{Why: err.Error()}, nil
		}
		if err != nil {
			return nil, err
		}
		followed, err := f.follow(route)
		if errors.Is(err, native.ErrRefused) {
			return &Confirmation{Why: refusedTracing}, nil
		}
		if err != nil {
			return &Confirmation{Why: err.Error()}, nil
		}
		c := judge(followed, outcome.Worst())
		if c.Confirmed {
			return &c, nil
		}
		if followed.Legs > legs {
			nearest, legs = &c, followed.Legs
		}
	}
	return nearest, nil
}

// judge says whether a program that followed a route failed as it did in the emulator.
func judge(f *native.Followed, failure *trace.Failure) Confirmation {
	c := Confirmation{Signal: f.Signal, Deadlock: f.Deadlock, Reached: f.Reached, Why: f.Why}
	switch {
	case c.Why != "":
	case failure.Kind == event.FailureDeadlock:
		c.Confirmed = f.Deadlock
	case f.Signal != "":
		c.Confirmed = true
	case failure.Cause == event.UseAfterFree || failure.Cause == event.DoubleFree:
		c.Confirmed = f.Reached // which nothing need notice
	}
	if !c.Confirmed && c.Why == "" {
		c.Why = "the threads ran in the same order and the program did not fail"
	}
	return c
}

func (f *fixer) follow(route *drive.Route) (*native.Followed, error) {
	file := filepath.Join(f.Temp, "input")
	if err := os.WriteFile(file, f.Binary.Input, 0o600); err != nil {
		return nil, err
	}
	input, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer input.Close()
	legs := make([]native.Leg, len(route.Legs))
	for i, l := range route.Legs {
		legs[i] = native.Leg(l)
	}
	b := &f.Binary
	return native.Follow(&native.Launched{Path: b.Path, Args: b.Args, Env: b.Env, Dir: b.Dir, Stdin: input},
		&native.Route{Legs: legs, Failing: route.Failing, At: route.At, Count: route.Count})
}

func (c *Confirmation) String() string {
	switch {
	case !c.Confirmed:
		return "On the processor the schedule is not confirmed: " + c.Why + "."
	case c.Deadlock:
		return "On the processor, with the threads stopped and started in the same order, no thread can go on either."
	case c.Signal != "":
		return fmt.Sprintf("On the processor, with the threads stopped and started in the same order, the program is killed by %s.", c.Signal)
	}
	return "On the processor, with the threads stopped and started in the same order, the same access is made, which nothing there notices."
}
