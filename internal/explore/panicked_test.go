package explore

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// TestAPanicIsWhereItsValueComesFrom, and not in the deferred function that held it up and panicked with it
// again, as that of sync.WaitGroup.Go does: two panics of such a function would be one, in a file of the library.
func TestAPanicIsWhereItsValueComesFrom(t *testing.T) {
	p := build(t, "testdata/panicked")
	targets, err := p.Targets(t.Context())
	if err != nil || len(targets) != 5 {
		t.Fatalf("targets %v, %v", targets, err)
	}
	for _, target := range targets {
		o := options(t)
		o.Runs = 10
		res, err := p.Explore(t.Context(), target, o)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		if res.Failure == nil || res.Failure.Kind != event.FailurePanic || len(res.Failure.Stack) == 0 {
			t.Errorf("%s: %v", target, res.Failure)
			continue
		}
		_, begins, _ := strings.Cut(target, "_")
		function, _, _ := strings.Cut(strings.TrimPrefix(res.Failure.Stack[0].Function, "example.com/panicked."), ".func")
		if function != begins {
			t.Errorf("%s: the stack begins in %s", target, res.Failure.Stack[0].Function)
		}
	}
}
