package repair

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/repair/rounds"
	"github.com/cofferdam-go/cofferdam/internal/repair/tried"
)

func TestAShorterTestSaysWhatIsChanged(t *testing.T) {
	s := &ShorterTest{Test: rounds.Test{File: "a_test.go", Lines: []int{7, 12}, From: 200, To: 3}, Steps: 9000, ShorterSteps: 80}
	want := "with 3 in the place of 200 (a_test.go:7,12), the test fails in the same way in a run of 80 steps, and not of 9000"
	if got := s.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	s.Strength = &tried.Strength{Grade: tried.Exhaustive, Preemptions: 2}
	if got := s.String(); got != want+"; with the fix, that one is proven too (exhaustive to 2 preemptions)" {
		t.Error(got)
	}
}
