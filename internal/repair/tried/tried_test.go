package tried

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

func TestStrengthSaysWhatWasTried(t *testing.T) {
	for want, s := range map[string]Strength{
		"exhaustive":                                         {Grade: Exhaustive, Preemptions: -1},
		"exhaustive to one preemption":                       {Grade: Exhaustive, Preemptions: 1},
		"exhaustive to 2 preemptions":                        {Grade: Exhaustive, Preemptions: 2},
		"sampled, 3000 schedules":                            {Grade: Sampled, Preemptions: -1, Schedules: 3000, Planned: 3000},
		"sampled, 1800 schedules of 3000: more with -budget": {Grade: Sampled, Preemptions: -1, Schedules: 1800, Planned: 3000},
	} {
		if got := s.String(); got != want {
			t.Errorf("%+v is %q, want %q", s, got, want)
		}
	}
}

// TestCompleteMeansAllSchedules has searches that end in all the ways that are not all
// schedules.
func TestCompleteMeansAllSchedules(t *testing.T) {
	dfs := func(p sched.Progress) sched.Progress { p.Method = sched.MethodDFS; return p }
	for _, test := range []struct {
		search sched.Progress
		cut    int
		want   bool
	}{
		{dfs(sched.Progress{Exhausted: true, Unbounded: true, Runs: 2}), 0, true},
		{dfs(sched.Progress{Exhausted: true, Bound: 2, Runs: 106}), 0, true},
		{dfs(sched.Progress{Exhausted: true, Bound: 2, Runs: 106}), 1, false},
		{dfs(sched.Progress{Bound: 2, Runs: 106}), 0, false},
		{dfs(sched.Progress{Exhausted: true, Unbounded: true, Runs: 9, CutOff: 1}), 1, false},
		{dfs(sched.Progress{Exhausted: true, Unbounded: true, Runs: 9, Diverged: 2}), 0, false},
		{dfs(sched.Progress{Runs: 7}), 0, false},
		{sched.Progress{Method: sched.MethodPCT, Runs: 10_000}, 0, false},
	} {
		res := &explore.Result{Summary: wire.Summary{Progress: wire.Progress{Search: test.search, Cut: test.cut}}}
		if got := complete(res); got != test.want {
			t.Errorf("%v, %d cut: complete is %t", test.search, test.cut, got)
		}
	}
}
