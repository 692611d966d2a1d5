package gotest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// module writes a module with files, and returns its directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files = maps.Clone(files)
	files["go.mod"] = "module example.com/p\n\ngo 1.26\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// try runs the test TestIt of a file p_test.go twice with another p.go.
func try(t *testing.T, test, before, after string, brief time.Duration) Result {
	t.Helper()
	dir, temp := module(t, map[string]string{"p_test.go": test, "p.go": before}), t.TempDir()
	changed, overlay := filepath.Join(temp, "p.go"), filepath.Join(temp, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(dir, "p.go"): changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{changed: after, overlay: string(text)} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	runs := &Test{Dir: dir, Patterns: []string{"."}, Selection: "^TestIt$", Count: 2, Brief: brief, Temp: temp, Progress: func(string) {}}
	result, err := runs.Try(t.Context(), Change{Flags: []string{"-overlay=" + overlay}, Packages: []string{"."}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestATestThatPassesOnceInAProcess: a test that leaves something behind passes once in a process, as
// it does without the change, and is run in a process each time. One that passes twice without the
// change, and once with it, shows that the change leaves something behind.
func TestATestThatPassesOnceInAProcess(t *testing.T) {
	t.Parallel()
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
	const leaves, leavesNothing = "package p\n\nvar leaves = true\n", "package p\n\nvar leaves = false\n"
	if r := try(t, test, leaves, leaves, 0); r.Why != "" || !r.Processes || !r.Others {
		t.Errorf("a test that passes once in a process: %+v", r)
	}
	if r := try(t, test, leavesNothing, leaves, 0); !strings.HasPrefix(r.Why, "go test fails: ") {
		t.Errorf("a change that leaves something behind: %+v", r)
	}
}

// TestAChangeThatHangsIsDroppedInABriefTime: a test that ends without a change, and does not with it, is
// not waited for.
func TestAChangeThatHangsIsDroppedInABriefTime(t *testing.T) {
	t.Parallel()
	const test = "package p\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) { wait() }\n"
	const ends, hangs = "package p\n\nfunc wait() {}\n", "package p\n\nfunc wait() { select {} }\n"
	if r := try(t, test, ends, hangs, 3*time.Second); r.Why != "with it, the test hangs: go test has not ended it after 3s" {
		t.Errorf("a change that hangs: %+v", r)
	}
}

func TestFailedTestsAreFoundInWhatGoTestWrites(t *testing.T) {
	out := "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\n--- FAIL: TestA (0.01s)\npanic: test timed out after 30s\n\trunning tests:\n\t\tTestB (30s)\n--- PASS: TestC (0.00s)\nFAIL\n"
	if got, want := failing(out), []string{"TestA", "TestB"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestATestThatFailsByChanceIsToldFromOneThatDoesNot(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{
		"p_test.go": `package p

import "testing"

var flaky, crashes int

func TestSound(t *testing.T) {}

func TestFlaky(t *testing.T) {
	if flaky++; flaky == 7 {
		t.Error("the seventh run")
	}
}

func TestCrashes(t *testing.T) {
	if crashes++; crashes == 7 {
		done := make(chan bool)
		go func() { panic("the seventh run") }()
		<-done
	}
}
`,
	})
	runs := &Test{Dir: dir, Progress: func(string) {}}
	for _, test := range []struct {
		tests, words string
		want         bool
	}{
		{"^TestSound$", "FAIL", false},
		{"^TestFlaky$", "FAIL", true},
		{"^TestCrashes$", "FAIL", true},
		{"", "panic: the seventh run", true},
		{"", "panic: another", false},
	} {
		if got := runs.failsNowAndThen(t.Context(), test.tests, test.words, []string{"."}); got != test.want {
			t.Errorf("%q, %q: got %v", test.tests, test.words, got)
		}
	}
}

// TestTimeOfTestsIsReadFromGoTest: a test that fails has a time too, and one without a time counts
// as none.
func TestTimeOfTestsIsReadFromGoTest(t *testing.T) {
	out := "ok  \tcorpus/a\t0.250s\n--- FAIL: TestIt (3.00s)\nFAIL\nFAIL\tcorpus/b\t1.500s\nok  \tcorpus/c\t(cached)\n"
	if got := testTime(out); got != 1750*time.Millisecond {
		t.Errorf("%v", got)
	}
}
