package repair_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// covering are the programs of the corpus that have most constructs between them: an
// existing lock whose sections become one, a generic type, a variable of closures, a read
// lock, a helper with careless callers, methods that the failing test does not call, a field beside the data, a channel
// that is closed twice, two locks in two orders, and two that nothing can fix. All of the
// corpus is run by go run ./bench sli.
var covering = []string{"checkact", "lockedhelper", "generic", "closure", "rwreader", "sendclosed", "ordernoinit", "siblings", "statehooks", "closeselect", "lockorderdefer"}

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
	t.Run("programs", func(t *testing.T) {
		for i, p := range build.Programs {
			if want[p.Package] == "fixed" {
				fixed = append(fixed, p.Package)
			}
			t.Run(filepath.Base(p.Package), func(t *testing.T) {
				t.Parallel()
				fixes[i] = one(t, dir, p, want[p.Package])
			})
		}
	})
	if t.Failed() {
		return
	}
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

// one finds a program's failure and the fix, if there is to be one.
func one(t *testing.T, dir string, p *explore.Program, want string) *repair.Candidate {
	temp := t.TempDir()
	o := explore.Options{Strategy: sched.MethodPCT, Seed: 1, Races: true, Budget: 20 * time.Second, Steps: 100_000, Trace: filepath.Join(temp, "failure.trace")}
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
		Explore: o, Proof: 3 * time.Second, Budget: time.Minute, Native: 1, Temp: temp,
	})
	switch {
	case err != nil:
		t.Fatal(err)
	case want == "refused" && result.Proven != nil:
		t.Errorf("a lock cannot fix it, but there is a fix:\n%s", result.Proven.Diff(dir))
	case want == "refused" && result.Refusal == "":
		t.Error("there is no fix, and no reason")
	case want == "fixed" && result.Proven == nil:
		t.Errorf("no fix: %s", result.Refusal)
	}
	return result.Proven
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
