package stmcheck_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/stm/stmcheck"
)

func absolute(t *testing.T, path string) string {
	t.Helper()
	dir, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestEveryCategoryIsReportedAndNothingElse: testdata is a module that uses the real
// package stm. Its packages have functions mustReport and mustNotReport; package
// known has the errors of both kinds.
func TestEveryCategoryIsReportedAndNothingElse(t *testing.T) {
	t.Parallel()
	analysistest.Run(t, absolute(t, "testdata"), stmcheck.Analyzer, "./src/effect", "./src/captured", "./src/escape", "./src/plain", "./src/recovers", "./src/helper", "./src/doomed", "./src/known")
}

func TestFixesInsertCheckpoints(t *testing.T) {
	t.Parallel()
	analysistest.RunWithSuggestedFixes(t, absolute(t, "testdata"), stmcheck.Analyzer, "./src/checkpoint")
}

// justified are the findings in the repository that are not errors: the file, the
// category and the beginning of the message, and why. Those of one line are
// silenced there by a comment; these are a matter of the whole file, or in one
// that tests package stm by breaking its rules.
var justified = []struct{ file, category, message, reason string }{
	{"bench/stamp/labyrinth/transactional.go", "checkpoint", "path can go on", "the search ends in any copy of the grid, and calls tx.Check, as a value, every 1024 steps"},
	{"bench/transactions/micro.go", "captured", "this writes sum", "it is there so that reads are not optimised away, and has no use"},
	{"stm/*_test.go", "effect", "", "another goroutine is made to commit at a certain moment"},
	{"stm/*_test.go", "captured", "", "attempts are counted"},
	{"stm/*_test.go", "escape", "", "a Tx is used where it must not be"},
	{"stm/*_test.go", "recover", "", "what must not be recovered is"},
	{"stm/doomed_test.go", "checkpoint", "recurse can go on", "its checkpoints are passed as values"},
	{"stm/doomed_test.go", "checkpoint", "this loop can go round", "it is to be interrupted"},
	{"stm/doomed_test.go", "checkpoint", "descend can go on", "it is to be interrupted"},
	{"stm/log_fuzz_test.go", "checkpoint", "", "the loop and the recursion end with the script, which is private"},
	{"stm/compiled/slices.go", "allocation", "", "Length validates"},
	{"stm/compiled/calls_unsafe.go", "effect", "Value calls", "what is known of a function is the same in every attempt"},
	{"stm/compiled/calls_unsafe.go", "captured", "this call writes noted", "the same"},
	{"stm/compiled/calls_unsafe.go", "checkpoint", "", "the table is never full"},
	{"stm/log_fuzz_test.go", "plain", "", "the model has the same type as the memory, and is not shared"},
}

// transactional returns the packages of the repository that have transactions, tests
// included. Few have, and to type-check the others with all that they import takes most of
// a minute.
func transactional(t *testing.T, top string) []string {
	t.Helper()
	const stm = "github.com/cofferdam-go/cofferdam/stm"
	all, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedForTest | packages.NeedImports, Dir: top, Tests: true}, "./...", "./bench/...")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, p := range all {
		switch {
		case p.Imports[stm] == nil, strings.HasSuffix(p.PkgPath, ".test"):
		case p.ForTest != "":
			found[p.ForTest] = true
		default:
			found[p.PkgPath] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// TestRepositoryIsClean runs the analyzer over our own transactions, tests included.
func TestRepositoryIsClean(t *testing.T) {
	t.Parallel()
	top := absolute(t, "../..")
	patterns := transactional(t, top)
	if len(patterns) < 8 {
		t.Errorf("only %q have transactions", patterns)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax | packages.NeedModule,
		Dir:   top,
		Tests: true,
	}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{stmcheck.Analyzer}, loaded, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range graph.Roots {
		if action.Err != nil {
			t.Errorf("%s: %v", action.Package.PkgPath, action.Err)
		}
	next:
		for _, d := range action.Diagnostics {
			p := action.Package.Fset.Position(d.Pos)
			file, err := filepath.Rel(top, p.Filename)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range justified {
				match, err := filepath.Match(filepath.FromSlash(j.file), file)
				if err != nil {
					t.Fatal(err)
				}
				if match && d.Category == j.category && strings.HasPrefix(d.Message, j.message) {
					continue next
				}
			}
			t.Errorf("%s:%d: %s: %s", file, p.Line, d.Category, d.Message)
		}
	}
}

// TestUserRunsItWithGoVet is what a user does: the command is built, finds something
// in a module of the user's, fixes it, and finds nothing more.
func TestUserRunsItWithGoVet(t *testing.T) {
	t.Parallel()
	repository := absolute(t, "../..")
	dir := t.TempDir()
	tool := filepath.Join(dir, "stmcheck")
	run := func(dir, name string, args ...string) (string, int) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := run(repository, "go", "build", "-o", tool, "./cmd/stmcheck"); code != 0 {
		t.Fatalf("go build: %s", out)
	}

	user := filepath.Join(dir, "user")
	sum, err := os.ReadFile(filepath.Join("testdata", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join("testdata", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"go.mod": strings.NewReplacer("example.com/transactions", "user", "../../..", repository).Replace(string(mod)),
		"go.sum": string(sum),
		"list/list.go": `package list

type Node struct{ Next *Node }

func (n *Node) Last() *Node {
	for n.Next != nil {
		n = n.Next
	}
	return n
}
`,
		"user.go": `package user

import (
	"user/list"

	"github.com/cofferdam-go/cofferdam/stm"
)

var head *list.Node

func Last() (*list.Node, error) {
	return stm.Value(func(tx *stm.Tx) (*list.Node, error) {
		n := stm.Load(tx, &head)
		for n.Next != nil {
			n = n.Next
		}
		return n, nil
	})
}

func LastToo() (*list.Node, error) {
	return stm.Value(func(tx *stm.Tx) (*list.Node, error) {
		return stm.Load(tx, &head).Last(), nil
	})
}
`,
	} {
		path := filepath.Join(user, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	const (
		loop = "user.go:14:3: this loop can go round without a checkpoint"
		call = "Last can go on without a checkpoint (list.go:6)"
	)
	for _, command := range [][]string{{"go", "vet", "-vettool=" + tool, "./..."}, {tool, "./..."}} {
		out, code := run(user, command[0], command[1:]...)
		if code == 0 || !strings.Contains(out, loop) || !strings.Contains(out, call) {
			t.Errorf("%v: exit %d, want both findings\n%s", command, code, out)
		}
	}
	if out, _ := run(user, tool, "-fix", "."); strings.Contains(out, "error") {
		t.Errorf("-fix: %s", out)
	}
	out, code := run(user, "go", "vet", "-vettool="+tool, "./...")
	if code == 0 || strings.Contains(out, "this loop") || !strings.Contains(out, call) {
		t.Errorf("after -fix: exit %d, want that only the call is left, which has no fix\n%s", code, out)
	}
}
