package repair

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/instrument"
)

func TestComplaintIsNewIfItsMessageIs(t *testing.T) {
	before := "# example.com/p\n./p.go:3:5: copies lock\nvet: ./q.go:1:1: odd\n"
	after := "# example.com/p\n./p.go:9:5: copies lock\n./p.go:12:2: unreachable code\nexit status 1\n"
	if got, want := newComplaints(before, after), []string{"./p.go:12:2: unreachable code"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := newComplaints(after, before); !slices.Equal(got, []string{"./q.go:1:1: odd"}) {
		t.Errorf("got %q", got)
	}
}

func TestFailedTestsAreFoundInWhatGoTestWrites(t *testing.T) {
	out := "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\n--- FAIL: TestA (0.01s)\npanic: test timed out after 30s\n\trunning tests:\n\t\tTestB (30s)\n--- PASS: TestC (0.00s)\nFAIL\n"
	if got, want := failing(out), []string{"TestA", "TestB"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFirstLinesBecomeOne(t *testing.T) {
	for text, want := range map[string]string{"\na\nb\nc\n": "a; b", "a": "a", "": ""} {
		if got := firstLines(text, 2); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestATestThatFailsByChanceIsToldFromOneThatDoesNot(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/p\n\ngo 1.26\n",
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
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := &fixer{config: instrument.Config{Dir: dir}, opts: &Options{}}
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
		if got := f.failsNowAndThen(t.Context(), test.tests, test.words, []string{"."}); got != test.want {
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
