package explore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/judge"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// writeModule writes programs, each with a test that fails with its outcome.
func writeModule(t *testing.T, programs []randprog.Program) string {
	t.Helper()
	dir := t.TempDir()
	var tests strings.Builder
	tests.WriteString("package random\n\nimport \"testing\"\n")
	for _, p := range programs {
		fmt.Fprintf(&tests, "\nfunc Test%s(t *testing.T) { panic(\"outcome \" + %s()) }\n", p.Name, p.Name)
	}
	for name, text := range map[string]string{
		"go.mod":           "module random\n\ngo 1.26\n",
		"programs.go":      randprog.File("random", programs),
		"programs_test.go": tests.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestOutcomesAreThoseOfTheJudge: all schedules of the instrumented program, and all of the
// interpreted one, end in the same ways.
func TestOutcomesAreThoseOfTheJudge(t *testing.T) {
	const count = 60
	var programs []randprog.Program
	for i := range count {
		programs = append(programs, randprog.New(fmt.Sprintf("P%d", i), uint64(i), randprog.Options{RaceFree: i%2 == 0}))
	}
	dir := writeModule(t, programs)
	judged, err := judge.Load(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	build, err := New(context.Background(), instrument.Config{Dir: dir, Patterns: []string{"."}, Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	defer build.Close()
	compared := 0
	for _, p := range programs {
		want, err := judged.Explore(p.Name, judge.Options{States: 5_000})
		if err != nil {
			t.Fatalf("%v\n%s", err, p.Source)
		}
		if !want.Complete {
			continue
		}
		res, err := build.Programs[0].Explore(context.Background(), "Test"+p.Name, &Options{
			Strategy: sched.MethodDFS, Preemptions: 1000, Budget: 3 * time.Second, Steps: 100_000, Races: true, All: true,
		})
		if err != nil {
			t.Errorf("%v\n%s", err, p.Source)
			continue
		}
		if !res.Search.Complete() {
			continue
		}
		compared++
		var got []string
		races := false
		for _, f := range res.Failures {
			switch f.Kind {
			case event.FailureRace:
				races = true
			case event.FailureDeadlock:
				got = append(got, "deadlock")
			case event.FailurePanic:
				got = append(got, strings.TrimPrefix(f.Message, "outcome "))
			default:
				got = append(got, f.Kind.String()+": "+f.Message)
			}
		}
		slices.Sort(got)
		var wanted []string
		for _, o := range want.Outcomes {
			wanted = append(wanted, strings.TrimSuffix(o, " (leak)"))
		}
		slices.Sort(wanted)
		wanted = slices.Compact(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("outcomes %q, the judge says %q (%d runs)\n%s", got, wanted, res.Runs, p.Source)
		}
		if races != (len(want.Races) > 0) {
			t.Errorf("races %v, the judge says %v\n%s", races, want.Races, p.Source)
		}
	}
	t.Logf("%d programs compared", compared)
}
