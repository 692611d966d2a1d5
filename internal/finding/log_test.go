package finding

import (
	"reflect"
	"sync"
	"testing"
	"time"
)

func TestThousandRepeatsAreOneFinding(t *testing.T) {
	var l Log
	for i := range 1000 {
		f := stolen()
		f.Accesses[0].Goroutine = uint64(100 + i)
		f.Accesses[0].Address += uint64(8 * i)
		outcome := Delayed
		if i == 500 {
			outcome = Surrendered
		}
		f.History = Once(outcome, time.Duration(i)*time.Microsecond, noon.Add(time.Duration(i)*time.Second))

		grouped, isNew := l.Add(f)
		if isNew != (i == 0) {
			t.Fatalf("repeat %d: new is %v", i, isNew)
		}
		if grouped.Count != uint64(i+1) {
			t.Fatalf("repeat %d: grouped count is %d", i, grouped.Count)
		}
	}

	want := stolen()
	want.Accesses[0].Goroutine = 100
	want.History = History{
		Count:       1000,
		Outcomes:    Tally{Delayed: 999, Surrendered: 1},
		Waited:      499500 * time.Microsecond,
		LongestWait: 999 * time.Microsecond,
		First:       noon,
		Last:        noon.Add(999 * time.Second),
	}
	if got := l.Findings(); !reflect.DeepEqual(got, []Finding{want}) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if n := l.Dropped(); n != 0 {
		t.Errorf("%d dropped", n)
	}
}

// atLine returns a finding whose identity depends on the line.
func atLine(line int) Finding {
	f := stolen()
	f.Accesses[0].Stack[0].Line = line
	return f
}

func TestFindingsComeInOrderOfArrival(t *testing.T) {
	var l Log
	for _, line := range []int{30, 10, 20, 10, 10, 20} {
		l.Add(atLine(line))
	}
	var lines, counts []int
	for _, f := range l.Findings() {
		lines = append(lines, f.Accesses[0].Site().Line)
		counts = append(counts, int(f.Count))
	}
	if want := []int{30, 10, 20}; !reflect.DeepEqual(lines, want) {
		t.Errorf("lines are %v, want %v", lines, want)
	}
	if want := []int{1, 3, 2}; !reflect.DeepEqual(counts, want) {
		t.Errorf("counts are %v, want %v", counts, want)
	}
}

func TestFullLogCountsWhatItDrops(t *testing.T) {
	l := Log{Limit: 2}
	l.Add(atLine(1))
	l.Add(atLine(2))

	three := atLine(3)
	three.Count = 5
	if got, isNew := l.Add(three); isNew || !reflect.DeepEqual(got, three) {
		t.Errorf("a dropped finding came back as %+v, new %v", got, isNew)
	}
	l.Add(atLine(4))
	if grouped, _ := l.Add(atLine(1)); grouped.Count != 2 {
		t.Errorf("a full log counted a repeat as %d, want 2", grouped.Count)
	}
	if n := len(l.Findings()); n != 2 {
		t.Errorf("%d findings kept, want 2", n)
	}
	if n := l.Dropped(); n != 6 {
		t.Errorf("%d dropped, want 6", n)
	}
}

func TestZeroLogHasTheDefaultLimit(t *testing.T) {
	var l Log
	for line := range DefaultLimit + 1 {
		l.Add(atLine(line))
	}
	if kept, dropped := len(l.Findings()), l.Dropped(); kept != DefaultLimit || dropped != 1 {
		t.Errorf("%d kept and %d dropped, want %d and 1", kept, dropped, DefaultLimit)
	}
}

func TestEmptyHistoryCountsAsOnce(t *testing.T) {
	var l Log
	f := stolen()
	f.History = History{}
	l.Add(f)
	grouped, _ := l.Add(f)
	if want := (History{Count: 2}); grouped.History != want {
		t.Errorf("history is %+v, want %+v", grouped.History, want)
	}
}

func TestCallerMayReuseWhatItAdded(t *testing.T) {
	var l Log
	f := stolen()
	l.Add(f)
	f.Accesses[0].Stack[0] = Frame{Function: "main.overwritten", File: "/x.go", Line: 1}
	f.Accesses[1] = Access{Op: Read}
	if got := l.Findings()[0]; !reflect.DeepEqual(got, stolen()) {
		t.Errorf("the log shares memory with its caller: %+v", got)
	}
}

func TestSnapshotDoesNotChange(t *testing.T) {
	var l Log
	l.Add(stolen())
	snapshot := l.Findings()
	l.Add(stolen())
	if n := snapshot[0].Count; n != 1 {
		t.Errorf("a snapshot went from 1 to %d", n)
	}
}

func TestConcurrentAddsAreAllCounted(t *testing.T) {
	const goroutines, lines, rounds = 8, 5, 200
	var (
		l       Log
		wg      sync.WaitGroup
		mu      sync.Mutex
		claimed int // how often Add called a finding new
	)
	for g := range goroutines {
		wg.Go(func() {
			for i := range lines * rounds {
				f := atLine(i % lines)
				f.Accesses[0].Goroutine = uint64(g)
				if _, isNew := l.Add(f); isNew {
					mu.Lock()
					claimed++
					mu.Unlock()
				}
				if i%100 == 0 {
					for _, f := range l.Findings() {
						f.ID() // reads what Add must not write
					}
				}
			}
		})
	}
	wg.Wait()
	if claimed != lines {
		t.Errorf("%d findings were called new, want %d", claimed, lines)
	}
	findings := l.Findings()
	if len(findings) != lines {
		t.Fatalf("%d findings, want %d", len(findings), lines)
	}
	for _, f := range findings {
		if f.Count != goroutines*rounds || f.Outcomes.Delayed != goroutines*rounds {
			t.Errorf("line %d: counted %d, delayed %d, want %d", f.Accesses[0].Site().Line, f.Count, f.Outcomes.Delayed, goroutines*rounds)
		}
	}
}

func TestRepeatAllocatesNothing(t *testing.T) {
	var l Log
	f := stolen()
	l.Add(f)
	if n := testing.AllocsPerRun(100, func() { l.Add(f) }); n != 0 {
		t.Errorf("a repeat made %v allocations", n)
	}
}

func BenchmarkRepeat(b *testing.B) {
	var l Log
	f := stolen()
	b.ReportAllocs()
	for b.Loop() {
		l.Add(f)
	}
}
