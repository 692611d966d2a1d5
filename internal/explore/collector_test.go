package explore

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// TestWhatTheCollectorStartsIsUnderControl: finalizers and cleanups run where the program
// collects, and that nothing is collected elsewhere is told.
func TestWhatTheCollectorStartsIsUnderControl(t *testing.T) {
	p := build(t, "testdata/collector")
	targets, err := p.Targets(t.Context())
	if err != nil || len(targets) != 6 {
		t.Fatalf("targets %v, %v", targets, err)
	}
	for _, target := range targets {
		o := options(t)
		o.Strategy, o.Preemptions, o.Runs = sched.MethodDFS, 1, 40
		res, err := p.Explore(t.Context(), target, o)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		if bug := strings.HasPrefix(target, "TestBug"); bug != (res.Failure != nil) || res.Outside > 0 {
			t.Errorf("%s: failure %v; %s", target, res.Failure, res.Caveats())
		}
		if res.Failure == nil && !res.Search.Held.Collector {
			t.Errorf("%s: %v", target, res.Search)
		}
		if res.Failure != nil {
			replay(t, p, o.Trace, 1)
		}
	}
}
