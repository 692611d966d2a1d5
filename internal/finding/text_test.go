package finding

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func TestTextMatchesGolden(t *testing.T) {
	single := stolen()

	repeated := stolen()
	repeated.Explanation = "One of the accesses was a copy of bytes, at which the runtime cannot preempt.\nIt may wait for a few milliseconds only."
	repeated.merge(Once(Surrendered, 4*time.Millisecond, noon.Add(90*time.Second)))
	for range 998 {
		repeated.merge(Once(Delayed, 17123*time.Nanosecond, noon.Add(30*time.Second)))
	}

	bypass := Finding{
		Kind:  Bypass,
		Guard: Guard{Site: Frame{Function: "main.NewBank", File: "/home/ann/bank/bank.go", Line: 17}},
		Accesses: []Access{
			{Op: Read, Goroutine: 7, Target: "Account.Balance", Stack: []Frame{
				{Function: "runtime.memmove", File: "/go/src/runtime/memmove_amd64.s", Line: 222},
				{Function: "main.(*Bank).Deposit", File: "/home/ann/bank/bank.go", Line: 25},
			}},
			{Op: Lock, Goroutine: 7, Stack: []Frame{{Function: "main.(*Bank).Deposit", File: "/home/ann/bank/bank.go", Line: 23}}},
		},
		History: Once(Surrendered, 0, noon),
	}

	// What a producer that knows next to nothing may leave out.
	bare := Finding{
		Kind:     Violation,
		Accesses: []Access{{Op: Read}, {Op: Lock}},
		History:  History{Count: 3},
	}

	for name, findings := range map[string][]Finding{
		"single":   {single},
		"repeated": {repeated},
		"bypass":   {bypass},
		"bare":     {bare, {Kind: Bypass, History: History{Count: 1}}},
		"several":  {single, bypass},
		"none":     nil,
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := WriteText(&b, findings); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("text differs from %s (run with -update to accept it)\ngot:\n%s\nwant:\n%s", golden, b.String(), want)
			}
		})
	}
}

// A brokenWriter fails once its budget of bytes is spent.
type brokenWriter struct{ budget int }

var errBroken = errors.New("disk full")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if len(p) > w.budget {
		return 0, errBroken
	}
	w.budget -= len(p)
	return len(p), nil
}

func TestWritersReportTheFirstError(t *testing.T) {
	findings := make([]Finding, 20)
	for i := range findings {
		findings[i] = stolen()
	}
	for _, budget := range []int{0, 5000} {
		if err := WriteText(&brokenWriter{budget}, findings); !errors.Is(err, errBroken) {
			t.Errorf("WriteText after %d bytes: %v", budget, err)
		}
		if err := WriteJSON(&brokenWriter{budget}, findings); !errors.Is(err, errBroken) {
			t.Errorf("WriteJSON after %d bytes: %v", budget, err)
		}
	}
}

// TestASentenceNamesBothSidesOfARaceOnce: the explanation has the operations alone, and below them what else was
// said of the race.
func TestASentenceNamesBothSidesOfARaceOnce(t *testing.T) {
	side := func(op Op, target string, line int) Access {
		return Access{Op: op, Target: target, Stack: []Frame{{Function: "p.f", File: "/p/a.go", Line: line}}}
	}
	race := Finding{Kind: Race, Explanation: "load and store of the same memory, with nothing to order them", Accesses: []Access{side(Write, "c.n", 3), side(Read, "c.n", 7)}}
	want := "data race at a.go:3: write of c.n, and read of c.n at a.go:7, with nothing to order them"
	if got := race.Sentence(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	race.Explanation += "\nFixed."
	if got := race.Sentence(); got != want+"\nFixed." {
		t.Errorf("got %q", got)
	}
	for want, f := range map[string]Finding{
		"panic at a.go:3: no room": {Kind: Panic, Explanation: "no room", Accesses: []Access{side(Step, "", 3)}},
		"exit: exit status 7":      {Kind: Exit, Explanation: "exit status 7"},
	} {
		if got := f.Sentence(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
