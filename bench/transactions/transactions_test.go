package transactions

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/bench/plot"
)

// timed is a result with given times per operation, without spread.
func timed(figure, name string, p measure.Params, times map[measure.Variant]float64) measure.Result {
	r := measure.Result{Figure: figure, Name: name, Params: p, Ops: 1000}
	for v, ns := range times {
		seconds := ns * 1e-6
		r.Timings = append(r.Timings, measure.Timing{Variant: v, Seconds: []float64{seconds, seconds, seconds}, Median: seconds, PerOp: ns,
			Counters: map[string]float64{commits: 1000, conflicts: 10, validations: 20, readWords: 5000, writtenWords: 2000, coreRatio: 1.02}})
	}
	return r
}

// report is one in which the times as long as sequential are 1.45, twice as fast
// by two.
func report() measure.Report {
	var r measure.Report
	for _, sh := range shapes {
		p := measure.Params{measure.Goroutines: float64(sh.goroutines)}
		ns := map[string]float64{readTen: 70, counter: 40, transfer: 100, readThousand: 4020, update: 400, empty: 20}[sh.name]
		r.Results = append(r.Results, timed(figureMicro, sh.name, p, map[measure.Variant]float64{Mutex: 10, Eager: ns, Timer: ns, measure.Again: ns, Peer: 30 * ns}))
	}
	for i, p := range pauses {
		r.Results = append(r.Results, timed(figureContended, readOnly, measure.Params{pause: float64(p)},
			map[measure.Variant]float64{Mutex: 300, Eager: 9000 - 1000*float64(i), Timer: 4500}))
	}
	for _, p := range programs {
		r.Results = append(r.Results, timed(figureStamp, p.name, nil, map[measure.Variant]float64{
			Sequential: 1000, measure.Again: 1000, Mutex: 1100, Eager: 1450, Timer: 1450,
			byTwo(Mutex): 1100, byTwo(Eager): 725, byTwo(Timer): 725,
		}), timed(figureModes, p.name, nil, map[measure.Variant]float64{Eager: 1450, Timer: 1450, Helper: 5000, Clone: 5800}))
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
		"micro: allocations of a transaction, at most":                      true,
		"micro: times as fast as anacrolix, at least":                       true,
		"micro: times as fast as tiancaiamao (quoted), at least":            true,
		"micro: over NOrec in C++ (quoted), at most":                        false, // 40 over 33
		"contended, pause 300: timer is faster than eager on 1,000 reads":   true,
		"contended, pause 16000: timer is faster than eager on 1,000 reads": false,
		"genome: eager by one goroutine over sequential":                    true,
		"intruder: eager by one goroutine over sequential":                  false,
		"kmeans high: eager by one goroutine over sequential":               true,
		"labyrinth: eager by one goroutine over sequential":                 false,
		"ssca2: eager by two goroutines over one":                           true,
		"stamp: timer over eager by one goroutine, at most":                 true,
	} {
		if got, ok := met[name]; !ok || got != want {
			t.Errorf("target %q: met %v (there: %v), want %v", name, got, ok, want)
		}
	}
	s.Report.Conclude(&out)
	oneLine := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"MISSED", "20 of them are its begin and end", "20 the reads", "5.0 words read and 2.0 written"} {
		if !strings.Contains(oneLine, want) {
			t.Errorf("the conclusion does not say %q:\n%s", want, out.String())
		}
	}
}

func TestMeasurementsThatCannotBeReliedOnAreDoubted(t *testing.T) {
	one := timed(figureStamp, "genome", nil, map[measure.Variant]float64{Sequential: 1000, Eager: 1100, byTwo(Eager): 500})
	for _, c := range []struct {
		spoil func(s *session, t *measure.Timing)
		want  string
	}{
		{func(*session, *measure.Timing) {}, ""},
		{func(_ *session, t *measure.Timing) { t.Seconds = t.Seconds[:1] }, "rounds 1"},
		{func(_ *session, t *measure.Timing) { t.Seconds = []float64{t.Seconds[0], 1.1 * t.Seconds[0]} }, "rounds 2"},
		{func(_ *session, t *measure.Timing) { t.Seconds = []float64{t.Seconds[0], 1.01 * t.Seconds[0]} }, ""},
		{func(_ *session, t *measure.Timing) { t.Counters[coreRatio] = 1.95 }, "cores 1.95"},
		{func(s *session, _ *measure.Timing) { s.Report.Machine.Others = 80 }, "others 80 %"},
	} {
		r := one
		r.Timings = nil
		s := &session{}
		for _, timing := range one.Timings {
			timing.Counters = maps.Clone(timing.Counters)
			c.spoil(s, &timing)
			r.Timings = append(r.Timings, timing)
		}
		s.Report.Results = []measure.Result{r}
		for _, target := range s.targets() {
			if !target.Met || target.Doubt != c.want {
				t.Errorf("%s: met %v, doubt %q, want %q", target.Name, target.Met, target.Doubt, c.want)
			}
			if c.want != "" && !strings.Contains(target.Verdict(), "in doubt") {
				t.Errorf("%s: %s", target.Name, target.Verdict())
			}
		}
	}
}

func TestNothingMeasuredHasNoTargets(t *testing.T) {
	s := &session{}
	if ts := s.targets(); len(ts) > 0 {
		t.Errorf("%+v", ts)
	}
}

func TestEveryFigureHasATableAndAPicture(t *testing.T) {
	var out strings.Builder
	dir := t.TempDir()
	s := &session{Session: measure.Session{Report: report(), Out: &out}, options: options{size: medium}}
	s.printMicro()
	s.printContended()
	s.printStamp()
	s.printModes()
	for _, want := range []string{"Micro-benchmarks", "Contended", "STAMP, medium sets", "30.00x", "1.45x", "2.00x", "184827", "Figure 3", "4.00x"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tables do not contain %q:\n%s", want, out.String())
		}
	}
	if err := plot.Files(dir, s.plots()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"micro", "micro-peer", "contended", "figure3", "sequential", "figure4-genome", "figure5-intruder",
		"figure6-kmeans-low", "figure6-kmeans-high", "figure7-labyrinth", "figure8-ssca2", "figure9-vacation-low", "figure9-vacation-high"} {
		if _, err := os.Stat(filepath.Join(dir, name+".svg")); err != nil {
			t.Error(err)
		}
	}
}

// The packages of STAMP test themselves in every mode; this is about the table.
func TestProgramsOfStampRunAsTheirTableSays(t *testing.T) {
	some := []measure.Variant{Sequential, byTwo(Mutex), byTwo(Eager), Clone}
	for _, c := range append(stampCases(quick), modesCases(quick)...) {
		for _, contender := range c.Contenders {
			if !slices.Contains(some, contender.Variant) {
				continue
			}
			trial := contender.Prepare()
			trial.Run()
			if err := trial.Close(); err != nil {
				t.Errorf("%s, %s: %v", c.Name, contender.Variant, err)
			}
		}
	}
}
