package repair_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// covering are the programs of the corpus that have most constructs between them: an
// existing lock whose sections become one, a generic type, a read
// lock, a helper with careless callers, methods that the failing test does not call, a field beside the data, a channel
// that is closed twice, two locks in two orders, a wait that comes of a race, objects that are claimed, objects that
// reflection finds, a fix that takes two
// rounds, an answer that goes through a library, loops of a library over guarded data, a list that is gone through after
// its lock, data that is handed on, values that helpers get and put, entries of a map that are gone through after its lock, and three that nothing can fix. All of the
// corpus is run by go run ./bench sli, which looks at what is told in the same way.
var covering = []string{"checkact", "lockedhelper", "generic", "rwreader", "sendclosed", "ordernoinit", "siblings", "statehooks", "closeselect", "lockorderdefer", "lockorderaccounts", "donemissing", "jobqueue", "waiterlist", "jobattempts", "shopanswers", "handlerstock", "iterators", "hubtaken", "bookview", "quotahelpers", "handlersseen"}

// unseen is the file of a program with tests that the fix is not shown: other methods, and
// other callers, of what is fixed.
const unseen = "unseen_test.go"

// TestCorpus finds the failures of racy programs, fixes or refuses them as each says, and
// runs the fixed ones under the race detector, with tests that the fix was not shown.
func TestCorpus(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), []byte("module corpus\n\ngo 1.26\n"))
	want := map[string]string{}
	hidden := map[string][]byte{}
	var patterns []string
	for _, name := range covering {
		archive, err := txtar.ParseFile(filepath.Join("testdata", "corpus", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		_, kind, _ := strings.Cut(string(archive.Comment), "want: ")
		want["corpus/"+name] = strings.TrimSpace(kind)
		for _, f := range archive.Files {
			if f.Name == unseen {
				hidden[filepath.Join(dir, name, f.Name)] = f.Data
				continue
			}
			write(t, filepath.Join(dir, name, f.Name), f.Data)
		}
		patterns = append(patterns, "corpus/"+name)
	}
	build, err := explore.New(t.Context(), instrument.Config{Dir: dir, Patterns: patterns, Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	defer build.Close()
	fixed := []string{"test", "-race", "-count=20"}
	fixes := make([]*repair.Candidate, len(build.Programs))
	told := make([]string, len(build.Programs))
	t.Run("programs", func(t *testing.T) {
		for i, p := range build.Programs {
			if want[p.Package] == "fixed" {
				fixed = append(fixed, p.Package)
			}
			t.Run(filepath.Base(p.Package), func(t *testing.T) {
				t.Parallel()
				fixes[i], told[i] = one(t, dir, p, want[p.Package])
			})
		}
	})
	if t.Failed() {
		return
	}
	quotesReports(t, told)
	// Not earlier: while one is fixed, the source of all of them is read.
	for _, f := range fixes {
		if f == nil {
			continue
		}
		if err := f.Apply(); err != nil {
			t.Error(err)
		}
	}
	for name, text := range hidden {
		write(t, name, text)
	}
	cmd := exec.Command("go", fixed...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the fixed programs: %v\n%s", err, out)
	}
}

// quotesReports checks that the reports which the README quotes are some of those that were written.
func quotesReports(t *testing.T, told []string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	quoted := 0
	for _, block := range strings.Split(string(readme), "```\n") {
		if !strings.HasPrefix(block, "What happens: ") {
			continue
		}
		quoted++
		// A person has the test run more often.
		block = strings.ReplaceAll(block, "-count=20", fmt.Sprintf("-count=%d", nativeRuns))
		if !slices.ContainsFunc(told, func(report string) bool { return strings.Contains(report, block) }) {
			first, _, _ := strings.Cut(block, "\n")
			i := slices.IndexFunc(told, func(report string) bool { return strings.Contains(report, first) })
			if i < 0 {
				t.Errorf("the README quotes a report that no program has:\n%s", block)
				continue
			}
			t.Errorf("the README quotes a report (-) that is another (+):\n%s", cmp.Diff(block, told[i][strings.Index(told[i], first):]))
		}
	}
	if quoted < 3 {
		t.Errorf("the README quotes %d reports", quoted)
	}
}

// nativeRuns is how often a fixed test is run by go test.
const nativeRuns = 1

// one finds a program's failure and the fix, if there is to be one, and returns it with the report.
func one(t *testing.T, dir string, p *explore.Program, want string) (*repair.Candidate, string) {
	temp := t.TempDir()
	o := explore.Options{Strategy: sched.MethodPCT, Seed: 1, Races: true, Budget: 20 * time.Second, Harm: time.Second, Steps: 100_000, Trace: filepath.Join(temp, "failure.trace")}
	res, err := p.Explore(t.Context(), "TestIt", &o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Failure == nil {
		t.Fatalf("no failure in %d schedules", res.Runs)
	}
	r, err := trace.Open(o.Trace)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	result, err := repair.Fix(t.Context(), instrument.Config{Dir: dir, Patterns: []string{p.Package}, Tests: true}, r, &repair.Options{
		Explore: o, Proof: 3 * time.Second, Budget: time.Minute, Native: nativeRuns, Temp: temp,
	})
	switch {
	case err != nil:
		t.Fatal(err)
	case want == "refused" && result.Proven != nil:
		t.Errorf("a lock cannot fix it, but there is a fix:\n%s", result.Proven.Diff(dir))
	case want == "refused" && result.Refusal == nil:
		t.Error("there is no fix, and no reason")
	case want == "fixed" && result.Proven == nil:
		t.Errorf("no fix: %s", result.Refusal)
	case want == "fixed" && len(result.Proven.Patch.NewLocks) > 1:
		t.Errorf("one lock would do:\n%s", result.Proven.Diff(dir))
	}
	if result.Refusal != nil {
		namesWhatBrokeIt(t, result.Refusal)
	}
	return result.Proven, speaksToPeople(t, result, r)
}

// speaksToPeople checks that nothing of the engine's notation is in what comes of a program, be it
// for a person or for other programs. It returns the report.
func speaksToPeople(t *testing.T, result *repair.Result, r *trace.Reader) string {
	t.Helper()
	var told strings.Builder
	if err := result.Explain(&told, r); err != nil {
		t.Fatal(err)
	}
	reports := result.CandidateReports("")
	for i := range reports {
		reports[i].Diff = "" // that is the program's own text
	}
	data, err := json.Marshal(reports)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{told.String(), string(data), result.WhatHappens(), result.Why(), result.MissedNote()} {
		if found := draw.Notation.FindString(text); found != "" {
			t.Errorf("people are told of %q:\n%s", found, text)
		}
	}
	return told.String()
}

// line is a line of the program.
var line = regexp.MustCompile(`\w\.go:\d`)

// namesWhatBrokeIt checks the parts of a refusal: the nearest candidate with what broke it and
// where, or the place of the failure if there was none; and the flag that gives more time, if that
// was over.
func namesWhatBrokeIt(t *testing.T, refusal *repair.Refusal) {
	t.Helper()
	text := refusal.String()
	if !line.MatchString(text) {
		t.Errorf("a refusal without a line of the program: %s", text)
	}
	if refusal.OutOfTime && !strings.Contains(text, "-budget") {
		t.Errorf("the time was over, and nothing says how to give more: %s", text)
	}
	nearest := refusal.Nearest
	switch {
	case nearest == nil:
		if refusal.Reason == "" || !strings.Contains(text, "by the schedule") {
			t.Errorf("no candidate, and no reason or no schedule: %s", text)
		}
	case !strings.Contains(text, nearest.Lock) || !strings.Contains(text, nearest.Why):
		t.Errorf("the nearest candidate, or why it was dropped, is not told: %s", text)
	case nearest.Reached == repair.Sound && (nearest.Broken == nil || !strings.Contains(text, nearest.Broken.Schedule) || len(nearest.Broken.Places) == 0):
		t.Errorf("a schedule broke the nearest candidate, and is not told: %s", text)
	}
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
}
