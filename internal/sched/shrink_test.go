package sched

import (
	"math/rand"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// fewest returns the smallest number of preemptions with which m can end in state,
// found by trying everything.
func fewest(t *testing.T, m *model, state string, most int) int {
	for bound := range most {
		states, runs := explore(t, m, &exhaustive{bound: bound}, 20000)
		if states[state] {
			return bound
		}
		if runs < 0 {
			return -1
		}
	}
	return most
}

// sideBySide makes all the runs that it is asked for, in another order, as several processes
// would, and tells of those up to the first that fails.
type sideBySide struct{ alone }

func (r sideBySide) Replay(all []Schedule) (failing int, ran Schedule) {
	failing = len(all)
	for i := len(all) - 1; i >= 0; i-- {
		if n, s := r.alone.Replay(all[i : i+1]); n == 0 {
			failing, ran = i, s
		}
	}
	return failing, ran
}

func (r sideBySide) Search(units []Unit) (done []UnitDone, failing *Schedule) {
	each, schedules := make([]UnitDone, len(units)), make([]*Schedule, len(units))
	for i := len(units) - 1; i >= 0; i-- {
		one, s := r.alone.Search(units[i : i+1])
		each[i], schedules[i] = one[0], s
	}
	for i, s := range schedules {
		if s != nil {
			return each[:i+1], s
		}
	}
	return each, nil
}

func TestShrinkFindsTheFewestPreemptions(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	before, after, runs := 0, 0, 0
	var needed [10]int // by number of preemptions
	for shrunk := 0; shrunk < 300; {
		m := randomModel(r, 3, 5, []opcode{load, store, add, lock, unlock, post, wait, choose, branch, forbid, forbid})
		rec := NewRecorder(NewRandom(r.Uint64()), false)
		var failure string
		for range 20 {
			if res := m.run(rec); res.outcome == event.Failed {
				failure = res.outcomeAndState()
				break
			}
		}
		s := rec.Schedule()
		if failure == "" || m.run(NewReplay(Schedule{})).outcomeAndState() == failure {
			continue
		}
		fails := func(s Strategy) bool { return m.run(s).outcomeAndState() == failure }
		got := Shrink(s, alone(fails), 3000)
		if !got.Reproduced || !fails(NewReplay(got.Schedule)) {
			t.Fatalf("%s does not fail\n%v", got.Schedule, m)
		}
		want := fewest(t, m, failure, s.Preemptions())
		if want < 0 {
			continue
		}
		if got.Minimal && got.Schedule.Preemptions() != want {
			t.Fatalf("%s shrunk to %s, said to be minimal; it can be done with %d\n%v", s, got.Schedule, want, m)
		}
		if !got.Minimal {
			t.Errorf("%s was not shrunk to the end, with %d runs\n%v", s, got.Runs, m)
		}
		again := Shrink(s, sideBySide{alone(fails)}, 3000)
		if !again.Schedule.Equal(got.Schedule) || again.Runs != got.Runs || again.Minimal != got.Minimal {
			t.Fatalf("one after the other: %s with %d runs; side by side: %s with %d", got.Schedule, got.Runs, again.Schedule, again.Runs)
		}
		// No single item can be spared.
		for i := range len(got.Schedule.Switches) + len(got.Schedule.Branches) {
			if less := got.Schedule.without(i, i+1); fails(NewReplay(less)) {
				rec := NewRecorder(NewReplay(less), false)
				m.run(rec)
				if smaller(rec.Schedule(), got.Schedule) {
					t.Fatalf("%s can do without item %d\n%v", got.Schedule, i, m)
				}
			}
		}
		needed[want]++
		if want > 0 {
			shrunk++
		}
		runs += got.Runs
		before += len(s.Switches) + len(s.Branches)
		after += len(got.Schedule.Switches) + len(got.Schedule.Branches)
	}
	t.Logf("schedules with %d switches and choices became %d, with %d runs; numbers of those that need 0, 1, ... preemptions: %v", before, after, runs, needed)
	if needed[2] < 10 {
		t.Error("too few of the schedules need two preemptions")
	}
}

func TestShrinkOfALongRun(t *testing.T) {
	m := counters(3, 40)
	rec := NewRecorder(NewRandom(1), false)
	whole := m.run(NewReplay(Schedule{})).state
	lost := func(s Strategy) bool { return m.run(s).state[:4] != whole[:4] }
	if !lost(rec) {
		t.Fatal("no addition was lost in a random run")
	}
	s := rec.Schedule()
	got := Shrink(s, alone(lost), 2000)
	t.Logf("%d preemptions became %s in %d runs", s.Preemptions(), got.Schedule, got.Runs)
	if n := got.Schedule.Preemptions(); n != 1 || !got.Minimal {
		t.Errorf("%s, minimal %v; one preemption is enough", got.Schedule, got.Minimal)
	}
}

func TestShrinkKeepsToItsLimit(t *testing.T) {
	m := counters(3, 40)
	rec := NewRecorder(NewRandom(1), false)
	whole := m.run(NewReplay(Schedule{})).state
	n := 0
	lost := func(s Strategy) bool { n++; return m.run(s).state[:4] != whole[:4] }
	lost(rec)
	for _, limit := range []int{1, 2, 3, 10, 50} {
		n = 0
		got := Shrink(rec.Schedule(), alone(lost), limit)
		if n != got.Runs || n > limit {
			t.Errorf("limit %d: %d runs, said to be %d", limit, n, got.Runs)
		}
		if !lost(NewReplay(got.Schedule)) {
			t.Errorf("limit %d: %s passes", limit, got.Schedule)
		}
	}
}

func TestShrinkReturnsAScheduleThatPassesAsItWas(t *testing.T) {
	s, _ := ParseSchedule("1.2+2,2.3_1")
	got := Shrink(s, alone(func(s Strategy) bool { s.Begin(); s.End(event.Passed, Used{}); return false }), 100)
	if got.Reproduced || got.Runs != 1 || !got.Schedule.Equal(s) {
		t.Errorf("%+v", got)
	}
}

// alone makes runs in this process. run runs the program once under a strategy, with Begin and
// End, and reports whether it fails in the same way as the run that is shrunk.
type alone func(run Strategy) bool

// Replay is that of Runs.
func (run alone) Replay(all []Schedule) (failing int, ran Schedule) {
	for i := range all {
		r := NewRecorder(NewReplay(all[i]), false)
		if run(r) {
			return i, r.schedule
		}
	}
	return len(all), Schedule{}
}

// Search is that of Runs.
func (run alone) Search(units []Unit) (done []UnitDone, failing *Schedule) {
	for i := range units {
		u := &units[i]
		strategy := u.Strategy()
		r := NewRecorder(strategy, false)
		for n := 0; failing == nil && (n == 0 || n < u.Runs && !strategy.Exhausted()); n++ {
			if run(r) {
				s := r.Schedule()
				failing = &s
			}
		}
		if done = append(done, u.Done(strategy)); failing != nil {
			break
		}
	}
	return done, failing
}

// Over is that of Runs: run decides.
func (run alone) Over() bool { return false }

// stubborn are runs of a program that fails by one schedule alone.
type stubborn struct {
	schedule Schedule
	rounds   int
}

func (r *stubborn) Replay(all []Schedule) (int, Schedule) {
	r.rounds++
	for i := range all {
		if all[i].String() == r.schedule.String() {
			return i, all[i]
		}
	}
	return len(all), Schedule{}
}

func (r *stubborn) Search(units []Unit) (done []UnitDone, _ *Schedule) {
	for range units {
		done = append(done, UnitDone{Runs: 1})
	}
	return done, nil
}

func (r *stubborn) Over() bool { return false }

// TestWhatIsTriedIfNothingFailsIsTriedTogether: groups of all sizes, so that several processes have
// enough to do.
func TestWhatIsTriedIfNothingFailsIsTriedTogether(t *testing.T) {
	r := &stubborn{}
	for n := range uint64(12) {
		r.schedule.Switches = append(r.schedule.Switches, Switch{G: 1, N: 2 * (n + 1), To: 2, Preempt: true})
	}
	got := Shrink(r.schedule, r, 1000)
	// The schedule itself, groups before and after the search, later preemptions, and groups again.
	if !got.Reproduced || !got.Minimal || got.Schedule.String() != r.schedule.String() || r.rounds != 5 {
		t.Errorf("%+v in %d rounds", got, r.rounds)
	}
}
