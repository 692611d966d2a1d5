package explore

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// TestGoroutinesFromBeforeTheTestsAreUnderControl: those that init functions and TestMain start
// begin in each run. They are no leaks, and no part of a deadlock that they have no lock in.
func TestGoroutinesFromBeforeTheTestsAreUnderControl(t *testing.T) {
	p := build(t, "testdata/early")
	targets, err := p.Targets(t.Context())
	if err != nil || len(targets) != 7 {
		t.Fatalf("targets %v, %v", targets, err)
	}
	for _, target := range targets {
		o := options(t)
		o.Runs = 150
		res, err := p.Explore(t.Context(), target, o)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		if bug := strings.HasPrefix(target, "TestBug"); bug != (res.Failure != nil) || res.Fresh || res.Before > 0 || res.Outside > 0 {
			t.Errorf("%s: failure %v; %s", target, res.Failure, res.Caveats())
		}
		if f := res.Failure; target == "TestBugDeadlock" && f != nil && (f.Kind != event.FailureDeadlock || f.Shape() != event.GroupNeverDone) {
			t.Errorf("%s: %v, %v", target, f.Kind, f.Shape())
		}
	}
}
