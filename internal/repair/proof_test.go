package repair

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// TestCompleteMeansAllSchedules has searches that end in all the ways that are not all
// schedules.
func TestCompleteMeansAllSchedules(t *testing.T) {
	for _, test := range []struct {
		note      string
		exhausted bool
		cut       int
		want      bool
	}{
		{"all schedules tried (2)", true, 0, true},
		{"all schedules with at most 2 preemptions tried (106)", true, 0, true},
		{"all schedules with at most 2 preemptions tried (106)", false, 0, false},
		{"all schedules with at most 1 preemption tried (5), 3 of those with at most 2", false, 0, false},
		{"all schedules tried (9); but 1 run was cut off, and what it would have led to was not tried", true, 1, false},
		{"all schedules tried (9); but 2 runs did not repeat what an earlier one did: the program is not deterministic, and some schedules were not tried", true, 0, false},
		{"7 schedules without preemption tried", false, 0, false},
	} {
		res := &explore.Result{Done: wire.Done{Progress: wire.Progress{Note: test.note, Cut: test.cut}, Exhausted: test.exhausted}}
		if got := complete(res); got != test.want {
			t.Errorf("%q, exhausted %t, %d cut: complete is %t", test.note, test.exhausted, test.cut, got)
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
			Proof{Replayed: true, Searches: []string{"all schedules tried (2)"}, Native: 20},
			"the failing schedule was run again and passes; all schedules tried (2); go test -race -count=20 passes",
		},
		{
			Proof{Replayed: true, Diverged: "step 7", Searches: []string{"all schedules with at most 1 preemption tried (5)", "10000 schedules by PCT tried"}, Native: 1, Others: true},
			"the failing schedule was run again and passes (it could be followed until step 7); all schedules with at most 1 preemption tried (5); 10000 schedules by PCT tried; go test -race -count=1 passes; so do the package's other tests",
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
