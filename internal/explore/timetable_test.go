package explore

import (
	"math/rand"
	"testing"
	"time"
)

// A fakeSearch is one whose runs take so long, and show something new until there is nothing
// new any more.
type fakeSearch struct {
	run      time.Duration
	distinct int // in all
	overhead time.Duration

	had   time.Duration
	turns int
	seen  int
}

// turn is what a turn comes to. A run is not left in the middle.
func (s *fakeSearch) turn(budget time.Duration) Turn {
	took, before := s.overhead, s.seen
	for first := true; (first || took < budget) && s.seen < s.distinct; first = false {
		took += s.run
		s.seen++
	}
	s.had += took
	s.turns++
	return Turn{Took: took, New: s.seen - before, Over: s.seen == s.distinct}
}

// share has searches take turns, and returns how long all took.
func share(t *testing.T, total time.Duration, evenly bool, searches ...*fakeSearch) (took time.Duration) {
	t.Helper()
	table := NewTimetable(total, len(searches), evenly)
	for n := 0; ; n++ {
		next, turn, ok := table.Next()
		switch {
		case !ok:
			return took
		case turn <= 0 || turn > total-took:
			t.Fatalf("a turn of %v after %v of %v", turn, took, total)
		case searches[next].turns > 0 && searches[next].seen == searches[next].distinct:
			t.Fatalf("search %d is over and has another turn", next)
		case n > 10_000:
			t.Fatal("turns without end")
		}
		had := searches[next].turn(turn)
		took += had.Took
		table.Had(next, had)
	}
}

const endless = 1 << 40

func TestWhatASearchDoesNotNeedIsForTheOthers(t *testing.T) {
	small := []*fakeSearch{{run: time.Millisecond, distinct: 5}, {run: time.Millisecond, distinct: 700}}
	large := &fakeSearch{run: time.Millisecond, distinct: endless}
	took := share(t, 10*time.Second, false, small[0], large, small[1])
	if took < 10*time.Second || took > 10*time.Second+large.run {
		t.Errorf("%v of 10s", took)
	}
	if small[0].seen != 5 || small[1].seen != 700 || large.seen < 9200 {
		t.Errorf("%d and %d of the small ones, %d of the large one", small[0].seen, small[1].seen, large.seen)
	}
}

// TestTimeGoesToWhatStillShowsSomething: of two searches without end, the one in which there
// is more to see has more of the time; the other is not left out.
func TestTimeGoesToWhatStillShowsSomething(t *testing.T) {
	rich := &fakeSearch{run: time.Millisecond, distinct: endless}
	poor := &fakeSearch{run: 100 * time.Millisecond, distinct: endless}
	share(t, 20*time.Second, false, poor, rich)
	if rich.had < 2*poor.had || poor.had < 4*time.Second {
		t.Errorf("%v for the one that shows 1000 a second, %v for the one that shows 10", rich.had, poor.had)
	}
}

// TestTheBudgetHolds: whatever searches are like, no more than the last turn's last run is
// over the time, all of it is used while there is something to do, and the first turns are in
// order.
func TestTheBudgetHolds(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 500 {
		var all []*fakeSearch
		var longest time.Duration
		for range 1 + r.Intn(60) {
			s := &fakeSearch{run: time.Duration(1+r.Intn(2000)) * time.Millisecond / 2, distinct: 1 + r.Intn(50), overhead: time.Duration(r.Intn(100)) * time.Millisecond}
			if r.Intn(3) == 0 {
				s.distinct = endless
			}
			longest = max(longest, s.run+s.overhead)
			all = append(all, s)
		}
		total := time.Duration(1+r.Intn(60)) * time.Second
		took := share(t, total, r.Intn(2) == 0, all...)
		if took > total+longest {
			t.Fatalf("%v of %v, with runs of %v at most", took, total, longest)
		}
		untried, left := false, false
		for i, s := range all {
			if s.turns > 0 && untried {
				t.Fatalf("search %d had a turn, one before it had none", i)
			}
			untried = untried || s.turns == 0
			left = left || s.seen < s.distinct
		}
		if left && took < total {
			t.Fatalf("only %v of %v was used though there was something left", took, total)
		}
	}
}

// TestSearchesOfSoManyRunsHaveOneTurn: they are not left in between while there is time.
func TestSearchesOfSoManyRunsHaveOneTurn(t *testing.T) {
	a, b := &fakeSearch{run: time.Millisecond, distinct: 3000}, &fakeSearch{run: time.Millisecond, distinct: 6000}
	share(t, 10*time.Second, true, a, b)
	if a.turns != 1 || b.turns != 1 || a.seen != 3000 || b.seen != 6000 {
		t.Errorf("%+v, %+v", a, b)
	}
}
