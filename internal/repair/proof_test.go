package repair

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sched"
)

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
