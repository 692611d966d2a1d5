package sched

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"
)

// doUnit does a unit with a model, and calls each with every run.
func doUnit(t *testing.T, m *model, u *Unit, each func(r *result, n int, print uint64)) UnitDone {
	t.Helper()
	s := u.Strategy()
	rec := NewRecorder(s, true)
	steps := uint64(0)
	for n := 0; !s.Exhausted() && (u.Runs == 0 || n < u.Runs) && (u.Steps == 0 || steps < u.Steps); n++ {
		res := m.run(rec)
		if res.bad != "" {
			t.Fatalf("%s\n%v", res.bad, m)
		}
		steps += uint64(len(res.steps))
		each(res, n, rec.Fingerprint())
	}
	done := u.Done(s)
	done.Steps = steps
	return done
}

// carryOut does what a plan says, the units of a wave in any order, and returns how often
// each schedule was run. small has the units be smaller than planned, by chance.
func carryOut(t *testing.T, m *model, p *Plan, r *rand.Rand, small bool) map[string]int {
	t.Helper()
	ran := map[string]int{}
	seen := map[uint64]bool{}
	for wave := p.Wave(); len(wave) > 0; wave = p.Wave() {
		done := make([]UnitDone, len(wave))
		for _, i := range r.Perm(len(wave)) {
			if small {
				wave[i].Steps = uint64(1 + r.Intn(60))
			}
			fresh := 0
			done[i] = doUnit(t, m, &wave[i], func(res *result, _ int, print uint64) {
				ran[res.trace()]++
				if !seen[print] {
					seen[print] = true
					fresh++
				}
			})
			done[i].Fresh = fresh
		}
		p.Merge(done)
	}
	return ran
}

// TestDividedTreeIsTheWholeTree: whichever way the tree is divided among processes, it has
// the runs that one search has, and each as often.
func TestDividedTreeIsTheWholeTree(t *testing.T) {
	divided := 0
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			r := rand.New(rand.NewSource(*seedFlag))
			programs := f.programs / 5
			if testing.Short() {
				programs /= 5
			}
			for n := range programs {
				m := randomModel(r, f.goroutines, f.length, f.ops)
				m.limit = 200
				bound := n%4 - 1 // -1: none
				whole := map[string]int{}
				d := NewDFS(bound)
				runs := 0
				for ; !d.Exhausted() && runs < 3000; runs++ {
					whole[m.run(d).trace()]++
				}
				if !d.Exhausted() {
					continue
				}
				for _, small := range []bool{false, true, true} {
					p := NewPlan(PlanOptions{Method: MethodDFS, Preemptions: bound})
					got := carryOut(t, m, p, r, small)
					if !maps.Equal(got, whole) {
						t.Fatalf("program %d with bound %d: %d schedules instead of %d\n%v", n, bound, len(got), len(whole), m)
					}
					if p.Progress() != d.Progress() {
						t.Fatalf("program %d with bound %d: %+v, want %+v\n%v", n, bound, p.Progress(), d.Progress(), m)
					}
					divided++
				}
			}
		})
	}
	if divided < 100 {
		t.Errorf("only %d trees were divided", divided)
	}
}

// TestPlanTakesUpWhatWasNotDone: units that were not done come again, and a tree that was
// left half-way is searched to its end.
func TestPlanTakesUpWhatWasNotDone(t *testing.T) {
	m := counters(3, 3)
	whole := map[string]int{}
	d := NewDFS(2)
	for !d.Exhausted() {
		whole[m.run(d).trace()]++
	}
	r := rand.New(rand.NewSource(1))
	p := NewPlan(PlanOptions{Method: MethodDFS, Preemptions: 2})
	got := map[string]int{}
	for wave := p.Wave(); len(wave) > 0; wave = p.Wave() {
		var done []UnitDone
		for i := range wave[:r.Intn(len(wave)+1)] {
			wave[i].Steps = uint64(1 + r.Intn(200))
			done = append(done, doUnit(t, m, &wave[i], func(res *result, _ int, _ uint64) { got[res.trace()]++ }))
		}
		p.Merge(done)
	}
	if !maps.Equal(got, whole) || p.Progress() != d.Progress() {
		t.Errorf("%d schedules instead of %d: %+v, want %+v", len(got), len(whole), p.Progress(), d.Progress())
	}

	p = NewPlan(PlanOptions{Method: MethodRandom, Runs: firstRuns + 3000})
	var numbers []uint64
	for wave := p.Wave(); len(wave) > 0; wave = p.Wave() {
		var done []UnitDone
		for i := range wave[:r.Intn(len(wave)+1)] {
			u := wave[i]
			if u.Method == MethodDFS {
				done = append(done, doUnit(t, counters(5, 5), &u, func(*result, int, uint64) {}))
				done[i].Fresh = 1
				continue
			}
			u.Runs = 1 + r.Intn(u.Runs)
			for n := range u.Runs {
				numbers = append(numbers, u.From+uint64(n))
			}
			done = append(done, UnitDone{Runs: u.Runs, Steps: 1000, Fresh: 1})
		}
		p.Merge(done)
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != uint64(i) {
			t.Fatalf("run %d is number %d", i, n)
		}
	}
	if len(numbers) != 3000 {
		t.Errorf("%d runs by chance, want 3000", len(numbers))
	}
}

