package apps_test

import (
	"context"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/apps"
	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

var _ measure.Source = apps.Cases

// The applications are careful: whatever isolate finds in them is a mistake of
// theirs.
func TestApplicationsComputeWhatTheyShouldWithoutViolations(t *testing.T) {
	t.Cleanup(func() {
		if err := apps.Cleanup(); err != nil {
			t.Error(err)
		}
	})
	guards := isolate.ReadStats().Guards
	runner := measure.Runner{Rounds: 1}
	for _, c := range apps.Cases(true) {
		t.Run(c.Name, func(t *testing.T) {
			result, err := runner.Run(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := result.Ratio(measure.Isolate, measure.Heap); !ok {
				t.Error("the variants isolate and heap were not both run")
			}
		})
	}
	for _, f := range isolate.Findings() {
		t.Errorf("%s: %s", f.Guard, f.Explanation)
	}
	if n := isolate.ReadStats().Guards; n != guards {
		t.Errorf("%d guards are open that were not before", n-guards)
	}
}
