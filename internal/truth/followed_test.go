package truth

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/lift/gossa"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// TestRecordedRunsAreFollowedEventByEvent: what was recorded of a program's own accesses, the
// engine meets in the program when it follows the run, in the same order, and no access of the
// program is met that the run did not make. A hook that stands elsewhere than the engine has its
// instruction breaks that.
func TestRecordedRunsAreFollowedEventByEvent(t *testing.T) {
	programs := followedPrograms()
	dir := t.TempDir()
	tests := "package random\n\nimport \"testing\"\n"
	for _, p := range programs {
		tests += fmt.Sprintf("\nfunc Test%s(t *testing.T) { t.Error(%s()) }\n", p.Name, p.Name)
	}
	for name, text := range map[string]string{"go.mod": "module random\n\ngo 1.26\n", "programs.go": randprog.File("random", programs), "programs_test.go": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := instrument.Config{Dir: dir, Patterns: []string{"."}, Tests: true}
	build, err := explore.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer build.Close()
	var lifted *gossa.Program
	events := 0
	for _, p := range programs {
		file := filepath.Join(dir, p.Name+".trace")
		record(t, build.Programs[0], "Test"+p.Name, file)
		r, err := trace.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if lifted == nil {
			lifted = lift(t, dir)
		}
		tr := gossa.NewTrace(r)
		lifted.Bind(tr)
		followed, what := notFollowed(lifted, tr)
		events += followed
		if what != "" {
			t.Errorf("%s: %q\n%s", p.Name, what, p.Source)
		}
		r.Close()
	}
	t.Logf("%d programs, %d accesses", len(programs), events)
}

// rare are what is hard to follow, and few of all programs have: deferred calls of a loop over a
// function, and panics by values that the engine does not know.
var rare = []*regexp.Regexp{
	regexp.MustCompile(`range upTo\(2\) \{\s+defer`),
	regexp.MustCompile(`_ = \[\]int\{1\}\[same\(.*[a-z]\d.*\)\]`),
}

// attempts are seeds of programs in which a loop tries to take a lock before a range over a
// function: what came of an attempt must be taken from the trace.
var attempts = []uint64{106, 183}

// followedPrograms are some programs that are drawn, and some that have what is rare.
func followedPrograms() []randprog.Program {
	const drawn, each = 60, 9
	var programs []randprog.Program
	found := make([]int, len(rare))
	for seed := uint64(0); slices.Min(found) < each; seed++ {
		p := randprog.New(fmt.Sprintf("P%d", seed), seed, randprog.Mixed(seed))
		has := slices.IndexFunc(rare, func(r *regexp.Regexp) bool { return r.MatchString(p.Source) })
		if has >= 0 {
			found[has]++
		}
		if seed < drawn || has >= 0 && found[has] <= each || slices.Contains(attempts, seed) {
			programs = append(programs, p)
		}
	}
	return programs
}

// lift lifts the module in a directory.
func lift(t *testing.T, dir string) *gossa.Program {
	t.Helper()
	pkgs, err := load.Packages(load.Config{Dir: dir, Patterns: []string{"."}, Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	var tested *packages.Package // with its tests
	for _, p := range pkgs {
		if p.ForTest != "" && p.Name == "random" {
			tested = p
		}
	}
	prog, built := load.SSA([]*packages.Package{tested})
	lifted, err := gossa.Lift(prog, built, tested.Syntax)
	if err != nil {
		t.Fatal(err)
	}
	return lifted
}

// record records a run of a test under the default schedule.
func record(t *testing.T, program *explore.Program, target, file string) {
	t.Helper()
	o := &explore.Options{Strategy: sched.MethodDFS, Budget: time.Minute, Steps: 100_000, Jobs: 1}
	if _, err := program.Record(context.Background(), target, "default", o, file); err != nil {
		t.Fatal(err)
	}
}

// notFollowed counts the recorded accesses of the program, and says which the engine does not
// come by, or which it comes by that is not recorded.
func notFollowed(lifted *gossa.Program, tr *gossa.Trace) (n int, what string) {
	replay := exec.NewReplay(lifted.Program, tr, exec.Failure{})
	recorded := map[uint32]bool{} // sites; variables that one goroutine uses have hooks that record nothing
	tr.AllAccesses(func(e *exec.Event) bool {
		recorded[e.Site] = true
		return true
	})
	isRecorded := func(site uint32) bool { return recorded[site] }
	for _, g := range tr.Goroutines() {
		var want []exec.Event
		tr.AllAccesses(func(e *exec.Event) bool {
			if e.G == g && len(lifted.InstrsAt(e.Site)) > 0 {
				want = append(want, *e)
			}
			return true
		})
		n += len(want)
		replay.Run(g, nil, func(_ *exec.Thread, step *exec.Step) bool {
			in := step.Instr
			if step.MadeEvent && !step.BeyondTrace && in.Op != ir.Alloc {
				for _, seq := range append(step.Others, step.Time) {
					switch {
					case len(want) > 0 && want[0].Seq == seq:
						want = want[1:]
					case len(want) > 0 && want[0].Seq < seq:
						what = fmt.Sprintf("goroutine %d comes by event %d at %s, and not by %s before", g, seq, step.Point, firstOf(lifted, want))
					}
				}
			} else if in.IsAccess() && in.Key != ir.NextKey && len(want) > 0 && slices.ContainsFunc(in.Sites, isRecorded) {
				what = fmt.Sprintf("goroutine %d comes by %s, %s, which is not recorded there; the next access is %s", g, step.Point, in, firstOf(lifted, want))
			}
			return what == ""
		})
		if what == "" && len(want) > 0 {
			what = fmt.Sprintf("goroutine %d does not come by %s", g, firstOf(lifted, want))
		}
	}
	return n, what
}

// firstOf says which access comes first.
func firstOf(lifted *gossa.Program, all []exec.Event) string {
	if len(all) == 0 {
		return "none"
	}
	var at []string
	for _, in := range lifted.InstrsAt(all[0].Site) {
		at = append(at, in.String())
	}
	return fmt.Sprintf("event %d, %s", all[0].Seq, strings.Join(at, " or "))
}
