package repair

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

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

// TestProofSaysWhatWasTried compares the words with what happened.
func TestProofSaysWhatWasTried(t *testing.T) {
	for _, test := range []struct {
		proof Proof
		want  string
	}{
		{
			Proof{Replayed: true, Searches: []string{"all schedules tried (2)"}, Native: 20, Races: true},
			"the failing schedule was run again and passes; all schedules tried (2); go test -race -count=20 passes",
		},
		{
			Proof{Replayed: true, Diverged: sched.Divergence{Why: sched.NotReady, G: 1, N: 7, To: 2}, Searches: []string{"all schedules with at most 1 preemption tried (5)", "10000 schedules by PCT tried"}, Native: 1, Races: true, Others: true},
			"the failing schedule was run again and passes (it could be followed until after step 7 of goroutine 1, goroutine 2 should have gone on but was not ready); all schedules with at most 1 preemption tried (5); 10000 schedules by PCT tried; go test -race -count=1 passes; so do the package's other tests",
		},
		{
			Proof{Replayed: true, Searches: []string{"all schedules tried (2)"}, Outside: []string{"a network connection"}},
			"the failing schedule was run again and passes; all schedules tried (2); part of the program is not under control, and was tried only as it happened: a network connection; it was not run under the race detector",
		},
	} {
		if got := test.proof.String(); got != test.want {
			t.Errorf("the proof is told as\n%s\nwant\n%s", got, test.want)
		}
	}
}