// TestSmallSpacesAreTriedOut: a program with a few hundred schedules is done when each was
// tried, whatever the strategy; one with a single schedule after one run.
func TestSmallSpacesAreTriedOut(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, method := range []Method{MethodPCT, MethodRandom} {
		p := NewPlan(PlanOptions{Method: method, Seed: 1})
		carryOut(t, counters(2, 2), p, r, false)
		if got := p.Progress(); !got.Complete() || !got.Unbounded {
			t.Errorf("%s: %+v", method, got)
		}
		for length := range []int{10, 3 * limitedNodes} {
			long := &model{vars: 1, limit: 10 * limitedNodes, code: [][]instruction{slices.Repeat([]instruction{{op: load}, {op: store, b: 1}}, length+1)}}
			p = NewPlan(PlanOptions{Method: method, Seed: 1})
			carryOut(t, long, p, r, false)
			if got := p.Progress(); !got.Complete() || got.Runs != 1 {
				t.Errorf("%s, a program with one goroutine: %+v", method, got)
			}
		}
	}
}

// TestChanceHasItsTurnSoon: of a program with more schedules than a turn has, chance tries as many
// as the search of all, whose number stays what it was.
func TestChanceHasItsTurnSoon(t *testing.T) {
	for _, single := range []bool{false, true} {
		p := NewPlan(PlanOptions{Method: MethodPCT, Seed: 1, Single: single})
		turn, most := firstRuns/firstTurns, firstRuns
		if single {
			turn, most = firstSingle/firstTurns, firstSingle
		}
		tree, chance := 0, 0
		for tree < most {
			wave := p.Wave()
			var done []UnitDone
			for i := range wave {
				u := &wave[i]
				if u.Method == MethodPCT {
					chance += u.Runs
					done = append(done, UnitDone{Runs: u.Runs, Steps: 10, Fresh: 1})
					continue
				}
				d := doUnit(t, counters(6, 6), u, func(*result, int, uint64) {})
				d.Fresh = 1
				tree += d.Runs
				done = append(done, d)
			}
			p.Merge(done)
			if tree > chance+2*turn || chance > tree {
				t.Fatalf("single %v: %d runs by chance beside %d", single, chance, tree)
			}
		}
		if chance < most-2*turn {
			t.Errorf("single %v: %d runs by chance beside %d", single, chance, tree)
		}
		if u := p.Wave()[0]; u.Method != MethodPCT {
			t.Errorf("single %v: %s goes on alone", single, u.Method)
		}
	}
}

// TestSaturationEndsASearchByChance: what shows nothing new for long is not repeated until
// the time is up, and the result says so.
func TestSaturationEndsASearchByChance(t *testing.T) {
	m := counters(4, 4)
	p := NewPlan(PlanOptions{Method: MethodPCT, Seed: 1})
	runs := 0
	for wave := p.Wave(); len(wave) > 0; wave = p.Wave() {
		var done []UnitDone
		for i := range wave {
			done = append(done, doUnit(t, m, &wave[i], func(*result, int, uint64) { runs++ }))
			if runs < 5000 {
				done[i].Fresh = 1
			}
		}
		p.Merge(done)
		if runs > 200_000 {
			t.Fatal("no end")
		}
	}
	got := p.Progress()
	if !p.Saturated() || got.Saturated == 0 || got.Complete() || got.Method != MethodPCT || got.Bound == 0 {
		t.Errorf("%+v", got)
	}
	if runs > 20_000 {
		t.Errorf("%d runs for something that was new for 5000", runs)
	}
}

// TestLongRunsAreLeftToChance: where a run is long, the search of all schedules is given up
// at once.
func TestLongRunsAreLeftToChance(t *testing.T) {
	p := NewPlan(PlanOptions{Method: MethodPCT, Seed: 1, Runs: 20})
	got := carryOut(t, counters(3, 1000), p, rand.New(rand.NewSource(1)), false)
	if want := (Progress{Method: MethodPCT, Runs: 19}); p.Progress() != want {
		t.Errorf("%+v after %d schedules", p.Progress(), len(got))
	}
}

