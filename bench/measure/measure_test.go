package measure

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestQuantileLiesBetweenItsNeighbours(t *testing.T) {
	xs := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 0.5: 2.5, 1: 4, 0.25: 1.75} {
		if got := Quantile(xs, q); math.Abs(got-want) > 1e-9 {
			t.Errorf("Quantile(%v) = %v, want %v", q, got, want)
		}
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("the median of nothing is a number")
	}
	if xs[0] != 4 {
		t.Error("Quantile changed the order of its argument")
	}
}

func TestSlowSpellThatHitsBothDoesNotWidenTheRatio(t *testing.T) {
	a := Timing{Variant: Isolate, Seconds: []float64{1.1, 2.2, 1.1, 3.3, 1.1}, Median: 1.1}
	b := Timing{Variant: SameMemory, Seconds: []float64{1, 2, 1, 3, 1}, Median: 1}
	r := Compare(a, b)
	if math.Abs(r.Mid-1.1) > 1e-9 || math.Abs(r.Low-1.1) > 1e-9 || math.Abs(r.High-1.1) > 1e-9 {
		t.Errorf("Compare = %+v, want 1.1 without spread", r)
	}
}

func TestSpreadHoldsTheRatio(t *testing.T) {
	a := Timing{Seconds: []float64{1, 1.2, 0.9, 1.1, 1.05}, Median: 1.05}
	b := Timing{Seconds: []float64{1, 0.8, 1.2, 1, 0.95}, Median: 1}
	r := Compare(a, b)
	if r.Low > r.Mid || r.Mid > r.High || r.Low == r.High {
		t.Errorf("Compare = %+v", r)
	}
}

func TestTogetherIsTheGeometricMeanAndNarrowsTheSpread(t *testing.T) {
	one := Ratio{Mid: 2, Low: 1.8, High: 2.2}
	other := Ratio{Mid: 0.5, Low: 0.45, High: 0.55}
	r := Together([]Ratio{one, other})
	if math.Abs(r.Mid-1) > 1e-9 {
		t.Errorf("2 and 1/2 come to %v", r.Mid)
	}
	if r.High/r.Mid >= one.High/one.Mid {
		t.Errorf("the spread of two is as wide as that of one: %+v", r)
	}
}

func TestEveryContenderTakesEveryPlace(t *testing.T) {
	const n = 3
	places := map[[2]int]bool{}
	for round := range 2 * n {
		var order []int
		for k := range n {
			order = append(order, turn(round, k, n))
			places[[2]int{order[k], k}] = true
		}
		slices.Sort(order)
		if !slices.Equal(order, []int{0, 1, 2}) {
			t.Fatalf("round %d runs %v", round, order)
		}
	}
	if len(places) != n*n {
		t.Errorf("only %d of %d places were taken", len(places), n*n)
	}
}

func TestRunnerThrowsTheFirstRoundAway(t *testing.T) {
	trials, counter := 0, 0.0
	contender := func(v Variant) Contender {
		return Contender{v, func() Trial {
			trials++
			return Trial{Run: func() { counter += 2 }}
		}}
	}
	r := Runner{Rounds: 3, Counters: func() map[string]float64 { return map[string]float64{"seals": counter} }}
	res, err := r.Run(t.Context(), Case{Name: "x", Ops: 10, Baseline: Heap, Contenders: []Contender{contender(Heap), contender(Isolate)}})
	if err != nil {
		t.Fatal(err)
	}
	heap, _ := res.Timing(Heap)
	if trials != 8 || len(heap.Seconds) != 3 || heap.Counters["seals"] != 2 {
		t.Errorf("%d trials; %+v", trials, heap)
	}
	if _, ok := res.Ratio(Isolate, Heap); !ok || len(res.Ratios) != 1 {
		t.Errorf("ratios %+v", res.Ratios)
	}
}

