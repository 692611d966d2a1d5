package console

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A screen is a stream that tells when each line was written.
type screen struct {
	mu    sync.Mutex
	start time.Time
	text  bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(&s.text, "%v %q\n", time.Since(s.start), b)
	return len(b), nil
}

// passes lets time pass on the clock of the test.
func passes(d time.Duration) { <-time.After(d) }

// told runs a scenario by a clock that moves on when all wait, and compares what was told
// and when.
func told(t *testing.T, stream Stream, scenario func(s *Status, w io.Writer), want ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		w := &screen{start: time.Now()}
		s := NewStatus(w, stream, "cofferdam: ")
		scenario(s, w)
		s.Close()
		if got := strings.TrimSpace(w.text.String()); got != strings.Join(want, "\n") {
			t.Errorf("told:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
		}
	})
}

var (
	inLog      = Stream{Width: func() int { return 80 }}
	onTerminal = Stream{Terminal: true, Width: func() int { return 30 }}
)

func TestQuickWorkIsSilentInALog(t *testing.T) {
	told(t, inLog, func(s *Status, _ io.Writer) {
		s.Phase("loading")
		passes(300 * time.Millisecond)
		s.Phase("building")
		passes(300 * time.Millisecond)
	})
}

func TestLongWorkIsToldWithinASecondAndThenEveryTen(t *testing.T) {
	told(t, inLog, func(s *Status, _ io.Writer) {
		s.Phase("building")
		passes(25 * time.Second)
		s.Phase("exploring")
		s.Detail("7 schedules")
		passes(900 * time.Millisecond)
		s.Detail("9 schedules")
		passes(10 * time.Second)
	},
		`700ms "cofferdam: building\n"`,
		`10.7s "cofferdam: building, 10s\n"`,
		`20.7s "cofferdam: building, 20s\n"`,
		`25.7s "cofferdam: exploring: 7 schedules\n"`,
		`35.7s "cofferdam: exploring: 9 schedules, 10s\n"`,
	)
}

func TestManyShortPhasesAreToldNowAndThen(t *testing.T) {
	told(t, inLog, func(s *Status, _ io.Writer) {
		for i := range 60 {
			s.Phase(fmt.Sprint("step ", i))
			passes(470 * time.Millisecond)
		}
	},
		`700ms "cofferdam: step 1\n"`,
		`10.7s "cofferdam: step 22\n"`,
		`20.7s "cofferdam: step 44\n"`,
	)
}

func TestNothingIsToldWhileNothingGoesOn(t *testing.T) {
	told(t, inLog, func(s *Status, _ io.Writer) {
		s.Phase("building")
		passes(time.Second)
		s.Phase("")
		passes(time.Minute)
		s.Phase("building")
		passes(300 * time.Millisecond)
	},
		`700ms "cofferdam: building\n"`,
	)
}

func TestALineIsRewrittenOnATerminal(t *testing.T) {
	told(t, onTerminal, func(s *Status, _ io.Writer) {
		s.Phase("building with hooks")
		passes(1050 * time.Millisecond)
		s.Phase("exploring")
		s.Detail(strings.Repeat("ä", 40))
		passes(100 * time.Millisecond)
	},
		`100ms "\rbuilding with hooks"`,
		`1s "\rbuilding with hooks, 1s"`,
		`1.1s "\rexploring: ääääääääääääääääää"`,
		`1.15s "\r                             \r"`,
	)
}

func TestOtherOutputTakesThePlaceOfTheLine(t *testing.T) {
	told(t, onTerminal, func(s *Status, w io.Writer) {
		stdout := s.Writer(w)
		s.Phase("exploring")
		passes(250 * time.Millisecond)
		fmt.Fprint(stdout, "ok  ")
		passes(200 * time.Millisecond) // the line is not written behind it
		fmt.Fprint(stdout, "TestA\n")
		passes(200 * time.Millisecond)
	},
		`100ms "\rexploring"`,
		`250ms "\r         \r"`,
		`250ms "ok  "`,
		`450ms "TestA\n"`,
		`500ms "\rexploring"`,
		`650ms "\r         \r"`,
	)
}

func TestLinesAreLeftWhereAnotherProcessWrites(t *testing.T) {
	told(t, onTerminal, func(s *Status, _ io.Writer) {
		s.Phase("protecting")
		passes(150 * time.Millisecond)
		lines := s.Lines()
		lines.Phase("building")
		passes(time.Second)
		lines.Close()
	},
		`100ms "\rprotecting"`,
		`150ms "\r          \r"`,
		`850ms "cofferdam: building\n"`,
	)
}

func TestANilStatusTellsNothing(t *testing.T) {
	var s *Status
	s.Phase("building")
	s.Detail("x")
	if s.Writer(io.Discard) != io.Discard {
		t.Error("output takes a detour")
	}
	if s.Lines() != nil {
		t.Error("lines are told")
	}
	s.Close()
}
