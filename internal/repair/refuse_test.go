package repair

import "testing"

func TestNearestCandidateSaysWhatIsMissing(t *testing.T) {
	has := &Candidate{changesNothing: true}
	waits, held := &Candidate{Why: "it would wait"}, &Candidate{Why: "it would hang"}
	fails := &Candidate{Reached: Sound}
	for _, c := range []struct {
		all  []*Candidate
		want *Candidate
	}{
		{nil, nil}, {[]*Candidate{has}, has}, {[]*Candidate{has, waits, held}, waits}, {[]*Candidate{waits, has}, waits}, {[]*Candidate{has, waits, fails}, fails},
	} {
		if got := nearest(c.all); got != c.want {
			t.Errorf("of %v: %v", c.all, got)
		}
	}
}
