package drive

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

func TestOutcomeOfEveryKindOfFailure(t *testing.T) {
	m := map[string]int{}
	for name, c := range map[string]struct {
		target func() bool
		kind   event.FailureKind
		cause  event.FailureCause
		op     event.Kind
	}{
		"panic":    {func() bool { rt.Go(goSite, func() { panic("balance is negative") }); rt.Block(waitSite); return false }, event.FailurePanic, event.UnknownCause, event.None},
		"test":     {func() bool { return true }, event.FailureTest, event.UnknownCause, event.None},
		"exit":     {func() bool { rt.Exit(3); return false }, event.FailureExit, event.UnknownCause, event.Exit},
		"deadlock": {func() bool { rt.Block(waitSite); return false }, event.FailureDeadlock, event.UnknownCause, event.None},
		"fatal":    {func() bool { rt.Unlock(new(int32)); return false }, event.FailureFatal, event.UnlockOfUnlocked, event.Unlock},
		"race":     {func() bool { count(false); return false }, event.FailureRace, event.UnknownCause, event.Load},
		"leak":     {func() bool { rt.Go(goSite, func() { rt.Block(waitSite) }); return false }, event.FailureLeak, event.UnknownCause, event.None},
		"partial": {func() bool {
			state := new(int32)
			rt.Go(goSite, func() { rt.Lock(state); rt.Lock(state) })
			return false
		}, event.FailurePartialDeadlock, event.UnknownCause, event.None},
		"none": {func() bool { m["a"]++; return false }, event.NoFailure, event.UnknownCause, event.None},
	} {
		out := done(t, c.target, wire.Order{Verb: wire.Run, Schedule: "default", Races: true, Leaks: true}).Outcome
		worst := out.Worst()
		if c.kind == event.NoFailure {
			if worst != nil || out.Result != event.Passed {
				t.Errorf("%s: %v, %v", name, out.Result, worst)
			}
			continue
		}
		if worst == nil || worst.Kind != c.kind || worst.Cause != c.cause || out.Result != event.Failed {
			t.Errorf("%s: %v, %+v", name, out.Result, worst)
			continue
		}
		waits := worst.Kind == event.FailureDeadlock || worst.Kind == event.FailureLeak || worst.Kind == event.FailurePartialDeadlock
		if waits != (len(worst.Waiting) > 0) || waits && worst.Shape() == event.UnknownShape {
			t.Errorf("%s: waiting are %+v", name, worst.Waiting)
		}
		if worst.Op != c.op && worst.Kind != event.FailureRace {
			t.Errorf("%s: at %v, want %v", name, worst.Op, c.op)
		}
	}
}

func TestRunsThatAreTooLongAreCutOff(t *testing.T) {
	endless := func() bool {
		for {
			*rt.W(sharedCount, storeSite) = 1
		}
	}
	if out := done(t, endless, wire.Order{Verb: wire.Run, Schedule: "default", Steps: 100}).Outcome; out.Result != event.CutOff {
		t.Errorf("%v", out.Result)
	}
}

func TestTheMainFunctionHasItsName(t *testing.T) {
	for function, want := range map[string]string{
		"main.cofferdamMain": "main.main", "main.__cofferdamMain.func1.2": "main.main.func1.2", "main.cofferdamMainly": "main.cofferdamMainly",
		"example.com/p.cofferdamMain": "example.com/p.cofferdamMain", "main.(*T).M": "main.(*T).M",
	} {
		if got := programName(function); got != want {
			t.Errorf("%s is called %s, want %s", function, got, want)
		}
	}
}
