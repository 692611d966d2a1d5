package isolator

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/bench/plot"
	"github.com/cofferdam-go/cofferdam/bench/structures"
)

// The test program is its own worker, as the command is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[2] == command.WorkerArgument {
		os.Exit(Benchmark.Run(os.Args[2:], os.Stdout, os.Stderr))
	}
	quiet()
	os.Exit(m.Run())
}

// A tally counts operations instead of doing them.
type tally struct{ reads, inserts, deletes atomic.Int64 }

func (t *tally) Read(uint64) (uint64, bool)   { t.reads.Add(1); return 0, true }
func (t *tally) Insert(uint64, uint64) bool   { t.inserts.Add(1); return true }
func (t *tally) Delete(uint64) (uint64, bool) { t.deletes.Add(1); return 0, true }
func (t *tally) total() int64                 { return t.reads.Load() + t.inserts.Load() + t.deletes.Load() }

func TestStressClientDoesWhatTheLoadSays(t *testing.T) {
	for _, l := range []load{
		{goroutines: 1, writes: 0.5, ops: 10_001},
		{goroutines: 3, writes: 0.1, ops: 10_000},
		{goroutines: 8, writes: 0.9, careless: 0.25, ops: 9999},
		{goroutines: 2, writes: 0, careless: 0.5, ops: 10_000},
	} {
		var careful, careless tally
		l.run(&careful, &careless, 100)
		if got := careful.total() + careless.total(); got != int64(l.ops) {
			t.Errorf("%+v: %d operations", l, got)
		}
		if got, want := careless.total(), int64(l.careless*float64(l.ops)); got != want {
			t.Errorf("%+v: %d careless operations, want %d", l, got, want)
		}
		writes := careful.inserts.Load() + careful.deletes.Load() + careless.inserts.Load() + careless.deletes.Load()
		if got := float64(writes) / float64(l.ops); math.Abs(got-l.writes) > 0.02 {
			t.Errorf("%+v: %.3f of the operations write", l, got)
		}
		if d := careful.inserts.Load() - careful.deletes.Load(); d < 0 || d > int64(l.goroutines) {
			t.Errorf("%+v: %d more inserts than deletes", l, d)
		}
	}
}

// run runs a case as the command would, but once and small.
func run(t *testing.T, c measure.Case) measure.Result {
	t.Helper()
	res, err := (&measure.Runner{Rounds: 1, Counters: counters}).Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestEveryVariantOfAStructureRuns(t *testing.T) {
	for _, k := range structures.Kinds {
		l := load{goroutines: 2, writes: 0.5, careless: 0.1, ops: 2000}
		c := measure.Case{Name: k.Name, Ops: l.ops, Baseline: measure.SameMemory}
		for _, v := range []measure.Variant{measure.Heap, measure.SameMemory, measure.Again, measure.Isolate} {
			c.Contenders = append(c.Contenders, l.contender(k, v))
		}
		if res := run(t, c); len(res.Ratios) != 3 {
			t.Errorf("%s: ratios %v", k.Name, res.Ratios)
		}
	}
}

func TestWorstCaseChangesHandsWithEveryOperation(t *testing.T) {
	for _, c := range worstCases(true)[:2] {
		res := run(t, c)
		isolated, _ := res.Timing(measure.Isolate)
		if seals, half := isolated.Counters["seals"], float64(c.Ops)/2; seals < 0.9*half {
			t.Errorf("%s: %.0f seals in %d operations", c.Name, seals, c.Ops)
		}
		same, _ := res.Timing(measure.SameMemory)
		if same.Counters["seals"] != 0 {
			t.Errorf("%s: the baseline was sealed", c.Name)
		}
	}
}

func TestCountersKeepTheirSumBesideACarelessGoroutine(t *testing.T) {
	run(t, noLockCases(true)[1]) // an error ends the test
}

func TestWorkerAnswers(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w, err := startWorker(self)
	if err != nil {
		t.Fatal(err)
	}
	c := casesRace(true)[0]
	c.Contenders = []measure.Contender{w.contender(measure.Race, 0, true)}
	if res := run(t, c); len(res.Timings) != 1 || res.Timings[0].Median <= 0 {
		t.Errorf("a trial of the worker took %v", res.Timings)
	}
	if _, err := w.ask(request{Do: "dance"}); err == nil || !strings.Contains(err.Error(), "dance") {
		t.Errorf("an unknown request is answered with %v", err)
	}
	if err := w.Stop(); err != nil {
		t.Error(err)
	}
}

func TestDeadWorkerIsAnErrorOfTheCase(t *testing.T) {
	self, _ := os.Executable()
	w, err := startWorker(self)
	if err != nil {
		t.Fatal(err)
	}
	w.Stop()
	c := casesRace(true)[0]
	c.Contenders = []measure.Contender{w.contender(measure.Race, 0, true)}
	if _, err := (&measure.Runner{Rounds: 1}).Run(t.Context(), c); err == nil {
		t.Error("a trial of a worker that has ended went well")
	}
}

// timed is a result with given times per operation, without spread.
func timed(figure, name string, p measure.Params, times map[measure.Variant]float64) measure.Result {
	r := measure.Result{Figure: figure, Name: name, Params: p, Ops: 1000}
	for v, ns := range times {
		seconds := ns * 1e-6
		r.Timings = append(r.Timings, measure.Timing{Variant: v, Seconds: []float64{seconds, seconds}, Median: seconds, PerOp: ns,
			Counters: map[string]float64{"seals": 2, "opened": 3}})
	}
	return r
}

func report() measure.Report {
	r := measure.Report{Machine: measure.Machine{Backend: "userfaultfd"}}
	for _, k := range structures.Kinds {
		p8 := measure.Params{measure.Goroutines: 1, measure.Writes: 0.5}
		r.Results = append(r.Results,
			timed("8", k.Name, p8, map[measure.Variant]float64{measure.Heap: 90, measure.SameMemory: 100, measure.Again: 100, measure.Isolate: 101}),
			timed(figureRaceName, k.Name, p8, map[measure.Variant]float64{measure.Heap: 90, measure.Isolate: 101, measure.Race: 900}))
		for _, f := range []float64{0.1, 0.5} {
			p9 := measure.Params{measure.Goroutines: 1, measure.Careless: f}
			r.Results = append(r.Results, timed(figurePlain, k.Name, p9, map[measure.Variant]float64{measure.SameMemory: 100, measure.Isolate: 120}))
		}
	}
	r.Results = append(r.Results,
		timed("11", "pfscan", measure.Params{measure.Goroutines: 4}, map[measure.Variant]float64{measure.Heap: 90, measure.SameMemory: 100, measure.Isolate: 101}),
		timed(figureNoLock, "counters", measure.Params{measure.Goroutines: 1, measure.Careless: 0.5}, map[measure.Variant]float64{measure.SameMemory: 10, measure.Isolate: 900}))
	for _, n := range guardCounts {
		for _, busy := range []bool{false, true} {
			for _, name := range []string{costFault, costSeal} {
				r.Costs = append(r.Costs, measure.Cost{Name: name, Backend: "userfaultfd", Guards: n, Busy: busy, Unit: "µs", Median: 4, P99: 9, Samples: 10})
			}
		}
	}
	return r
}

func TestTargetsAreJudgedAndMissesExplained(t *testing.T) {
	var out strings.Builder
	s := &session{Session: measure.Session{Report: report(), Out: &out}}
	s.Report.Targets = s.targets()
	met := map[string]bool{}
	for _, target := range s.Report.Targets {
		met[target.Name] = target.Met
	}
	for name, want := range map[string]bool{
		"figure 8, all careful: mean over the same memory":               true,
		"figure 9, up to 10 % careless: worst case over the same memory": false,
		"figure 9, 50 % careless: worst case over the same memory":       true,
		"a fault handled, alone":                                         true,
		"a seal among 10000 guards, to one alone":                        true,
	} {
		if got, ok := met[name]; !ok || got != want {
			t.Errorf("target %q: met %v (there: %v), want %v", name, got, ok, want)
		}
	}
	s.Report.Conclude(s.Out)
	oneLine := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"MISSED", "pages changing hands", "interrupt of the other processor"} {
		if !strings.Contains(oneLine, want) {
			t.Errorf("the conclusion does not say %q:\n%s", want, out.String())
		}
	}
}

