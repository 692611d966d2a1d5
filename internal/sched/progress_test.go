package sched

import "testing"

func TestProgressInWords(t *testing.T) {
	for _, c := range []struct {
		p        Progress
		want     string
		complete bool
	}{
		{Progress{Method: MethodPCT}, "the default schedule tried", false},
		{Progress{Method: MethodRandom, Bound: 1, EarlierRuns: 4}, "all schedules without preemption tried (4)", false},
		{Progress{Method: MethodPCT, Runs: 1}, "1 schedule by random priorities tried, for bugs of depth 1 to 8", false},
		{Progress{Method: MethodPCT, Runs: 68, Depth: 3}, "68 schedules by random priorities tried, for bugs of depth 3", false},
		{Progress{Method: MethodPCT, Runs: 7, Bound: 3, EarlierRuns: 40, Held: Held{Outside: true}}, "all schedules with at most 2 preemptions tried (40), then 7 schedules by random priorities tried, for bugs of depth 1 to 8; held fixed: what is outside control, which was left to chance", false},
		{Progress{Method: MethodPCT, Runs: 7, Bound: 1, EarlierRuns: 4, Held: Held{Chance: true}}, "all schedules without preemption tried (4), then 7 schedules by random priorities tried, for bugs of depth 1 to 8; held fixed: random numbers (1 sequence tried with all of these, then another with each schedule)", false},
		{Progress{Method: MethodRandom, Runs: 2}, "2 random schedules tried", false},
		{Progress{Method: MethodReplay}, "replay of a schedule", false},
		{Progress{Method: MethodDFS, Runs: 7}, "7 schedules without preemption tried", false},
		{Progress{Method: MethodDFS, Bound: 2, EarlierRuns: 5, Runs: 3}, "all schedules with at most 1 preemption tried (5), 3 of those with at most 2", false},
		{Progress{Method: MethodDFS, Bound: 1, EarlierRuns: 5}, "all schedules without preemption tried (5)", false},
		{Progress{Method: MethodDFS, Bound: 2, Runs: 106, EarlierRuns: 5, Exhausted: true}, "all schedules with at most 2 preemptions tried (106)", true},
		{Progress{Method: MethodDFS, Runs: 2, Exhausted: true, Unbounded: true}, "all schedules tried (2)", true},
		{Progress{Method: MethodDFS, Runs: 9, Exhausted: true, Unbounded: true, CutOff: 1}, "all schedules tried (9); but 1 run was cut off, and what it would have led to was not tried", false},
		{Progress{Method: MethodDFS, Runs: 9, Exhausted: true, Unbounded: true, CutOff: 2}, "all schedules tried (9); but 2 runs were cut off, and what they would have led to was not tried", false},
		{Progress{Method: MethodDFS, Runs: 9, Exhausted: true, Unbounded: true, Diverged: 2}, "all schedules tried (9); but 2 runs did not repeat what an earlier one did: the program is not deterministic, and some schedules were not tried", false},
		{Progress{Method: MethodDFS, Runs: 1, Abandoned: true}, "1 schedule without preemption tried; but there is more to keep in mind for it than is allowed, and the search of all schedules was given up: use -strategy pct", false},
		{Progress{Method: MethodDFS, Bound: 2, Runs: 9, Exhausted: true, Stalls: true}, "all schedules with at most 2 preemptions tried (9), stalls counted as preemptions", true},
		{Progress{Method: MethodDFS, Bound: 2, Runs: 9, Exhausted: true, Draws: true}, "all schedules with at most 2 preemptions tried (9), random choices counted as preemptions", true},
		{Progress{Method: MethodDFS, Bound: 2, Runs: 9, Stalls: true, Draws: true, Sequences: 3, Held: Held{Chance: true}}, "all schedules with at most 2 preemptions tried (9), stalls and random choices counted as preemptions; held fixed: random numbers (3 sequences tried)", false},
		{Progress{Method: MethodDFS, Runs: 9, Exhausted: true, Unbounded: true, Held: Held{Stall: true, StallLimit: 250_000_000}}, "all schedules tried (9); held fixed: that the machine stalls for 250ms at most", false},
		{Progress{Method: MethodDFS, Runs: 9, Exhausted: true, Unbounded: true, Held: Held{Stall: true, StallLimit: 2_000_000_000, Clock: true, Outside: true}}, "all schedules tried (9); held fixed: that the machine stalls for 2s at most, when the program starts by its clock and what is outside control, which was left to chance", false},
		{Progress{}, "", false},
	} {
		if got := c.p.String(); got != c.want {
			t.Errorf("%+v is %q, want %q", c.p, got, c.want)
		}
		if got := c.p.Complete(); got != c.complete {
			t.Errorf("%q: complete is %t", c.want, got)
		}
	}
}

func TestExhaustiveIsWhatLeftNothingToChance(t *testing.T) {
	for held, want := range map[Held]bool{
		{}: true, {Stall: true, StallLimit: 1}: true, {Clock: true}: true, {Chance: true}: false, {Outside: true}: false,
	} {
		if got := (Progress{Method: MethodDFS, Exhausted: true, Held: held}).Exhaustive(); got != want {
			t.Errorf("%+v: %v", held, got)
		}
	}
	var all Held
	all.Merge(Held{Stall: true, StallLimit: 5})
	all.Merge(Held{Clock: true})
	if all != (Held{Stall: true, StallLimit: 5, Clock: true}) {
		t.Errorf("%+v", all)
	}
}

func TestDurationsAsPeopleWriteThem(t *testing.T) {
	for ns, want := range map[int64]string{0: "0ns", 7: "7ns", 3_000: "3µs", 250_000_000: "250ms", 1_500_000_000: "1500ms", 2_000_000_000: "2s"} {
		if got := duration(ns); got != want {
			t.Errorf("%d is %s, want %s", ns, got, want)
		}
	}
}

func TestDivergenceInWords(t *testing.T) {
	for want, d := range map[string]Divergence{
		"": {},
		"after step 7 of goroutine 1, goroutine 2 should have gone on but was not ready":      {Why: NotReady, G: 1, N: 7, To: 2},
		"after step 7 of goroutine 1, time should have moved on but no timer was near enough": {Why: NotReady, G: 1, N: 7, To: Time},
		"choice 3 of goroutine 2 did not have the possibility that the schedule names":        {Why: NoPossibility, G: 2, N: 3},
		"the run did not come by at 1 switch or choice of the schedule":                       {Why: NotEncountered, Unused: 1},
	} {
		if got := d.String(); got != want {
			t.Errorf("%+v is %q, want %q", d, got, want)
		}
	}
}
