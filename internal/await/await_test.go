package await

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An impatient test has hardly any time left, and notes its failure.
type impatient struct {
	testing.TB
	failed string
}

func (*impatient) Deadline() (time.Time, bool) { return time.Now().Add(4 * time.Millisecond), true }
func (*impatient) Helper()                     {}
func (i *impatient) Fatalf(format string, args ...any) {
	i.failed = fmt.Sprintf(format, args...)
	panic(i)
}

// failure returns what a test that waits in vain fails with.
func failure(t *testing.T, wait func(testing.TB)) string {
	i := &impatient{TB: t}
	func() {
		defer func() { _ = recover() }()
		wait(i)
	}()
	return i.failed
}

func TestWhatHappensIsWaitedFor(t *testing.T) {
	var happened atomic.Bool
	if got := Receive(t, "a goroutine", Start(func() int { happened.Store(true); return 7 })); got != 7 {
		t.Errorf("received %d", got)
	}
	Until(t, "it has happened", happened.Load)
}

func TestWhatDoesNotHappenFailsWithTheStacks(t *testing.T) {
	for name, text := range map[string]string{
		"nothing from a goroutine": failure(t, func(tb testing.TB) { Receive(tb, "a goroutine", make(chan int)) }),
		"still not so that it has": failure(t, func(tb testing.TB) { Until(tb, "it has happened", func() bool { return false }) }),
	} {
		if !strings.Contains(text, name) || !strings.Contains(text, "goroutine 1 [") {
			t.Errorf("no %q and no stacks in %q", name, text)
		}
	}
}

func TestPatienceEndsBeforeTheTestBinaryDoes(t *testing.T) {
	if p := Patience(&impatient{}); p <= 0 || p > 3*time.Millisecond {
		t.Errorf("with 4 ms left, the patience is %v", p)
	}
	if p := Patience(&testing.B{}); p != longest {
		t.Errorf("a benchmark, which has no deadline, has a patience of %v", p)
	}
}