func TestEveryFigureHasATableAndAPicture(t *testing.T) {
	var out strings.Builder
	dir := t.TempDir()
	s := &session{Session: measure.Session{Report: report(), Out: &out}}
	s.print8()
	s.printPlain()
	s.printTransfers(figureNoLock, "no lock")
	s.print11()
	s.printFault()
	s.printRace()
	for _, want := range []string{"Figure 8", "Figure 9", "Figure 11", "race detector", "+20.0", "90.00x"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tables do not contain %q:\n%s", want, out.String())
		}
	}
	if err := plot.Files(dir, s.plots()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"figure8-list.svg", "figure8-overhead.svg", "figure9-1.svg", "figure11.svg", "race.svg", "fault.svg"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestInterruptedRunPrintsWhatItHas(t *testing.T) {
	var out strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &session{Session: measure.Session{Report: report(), Context: ctx, Out: &out}, options: options{runs: 1, quick: true, figures: command.Chosen("9")}}
	if err := s.run(); err != nil {
		t.Errorf("an interrupt is reported as an error: %v", err)
	}
	for _, want := range []string{"Figure 9", "Interrupted", "Targets"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not contain %q:\n%s", want, out.String())
		}
	}
}

// TestWaitingFigureHasATableAndTargets: medians of 2 and 2.1 are within the limit, of 1 and
// 1.2 are not.
func TestWaitingFigureHasATableAndTargets(t *testing.T) {
	var out strings.Builder
	s := &session{Session: measure.Session{Out: &out}}
	s.Report.Costs = []measure.Cost{
		{Name: costSleepingSection, Guards: 0, Median: 2}, {Name: costSleepingSection, Guards: waitingCareless, Median: 2.1},
		{Name: costTimer, Guards: waitingCareless, Median: 1.2}, {Name: costTimer, Guards: 0, Median: 1},
	}
	s.printWaiting()
	for _, want := range []string{costSleepingSection, costTimer, "2.10", "1.20"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not have %q:\n%s", want, out.String())
		}
	}
	ts := s.targetsWaiting()
	if len(ts) != 2 || !ts[0].Met || ts[1].Met {
		t.Errorf("targets are %+v, want the first met and the second not", ts)
	}
}

func TestWaitingFigureFromEndToEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.json")
	if code := Benchmark.Run([]string{"-quick", "-runs", "1", "-figure", "waiting", "-json", file}, io.Discard, os.Stderr); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), costTimer) {
		t.Errorf("the result has no timers: %v\n%s", err, text)
	}
}

func TestFaultFigureFromEndToEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	if code := Benchmark.Run([]string{"-quick", "-figure", "fault", "-json", file}, io.Discard, os.Stderr); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	data, _ := os.ReadFile(file)
	var r measure.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	backends := map[string]bool{}
	for _, c := range r.Costs {
		backends[c.Backend] = true
	}
	if r.Machine.Backend == "userfaultfd" && !backends["mprotect"] {
		t.Errorf("the fallback was not measured: %v; %v", backends, r.Notes)
	}
}
