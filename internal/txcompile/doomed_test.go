package txcompile_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/txcompile"
)

// TestDoomedTransactionsEndInCompiledCode is the right column of the table in the comment of
// package stm: whatever a doomed transaction does, it is run again and nobody notices.
func TestDoomedTransactionsEndInCompiledCode(t *testing.T) {
	program := build(t, "testdata/doomed.go.txt")
	for _, deed := range []string{"count", "recurse", "make", "repeat", "grow", "permutation", "digits", "number", "map", "append", "wait", "panic", "goto", "defer", "write"} {
		if !runDoomed(t, program, deed) {
			t.Errorf("%s: none of %d transactions was doomed", deed, most)
		}
	}
}

// TestPlainCodeMayChangeWhatTransactionsTookOut is about what compiled code does not log: that
// plain code alone assigns to it does not mean that it does not change.
func TestPlainCodeMayChangeWhatTransactionsTookOut(t *testing.T) {
	program := build(t, "testdata/privatized.go.txt")
	if out := run(t, program); out != "ok\n" {
		t.Errorf("%.2000s", out)
	}
}

// TestCompiledProgramsPrintTheSame is about what is easily compiled to something else.
func TestCompiledProgramsPrintTheSame(t *testing.T) {
	dir := module(t, "testdata/same.go.txt")
	want := run(t, goBuild(t, dir))
	program, report := compile(t, dir)
	if got := run(t, program); got != want {
		t.Errorf("compiled:\n%s\nunder one lock:\n%s", got, want)
	}
	var effects []string
	for _, e := range report.Effects {
		effects = append(effects, e.Reason)
	}
	const open = " beside a call that may assign to it, and Go leaves open which comes first"
	if diff := cmp.Diff([]string{
		"reads t.n" + open,
		"reads t.words" + open,
		"reads t.last" + open,
		"reads t.last.n" + open,
		"reads t.n" + open,
		"calls fmt.Println",
		"has a loop variable, i, that outlives an iteration",
		"waits in a select statement",
		"receives from a channel",
		"calls (*atomic.Bool).Store",
		"is a method of a struct without a name, or with a local one, by an embedded pointer",
		"calls held of a main.holder that leads to its receiver by a pointer, which is read first",
		"calls a function that leads to its receiver by a pointer, which is read first",
		"calls main.boxed, which declares a type, box, whose values become those of an interface",
	}, slices.Compact(effects)); diff != "" {
		t.Errorf("what runs alone (-want +got):\n%s", diff)
	}
}

// TestUsualProgramsRunBesideEachOther is about errors, what is written out, and functions of the
// standard library that change slices and maps: nothing of that is a reason to run alone.
func TestUsualProgramsRunBesideEachOther(t *testing.T) {
	dir := module(t, "testdata/beside.go.txt")
	want := run(t, goBuild(t, dir))
	program, report := compile(t, dir)
	if got := run(t, program); got != want {
		t.Errorf("compiled:\n%s\nunder one lock:\n%s", got, want)
	}
	for _, e := range report.Effects {
		t.Error(e)
	}
}

// TestAModuleOfOlderGoStaysPlain: a module that is replaced by a directory is the user's own, and
// may be of a language without iterators.
func TestAModuleOfOlderGoStaysPlain(t *testing.T) {
	dir := module(t, "testdata/older.go.txt")
	goMod := read(t, filepath.Join(dir, "go.mod")) + "\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ./lib\n"
	for name, text := range map[string]string{
		"go.mod":     goMod,
		"lib/go.mod": "module example.com/lib\n\ngo 1.18\n",
		"lib/lib.go": "package lib\n\nfunc Sum(m map[string]int) (n int) {\n\tfor _, v := range m {\n\t\tn += v\n\t}\n\treturn n\n}\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program, report := compile(t, dir)
	if got := run(t, program); got != "6\n" {
		t.Errorf("it printed %q", got)
	}
	if len(report.Effects) != 1 || report.Effects[0].Reason != "calls lib.Sum, of a module whose go.mod says go 1.18, where compiled code needs 1.23" {
		t.Error("what runs alone:", report.Effects)
	}
}

func run(t *testing.T, program string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience(t))
	defer cancel()
	out, err := exec.CommandContext(ctx, program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	return string(out)
}

// build compiles the transactions of a program, builds it, and returns its path.
func build(t *testing.T, source string) string {
	t.Helper()
	program, _ := compile(t, module(t, source))
	return program
}

// module makes a program a module of its own, and returns where that is.
func module(t *testing.T, source string) (dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	goMod := read(t, filepath.Join(root, "go.mod"))
	_, rest, _ := strings.Cut(goMod, "\n") // what is required may be imported, too
	for name, text := range map[string]string{
		"main.go": read(t, source),
		"go.sum":  read(t, filepath.Join(root, "go.sum")),
		"go.mod":  "module example.com/m\n" + rest + "\nrequire github.com/cofferdam-go/cofferdam v0.0.0\n\nreplace github.com/cofferdam-go/cofferdam => " + root + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// compile builds a module with compiled transactions, and goBuild with what it may need of
// the go command.
func compile(t *testing.T, dir string) (program string, report txcompile.Report) {
	t.Helper()
	build, err := txcompile.Prepare(txcompile.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer build.Close()
	return goBuild(t, dir, build.Flags...), build.Report
}

func goBuild(t *testing.T, dir string, flags ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "program")
	args := append(append([]string{"build"}, flags...), "-o", program, ".")
	if out, err := gotool.New(dir, nil).Command(t.Context(), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// most is how often a program is run: the other transaction may commit too early.
const most = 30

// runDoomed runs the program until its transaction was doomed once.
func runDoomed(t *testing.T, program, deed string) bool {
	for range most {
		ctx, cancel := context.WithTimeout(t.Context(), await.Patience(t))
		out, err := exec.CommandContext(ctx, program, deed).CombinedOutput()
		cancel()
		switch {
		case err != nil:
			t.Fatalf("%s: %v\n%.2000s", deed, err, out)
		case string(out) == "got 0 true\n":
			return true
		case string(out) != "got 0 false\n":
			t.Fatalf("%s: %s", deed, out)
		}
	}
	return false
}