func TestWrongOutcomeEndsTheCase(t *testing.T) {
	bad := errors.New("the list has lost an entry")
	c := Case{Name: "list", Ops: 1, Contenders: []Contender{{Heap, func() Trial {
		return Trial{Run: func() {}, Close: func() error { return bad }}
	}}}}
	if _, err := (&Runner{Rounds: 1}).Run(t.Context(), c); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
}

func TestCancelledRunHasNoResult(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := Case{Name: "list", Ops: 1, Contenders: []Contender{{Heap, func() Trial { return Trial{Run: cancel} }}}}
	if _, err := (&Runner{Rounds: 5}).Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestReportSurvivesJSON(t *testing.T) {
	in := Report{
		Machine: Machine{Go: "go1.26", Cores: 2},
		Results: []Result{{Figure: "8", Name: "list", Params: Params{Goroutines: 4}, Timings: []Timing{{Variant: Heap, Seconds: []float64{1}}}}},
		Targets: []Target{(Target{Name: "mean", Limit: 2, Measured: 3}).Judge()},
	}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out Report
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Of("8")) != 1 || out.Results[0].Params[Goroutines] != 4 || out.Targets[0].Met {
		t.Errorf("came back as %+v", out)
	}
}

func TestProgressOffTerminalIsSparse(t *testing.T) {
	var b strings.Builder
	p := &Progress{w: &b, total: 10, begun: time.Now(), shown: time.Now()}
	for range 10 {
		p.Show("figure %d", 8)
		p.Done(1)
	}
	p.Clear()
	if b.Len() != 0 {
		t.Errorf("wrote %q within the first seconds", b.String())
	}
	p.shown = time.Now().Add(-time.Minute)
	p.Show("figure %d", 8)
	if got := b.String(); got != "[100 %, 0s left] figure 8\n" {
		t.Errorf("wrote %q", got)
	}
}

