package repair

import "testing"

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
