package campaign

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A toy stands for the programs of a campaign: its tests are two threads that store to one word, so
// many times each, and a test fails if the order of its steps begins as a bug says. What a unit comes
// to is what it would come to in a program, without any process.
type toy struct {
	steps int
	// bugs are, by version and test, the orders that fail.
	bugs map[string][]string
}

// planted are the bugs of the toy, in its first version.
var planted = map[string][]string{
	"1/TestA": {"2121", "2211"},
	"1/TestB": {"112212"},
	"2/TestA": {"2211"},
}

// toyTests are its tests; TestC has no bug.
var toyTests = []string{"TestA", "TestB", "TestC"}

// toyTargets returns the tests of a version of the toy as targets.
func toyTargets(t testing.TB, version string) []explore.Target {
	t.Helper()
	dir := t.TempDir()
	sites := filepath.Join(dir, "sites")
	table := wire.Table{Sites: []trace.Site{{ID: 1, Package: "toy", Function: "bug", File: "toy.go", Line: 1}}}
	for name, text := range map[string]string{sites: string(table.Encode()), filepath.Join(dir, "program"): version, filepath.Join(dir, "go.mod"): "module toy\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := explore.Open(&explore.Manifest{Package: "toy", Hash: version, GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, Tests: true}, explore.Place{Binary: filepath.Join(dir, "program"), Sites: sites, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var all []explore.Target
	for _, test := range toyTests {
		all = append(all, explore.Target{Program: p, Test: test})
	}
	return all
}

// do does a lease of a version of the toy.
func (y *toy) do(version string) func(context.Context, *Lease, *Result) error {
	return func(_ context.Context, l *Lease, r *Result) error {
		bugs := y.bugs[version+"/"+l.Test]
		switch l.Task {
		case Explore:
			r.Done = &explore.UnitsDone{}
			for i := range l.Errand.Units {
				r.Done.Units = append(r.Done.Units, y.unit(&l.Errand.Units[i], bugs))
			}
			r.Pairs = []uint64{4 | inOrder, 8 | reversed, 4 | reversed}
		case Confirm:
			r.Confirmed = &explore.Confirmed{Seen: true, Schedule: l.Failure.Schedule, Finding: toyFinding(l.Test, l.Failure.Message, 1)}
		case Recheck:
			r.Rerun = &explore.Rerun{Followed: true}
			for _, bug := range bugs {
				if strings.HasPrefix(y.run(sched.NewRecorder((&sched.Unit{Method: sched.MethodReplay, Schedule: l.Schedule, Runs: 1}).Strategy(), false)), bug) {
					r.Rerun.Findings = append(r.Rerun.Findings, toyFinding(l.Test, bug, 2)) // lines have moved
				}
			}
		}
		return nil
	}
}

// toyFinding is a bug of a test, on a line.
func toyFinding(test, bug string, line int) finding.Finding {
	site := finding.Frame{Function: "toy.bug", File: test + bug + ".go", Line: line}
	return finding.Finding{Kind: finding.TestFail, Explanation: bug, Run: &finding.Run{Package: "toy", Test: test}, History: finding.History{Count: 1}, Accesses: []finding.Access{{Op: finding.Step, Stack: []finding.Frame{site}}}}
}

// unit does a unit.
func (y *toy) unit(u *sched.Unit, bugs []string) wire.UnitDone {
	s := u.Strategy()
	rec := sched.NewRecorder(s, true)
	var done wire.UnitDone
	for first := true; first || !s.Exhausted() && done.Runs < u.Runs && (u.Steps == 0 || done.Steps < u.Steps); first = false {
		order := y.run(rec)
		done.Runs++
		done.Steps += uint64(len(order))
		done.Prints = binary.LittleEndian.AppendUint64(done.Prints, rec.Fingerprint())
		for _, bug := range bugs {
			if strings.HasPrefix(order, bug) {
				f := trace.Failure{Kind: event.FailureTest, Message: bug, Point: trace.Point{Stack: []trace.Call{{Function: bug}}}}
				done.Failures = wire.Gather(done.Failures, wire.Found{Failure: f, Schedule: rec.Schedule().String(), At: done.Runs, Runs: 1})
				done.Failed++
			}
		}
	}
	runs, steps := done.Runs, done.Steps
	done.UnitDone = u.Done(s)
	done.Runs, done.Steps = runs, steps
	return done
}

// run makes a run, and returns the order of its steps.
func (y *toy) run(s sched.Strategy) (order string) {
	s.Begin()
	var taken [3]int
	current := uint32(0)
	for {
		p := &sched.Turn{Step: uint64(len(order)), Current: current, Last: current, Taken: uint64(taken[current])}
		for g := uint32(1); g <= 2; g++ {
			if taken[g] < y.steps {
				p.Ready = append(p.Ready, g)
				p.Ops = append(p.Ops, event.Op{Kind: event.Store, G: g, Site: uint32(taken[g] + 1), Addr: 64, Size: 8})
			}
		}
		if current != 0 && taken[current] >= y.steps {
			p.Current = 0
		}
		if len(p.Ready) == 0 {
			s.End(event.Passed, sched.Used{})
			return order
		}
		current = p.Ready[s.Pick(p)]
		taken[current]++
		order += fmt.Sprint(current)
	}
}
