package txcompile_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/txcompile"
)

// TestDoomedTransactionsEndInCompiledCode is the right column of the table in the comment of
// package stm: whatever a doomed transaction does, it is run again and nobody notices.
func TestDoomedTransactionsEndInCompiledCode(t *testing.T) {
	program := build(t, "testdata/doomed.go.txt")
	for _, deed := range []string{"count", "recurse", "make", "repeat", "map", "append", "wait", "panic"} {
		if !runDoomed(t, program, deed) {
			t.Errorf("%s: none of %d transactions was doomed", deed, most)
		}
	}
}

// TestPlainCodeMayChangeWhatTransactionsTookOut is about what compiled code does not log: that
// plain code alone assigns to it does not mean that it does not change.
func TestPlainCodeMayChangeWhatTransactionsTookOut(t *testing.T) {
	program := build(t, "testdata/privatized.go.txt")
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience(t))
	defer cancel()
	if out, err := exec.CommandContext(ctx, program).CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%v\n%.2000s", err, out)
	}
}

// build compiles the transactions of a program, builds it, and returns its path.
func build(t *testing.T, source string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": string(text),
		"go.mod":  "module example.com/m\n\ngo 1.26.0\n\nrequire github.com/cofferdam-go/cofferdam v0.0.0\n\nreplace github.com/cofferdam-go/cofferdam => " + root + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	build, err := txcompile.Prepare(txcompile.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer build.Close()
	program := filepath.Join(dir, "program")
	args := append(append([]string{"build"}, build.Flags...), "-o", program, ".")
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
