package sched

import (
	"bytes"
	"encoding/gob"
	"maps"
	"testing"
)

// elsewhere returns the plan as another process takes it up.
func elsewhere(t *testing.T, p *Plan) *Plan {
	t.Helper()
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(p.State()); err != nil {
		t.Fatal(err)
	}
	var state PlanState
	if err := gob.NewDecoder(&text).Decode(&state); err != nil {
		t.Fatal(err)
	}
	next := NewPlan(p.o)
	next.Restore(&state)
	return next
}

// TestAPlanIsTakenUpElsewhere: a search that is handed from process to process after every wave
// makes the runs that it makes in one, each once, and comes to the same.
func TestAPlanIsTakenUpElsewhere(t *testing.T) {
	m := counters(3, 3)
	for _, o := range []PlanOptions{
		{Method: MethodDFS, Preemptions: 2},
		{Method: MethodDFS, Preemptions: 3, AtOnce: true},
		{Method: MethodRandom, Seed: 3, Runs: 6000},
		{Method: MethodPCT, Seed: 3, Runs: 6000, Single: true},
	} {
		search := func(handOver bool) (map[string]int, Progress) {
			p, ran, seen := NewPlan(o), map[string]int{}, map[uint64]bool{}
			for wave := p.Wave(); len(wave) > 0; wave = p.Wave() {
				var done []UnitDone
				for i := range wave {
					fresh := 0
					done = append(done, doUnit(t, m, &wave[i], func(res *result, _ int, print uint64) {
						ran[res.trace()]++
						if !seen[print] {
							seen[print] = true
							fresh++
						}
					}))
					done[i].Fresh = fresh
				}
				if p.Merge(done); handOver {
					p = elsewhere(t, p)
				}
			}
			return ran, p.Progress()
		}
		want, whole := search(false)
		got, parts := search(true)
		if !maps.Equal(got, want) || parts != whole {
			t.Errorf("%+v: %d schedules instead of %d: %+v, want %+v", o, len(got), len(want), parts, whole)
		}
	}
}

func TestAnEndlessSearchGoesOnWhereNothingNewIsSeen(t *testing.T) {
	for _, endless := range []bool{false, true} {
		p, runs := NewPlan(PlanOptions{Method: MethodRandom, Endless: endless, Paths: 100}), 0
		for wave := p.Wave(); len(wave) > 0 && runs < 50_000; wave = p.Wave() {
			done := make([]UnitDone, len(wave))
			for i, u := range wave {
				done[i] = UnitDone{Runs: u.Runs, Steps: 1000, Abandoned: u.Method == MethodDFS}
				runs += u.Runs
			}
			p.Merge(done)
		}
		if over := runs < 50_000; over == endless {
			t.Errorf("endless %v: %d runs", endless, runs)
		}
	}
}

func TestATreeIsGivenUpAtItsLimitOfPaths(t *testing.T) {
	p := NewPlan(PlanOptions{Method: MethodDFS, Preemptions: 4, Paths: 50})
	m := counters(3, 4)
	for wave := p.Wave(); len(wave) > 0; wave = p.Wave() {
		var done []UnitDone
		for i := range wave {
			wave[i].Steps = 40
			done = append(done, doUnit(t, m, &wave[i], func(*result, int, uint64) {}))
		}
		p.Merge(done)
	}
	if got := p.Progress(); !got.Abandoned || got.Exhausted || len(p.State().Tree.Known) > 2*1000 {
		t.Errorf("%+v with %d numbers", got, len(p.State().Tree.Known))
	}
}