// TestWhatWasCutOffIsLeftToChance: a tree with runs that were cut off is not all there is,
// unless there is nothing to choose.
func TestWhatWasCutOffIsLeftToChance(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	m := counters(2, 2)
	m.limit = 6
	p := NewPlan(PlanOptions{Method: MethodRandom, Seed: 1, Runs: 500})
	carryOut(t, m, p, r, false)
	if got := p.Progress(); got.Complete() || got.Method != MethodRandom || p.runs != 500 {
		t.Errorf("%+v after %d runs", got, p.runs)
	}
	m = &model{vars: 1, limit: 3, code: [][]instruction{slices.Repeat([]instruction{{op: load}}, 10)}}
	p = NewPlan(PlanOptions{Method: MethodRandom, Seed: 1, Runs: 500})
	carryOut(t, m, p, r, false)
	if got := p.Progress(); got.Complete() || got.CutOff != 1 || p.runs != 1 {
		t.Errorf("one goroutine: %+v after %d runs", got, p.runs)
	}
}

// TestPlanKeepsToItsNumberOfRuns whatever the strategy, and with one run in each process.
func TestPlanKeepsToItsNumberOfRuns(t *testing.T) {
	for _, method := range []Method{MethodPCT, MethodRandom, MethodDFS} {
		for _, single := range []bool{false, true} {
			for _, limit := range []int{1, 2, 7, 100, 2500} {
				p := NewPlan(PlanOptions{Method: method, Seed: 1, Preemptions: 4, Runs: limit, Single: single})
				runs := 0
				for wave := p.Wave(); len(wave) > 0; wave = p.Wave() {
					var done []UnitDone
					for i := range wave {
						done = append(done, doUnit(t, counters(5, 5), &wave[i], func(*result, int, uint64) { runs++ }))
						done[i].Fresh = 1
						if single && done[i].Runs != 1 {
							t.Fatalf("a unit with %d runs", done[i].Runs)
						}
					}
					p.Merge(done)
				}
				if runs != limit {
					t.Errorf("%s: %d runs instead of %d", method, runs, limit)
				}
			}
		}
	}
}

// TestUnitOfAnotherProgramIsNotTakenForTheSame: a path that a run cannot follow is counted.
func TestUnitOfAnotherProgramIsNotTakenForTheSame(t *testing.T) {
	p := NewPlan(PlanOptions{Method: MethodDFS, Preemptions: 2})
	m := counters(3, 3)
	for p.tree.bound == 0 || len(p.tree.left) < 3 {
		wave := p.Wave()
		var done []UnitDone
		for i := range wave {
			wave[i].Steps = 1
			done = append(done, doUnit(t, m, &wave[i], func(*result, int, uint64) {}))
		}
		p.Merge(done)
	}
	other := randomModel(rand.New(rand.NewSource(2)), 3, 4, everything.ops)
	for _, u := range p.Wave() {
		if done := doUnit(t, other, &u, func(*result, int, uint64) {}); done.Diverged != 1 || done.Runs != 1 {
			t.Errorf("%+v: %+v", u.Root, done)
		}
	}
}

func TestPathKeysDiffer(t *testing.T) {
	seen := map[pathKey]string{}
	for a := range uint32(40) {
		for b := range uint32(40) {
			for name, k := range map[string]pathKey{
				"one": pathKey{}.with(Fork{a, b}),
				"two": pathKey{}.with(Fork{a, 1}).with(Fork{a + 1, b}),
			} {
				what := fmt.Sprint(name, a, b)
				if was, ok := seen[k]; ok {
					t.Errorf("%s and %s have the same key", was, what)
				}
				seen[k] = what
			}
		}
	}
}

// TestATreeThatCannotBeKeptIsNotCalledTried: of a run that has too much to keep in mind, the
// search of all schedules is given up, and what was tried before is all that is claimed.
func TestATreeThatCannotBeKeptIsNotCalledTried(t *testing.T) {
	m := randomModel(rand.New(rand.NewSource(1)), 3, 6, []opcode{load, store})
	for _, c := range []struct {
		most, paths int
		enough      bool
	}{{maxKept, maxPaths, true}, {20, maxPaths, false}, {maxKept, 1, false}} {
		p := NewPlan(PlanOptions{Method: MethodDFS, Preemptions: 1})
		p.tree.maxPaths = c.paths
		for wave := p.Wave(); len(wave) > 0; wave = p.Wave() {
			var done []UnitDone
			for i := range wave {
				s := wave[i].Strategy().(*Subtree)
				s.maxKept = c.most
				for n := 0; n < 2 && !s.Exhausted(); n++ {
					m.run(s)
				}
				done = append(done, wave[i].Done(s))
			}
			p.Merge(done)
		}
		if got := p.Progress(); got.Exhausted != c.enough || got.Complete() != c.enough || got.Abandoned == c.enough || got.Runs == 0 {
			t.Errorf("with room for %d, and %d paths: %+v", c.most, c.paths, got)
		}
	}
}
