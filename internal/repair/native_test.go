package repair

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
)

// TestATestThatPassesOnceInAProcess: a test that leaves something behind passes once in a process, as
// it does without the candidate, and is run in a process each time. One that passes twice without the
// candidate, and once with it, shows that the candidate leaves something behind.
func TestATestThatPassesOnceInAProcess(t *testing.T) {
	const test = `package p

import "testing"

var left bool

func TestIt(t *testing.T) {
	if left {
		t.Fatal("it was run before")
	}
	left = leaves
}
`
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.26\n", "p_test.go": test} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(before, after string) (proof *Proof, why string) {
		name := filepath.Join(dir, "p.go")
		if err := os.WriteFile(name, []byte(before), 0o666); err != nil {
			t.Fatal(err)
		}
		config := instrument.Config{Dir: dir, Patterns: []string{"."}, Tests: true}
		f := &fixer{config: config, target: "TestIt", opts: &Options{Native: 2, Temp: t.TempDir()}}
		config.Overlay = map[string][]byte{name: []byte(after)}
		c := &Candidate{config: config, Proof: &Proof{}, Patch: new(cover.Patch)}
		why, err := f.native(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return c.Proof, why
	}
	const leaves, leavesNothing = "package p\n\nvar leaves = true\n", "package p\n\nvar leaves = false\n"
	proof, why := run(leaves, leaves)
	if why != "" || !proof.Processes || proof.Native != 2 || !strings.Contains(proof.String(), "passes 2 times (the test passes once in a process)") {
		t.Errorf("a test that passes once in a process: %q, %s", why, proof)
	}
	if _, why := run(leavesNothing, leaves); !strings.HasPrefix(why, "go test fails: ") {
		t.Errorf("a candidate that leaves something behind is not told: %q", why)
	}
}