func TestAChildIsNotAnotherProgram(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil && !slices.Contains(children(), strconv.Itoa(cmd.Process.Pid)) {
		t.Errorf("%d is not among the children %v", cmd.Process.Pid, children())
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestTrialMayTimeItself(t *testing.T) {
	c := Case{Ops: 1, Contenders: []Contender{{"self", func() Trial {
		return Trial{
			Run:      func() {},
			Seconds:  func() float64 { return 7 },
			Counters: func() map[string]float64 { return map[string]float64{"conflicts": 3} },
		}
	}}}}
	res, err := (&Runner{Rounds: 3}).Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Timings[0]; got.Median != 7 || got.Counters["conflicts"] != 3 {
		t.Errorf("%+v", got)
	}
}

func TestBudgetEndsACaseEarly(t *testing.T) {
	c := Case{Ops: 1, Contenders: []Contender{{"a", func() Trial { return Trial{Run: func() {}} }}}}
	res, err := (&Runner{Rounds: 1000, Budget: 1}).Run(t.Context(), c)
	if err != nil || len(res.Timings[0].Seconds) != 3 {
		t.Errorf("%d rounds, %v", len(res.Timings[0].Seconds), err)
	}
}

// A case is over when its rounds say the same, and not before: the second time is other than the
// first, the third is like neither, and the fourth has nothing to add.
func TestAgreementEndsACaseEarly(t *testing.T) {
	for _, c := range []struct {
		times []float64
		want  int
	}{
		{[]float64{1, 1.01, 5, 5}, 2},
		{[]float64{1, 1.2, 1.1, 1.15}, 4},
	} {
		trials := 0
		contender := Contender{"a", func() Trial {
			trials++
			return Trial{Run: func() {}, Seconds: func() float64 { return c.times[trials-1] }}
		}}
		res, err := (&Runner{Rounds: 4, Enough: 0.03, Cold: true}).Run(t.Context(), Case{Ops: 1, Contenders: []Contender{contender}})
		if err != nil || len(res.Timings[0].Seconds) != c.want || trials != c.want {
			t.Errorf("of %v, %d were taken, by %d trials: %v", c.times, len(res.Timings[0].Seconds), trials, err)
		}
	}
}

func TestBudgetLeavesTheLeastRounds(t *testing.T) {
	c := Case{Ops: 1, Contenders: []Contender{{"a", func() Trial { return Trial{Run: func() {}} }}}}
	res, err := (&Runner{Rounds: 5, Budget: 1, Least: 1, Cold: true}).Run(t.Context(), c)
	if err != nil || len(res.Timings[0].Seconds) != 1 {
		t.Errorf("%d rounds, %v", len(res.Timings[0].Seconds), err)
	}
}

// What is skipped does not count as done, or the time that is left would come out too short.
func TestProgressOfSkippedStepsIsNotDone(t *testing.T) {
	p := &Progress{total: 100, begun: time.Now().Add(-time.Minute)}
	p.Drop(50)
	p.Done(25)
	if left := p.left(); left != "1m0s left" {
		t.Errorf("after 25 of 50 steps in a minute, %s", left)
	}
}

func TestInterruptedCaseHasTheRoundsUntilThen(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	trials := 0
	c := Case{Ops: 1, Contenders: []Contender{{"a", func() Trial {
		return Trial{Run: func() {
			if trials++; trials == 4 {
				cancel()
			}
		}}
	}}}}
	res, err := (&Runner{Rounds: 9}).Run(ctx, c)
	if err == nil || len(res.Timings) != 1 || len(res.Timings[0].Seconds) != 2 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestTargetsCanBeAtLeast(t *testing.T) {
	for _, c := range []struct {
		target Target
		met    bool
		aim    string
	}{
		{Target{Limit: 1.7, Measured: 1.8, AtLeast: true, Unit: "x"}, true, "≥ 1.7 x"},
		{Target{Limit: 1.7, Measured: 1.6, AtLeast: true, Unit: "x"}, false, "≥ 1.7 x"},
		{Target{Limit: 8, Measured: 1.6, Unit: "%"}, true, "≤ 8 %"},
	} {
		if got := c.target.Judge(); got.Met != c.met || got.Aim() != c.aim {
			t.Errorf("%+v: met %v, aim %s", c.target, got.Met, got.Aim())
		}
	}
}

func TestInterruptedFiguresAreNoError(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		var out strings.Builder
		s := Session{Context: ctx, Out: &out}
		broken, ran := errors.New("broken"), 0
		err := s.Figures([]func() error{
			func() error { ran++; return nil },
			func() error {
				if ran++; interrupted {
					cancel()
				}
				return broken
			},
			func() error { ran++; return nil },
		})
		cancel()
		if ran != 2 || s.Report.Interrupted != interrupted || (err == nil) != interrupted || strings.Contains(out.String(), "Interrupted") != interrupted {
			t.Errorf("interrupted %t: %d figures ran, %v, report %t, %q", interrupted, ran, err, s.Report.Interrupted, out.String())
		}
	}
}

func TestNoteIsPrintedAndReported(t *testing.T) {
	var out strings.Builder
	s := Session{Out: &out}
	s.Note("race: %s", "no compiler")
	if out.String() != "\nNot measured: race: no compiler\n" || len(s.Report.Notes) != 1 {
		t.Errorf("%q, %q", out.String(), s.Report.Notes)
	}
}

// TestAskTellsAnswersFromErrors serves over pipes in this process.
func TestAskTellsAnswersFromErrors(t *testing.T) {
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	served := make(chan int)
	go func() {
		served <- Serve(in, out, func(n int) (int, error) {
			if n < 0 {
				return 0, errors.New("negative")
			}
			return n * n, nil
		})
	}()
	c := &Child{in: ask, enc: json.NewEncoder(ask), dec: json.NewDecoder(answers)}
	if got, err := Ask[int](c, 7); got != 49 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := Ask[int](c, -1); err == nil || err.Error() != "negative" {
		t.Errorf("%v", err)
	}
	ask.Close()
	if code := <-served; code != 0 {
		t.Errorf("exit code %d", code)
	}
	if _, err := Ask[int](c, 7); err == nil {
		t.Error("a child that has ended answers")
	}
}
