package exploring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"-fast"}, {"toctou"}, {"-runs", "-1"}, {"-bound", "0s"}} {
		var out, err strings.Builder
		if code := Benchmark.Run(args, &out, &err); code != 2 || err.Len() == 0 {
			t.Errorf("bench explore %v: exit code %d, error output %q", args, code, err.String())
		}
	}
	for _, args := range [][]string{{"-fast"}, {"module"}, {"-schedules", "0"}, {"-budget", "0s"}, {"-module", "("}, {"-run", "("}} {
		var out, err strings.Builder
		if code := Modules.Run(args, &out, &err); code != 2 || err.Len() == 0 {
			t.Errorf("bench explore-modules %v: exit code %d, error output %q", args, code, err.String())
		}
	}
}

func TestFailuresAreOfTheModulesAndExplained(t *testing.T) {
	known := map[string]bool{}
	for _, m := range modules {
		known[m.Path] = true
	}
	for i, line := range strings.Split(strings.TrimSpace(failuresText), "\n") {
		if f := strings.SplitN(line, " ", 4); f[0] != "#" && (len(f) != 4 || !known[f[0]] || f[2] != theirs && f[2] != outside || len(f[3]) < 20) {
			t.Errorf("failures.txt:%d: %q", i+1, line)
		}
	}
}

// TestGoTestIsCountedToItsFirstFailure runs a test that fails the fifth time, one that
// never does, one that panics and one that hangs.
func TestGoTestIsCountedToItsFirstFailure(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/counted\n\ngo 1.24\n",
		"x_test.go": `package counted

import "testing"

var n int

func TestFifth(t *testing.T) {
	if n++; n == 5 {
		t.Error("the fifth time")
	}
}

func TestNever(t *testing.T) {}

func TestPanics(t *testing.T) {
	if n++; n == 3 {
		panic("the third time")
	}
}

func TestHangs(t *testing.T) {
	if n++; n == 2 {
		select {}
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "counted.test")
	if _, err := command.Go(t.Context(), dir, "test", "-c", "-o", binary, "."); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		test  string
		found bool
		runs  int
	}{{"TestFifth", true, 5}, {"TestPanics", true, 3}, {"TestHangs", true, 2}, {"TestNever", false, 0}} {
		a, err := native(t.Context(), binary, dir, c.test, 300*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if a.found != c.found || c.found && a.runs != c.runs || !c.found && a.runs < 10 {
			t.Errorf("%s: %+v", c.test, a)
		}
	}
}

func TestReportNamesWhatWasMissed(t *testing.T) {
	found := Attempts{Tried: 3, Found: 3, Runs: []float64{1, 2, 3}, Seconds: []float64{0.1, 0.2, 0.3}, Told: []float64{1, 1, 1}}
	none := Attempts{Tried: 1, Runs: []float64{900}, Seconds: []float64{2}}
	r := Report{
		Searches: []Search{
			{Suite: exampleSuite + " toctou", Test: "TestSteady", Ours: found, Harm: found, Stock: none, Race: found},
			{Suite: pairSuite, Test: "TestBugOne", Ours: none, Stock: none, Race: none},
		},
		Fine:  []Fine{{Test: "TestFineOne", Runs: 300, False: "deadlock"}},
		Rates: []Rate{{Program: "toctou", Strategy: "pct", PerSecond: []float64{4000, 4500, 5500}}},
		Scalings: []Scaling{
			{Program: "toctou", Processes: 2, One: []float64{100, 200, 100}, All: []float64{190, 360, 170}, Apart: []float64{200, 400, 200}},
			{Program: "another", Processes: 4, One: []float64{100}, All: []float64{380}, Apart: []float64{400}},
		},
		Recordings: []Recording{{Result: measure.Result{Name: "recorded TestTree", Timings: []measure.Timing{
			{Variant: race, Seconds: []float64{1, 1}, Median: 1}, {Variant: recorded, Seconds: []float64{4, 4}, Median: 4}}}}},
	}
	r.judge()
	met := map[string]bool{}
	for _, target := range r.Targets {
		met[target.Unit] = target.Met
	}
	for unit, want := range map[string]bool{"s": true, "searches": false, "programs": false, "/s": false, "times": true, "x": false} {
		if met[unit] != want {
			t.Errorf("target in %s: met %v, want %v", unit, met[unit], want)
		}
	}
	var b strings.Builder
	r.print(&b)
	for _, text := range []string{"toctou TestSteady", ">900", "0.200 [0.100, 0.300]", "TestFineOne (deadlock)", "1.80 [1.70, 1.90]", "2.00 [2.00, 2.00]", "4.00x"} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("the report has no %q:\n%s", text, b.String())
		}
	}
}

func TestModulesReportTellsFailuresApart(t *testing.T) {
	passed := Tried{Runs: 1}
	r := ModulesReport{Schedules: 100, Modules: []Module{
		{Path: "example.com/m", Tests: []ModuleTest{
			{Test: "TestPasses", Default: passed, Random: Tried{Runs: 100}},
			{Test: "TestAlone", Default: Tried{Runs: 3}, Every: true},
			{Test: "TestSlow", Default: passed, Random: Tried{Runs: 7}},
			{Test: "TestLong", Default: passed, Random: Tried{Runs: 100, Cut: 3}},
			{Test: "TestLarge", Default: Tried{Runs: 1, Cut: 1, Steps: 4_000_000}},
			{Test: "TestRaces", Default: passed, Random: Tried{Runs: 3, Failure: "data race: x"}, Reason: Reason{theirs, "a bug"}},
			{Test: "TestExecutes", Default: Tried{Error: "stuck"}, Random: Tried{Error: "stuck"}, Reason: Reason{outside, "starts a program"}},
			{Test: "TestFails", Default: passed, Random: Tried{Runs: 3, Failure: "panic: x"}},
		}},
		{Path: "example.com/whole", Tests: []ModuleTest{
			{Test: "TestRaces", Default: passed, Random: Tried{Runs: 3, Failure: "data race: x"}, Reason: Reason{theirs, "a bug"}},
		}},
	}}
	if got, want := r.Modules[0].count(100), (counts{tests: 8, defaultPass: 6, every: 1, random: 1, short: 2, large: 1, theirs: 1, outside: 1, unexplained: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	var b strings.Builder
	r.print(&b)
	for _, text := range []string{"1 of 2 modules pass", "reason: a bug", "reason: starts a program", "Not explained\n  example.com/m TestFails", "3 cut off", "Too large: cut off under the default schedule, and not tried under others\n  example.com/m TestLarge"} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("no %q in\n%s", text, b.String())
		}
	}
}
