package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// carried returns what arrives of a message, and the line that it was.
func carried[T any](t *testing.T, message T) (T, string) {
	t.Helper()
	var pipe bytes.Buffer
	if err := json.NewEncoder(&pipe).Encode(message); err != nil {
		t.Fatal(err)
	}
	line := pipe.String()
	var got T
	if err := json.NewDecoder(&pipe).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return got, line
}

func TestOrdersArriveAsTheyAre(t *testing.T) {
	for _, o := range []Order{
		{Verb: List},
		{
			Verb: Explore, Target: "TestIt", Seed: 1<<64 - 1, Budget: time.Minute, AnyFailure: true, All: true, WarmUp: true, Steps: 100, Races: true,
			Units: []sched.Unit{
				{Method: sched.MethodPCT, Seed: 1, From: 2, Runs: 3, Length: 4},
				{Method: sched.MethodDFS, Steps: 5, Bound: 2, Limited: true, Root: sched.Path{Turns: []sched.Fork{{At: 1, To: 2}, {At: 3}}, Sum: 1<<64 - 1}},
			},
		},
		{Verb: Explore, Units: []sched.Unit{{Method: sched.MethodReplay, Schedule: "1.2+3"}}, Failure: &trace.Failure{Kind: event.FailureTest}, Among: true, Budget: time.Second},
		{Verb: Run, Schedule: "1.2+3,1.1~2", Record: true, Sites: "sites"},
	} {
		if got, line := carried(t, o); !reflect.DeepEqual(got, o) {
			t.Errorf("%s arrives as %+v", line, got)
		}
	}
}

func TestReportsArriveAsTheyAre(t *testing.T) {
	failure := trace.Failure{
		Kind: event.FailureRace, Cause: event.ConcurrentMap, Message: "load and store",
		Point:  trace.Point{Op: event.Store, G: 2, Site: 7, Frame: 3, Addr: 1 << 63, Stack: []trace.Call{{Function: "f", File: "a.go", Line: 3}}},
		Others: []trace.Point{{Op: event.Load, G: 1}},
	}
	progress := Progress{
		Runs: 3, Classes: 2, Cut: 1, Steps: 99, Elapsed: time.Second, Best: &failure, Fresh: true,
		Search: sched.Progress{Method: sched.MethodDFS, Runs: 5, Depth: 1, Bound: 2, EarlierRuns: 4, Exhausted: true, Unbounded: true, CutOff: 1, Diverged: 2},
	}
	for _, r := range []Report{
		{Targets: []string{"TestA", "TestB"}},
		{Progress: &progress},
		{Error: "there is no test TestC"},
		{Done: &Done{
			Units: []UnitDone{{
				UnitDone: sched.UnitDone{
					Runs: 1, Steps: 2, CutOff: 3, Length: 4, Diverged: 5, Abandoned: true, Sequential: true,
					Harvest: sched.Harvest{Base: []sched.Fork{{At: 1, To: 2}}, Left: []sched.Offshoot{{Fork: sched.Fork{At: 2, To: 1}, Sum: 9}}, Tried: []sched.Fork{{}}, Held: true},
				},
				Prints: []byte{1, 2, 255}, Outside: 1, Undecided: 3, Leaks: []Found{{Runs: 1, Failure: failure}}, Timing: Timing{TookTooLong: 1, Late: []Late{{Waits: true}}}, Failed: 2, Failures: []Found{{Failure: failure, Schedule: "default", At: 2, Runs: 1}},
			}},
			Elapsed: time.Millisecond, Before: 1, Residue: ChangesSteps,
			Outcome:  &trace.Outcome{Result: event.Failed, Failures: []trace.Failure{failure}, Schedule: "default", Outside: []string{"net"}},
			Diverged: sched.Divergence{Why: sched.NotReady, G: 1, N: 2, To: 3, Unused: 4},
		}},
		{Done: &Done{Residue: ChangesEndings}},
	} {
		if got, line := carried(t, r); !reflect.DeepEqual(got, r) {
			t.Errorf("%s arrives as %+v", line, got)
		}
	}
}

func TestTablesArriveAsTheyAre(t *testing.T) {
	table := Table{
		Sites: []trace.Site{{ID: 1, Package: "p", File: "a.go", Line: 1, Column: 2, EndLine: 3, EndColumn: 4, Function: "f", Expr: "x", Kind: event.MapWrite, Type: "int", InLibrary: true, Digest: "d"}, {ID: 2, Package: "p"}},
		Calls: []trace.LibraryCall{{File: "a.go", Line: 1, Name: "Lock", Expr: "mu.Lock()"}},
	}
	data := table.Encode()
	if got, err := DecodeTable(data); err != nil || !reflect.DeepEqual(*got, table) {
		t.Errorf("%+v arrives as %+v, %v", table, got, err)
	}
	for n := range len(data) {
		if got, err := DecodeTable(data[:n]); err == nil && reflect.DeepEqual(*got, table) {
			t.Errorf("%d of %d bytes are enough", n, len(data))
		}
	}
	for range 20 {
		table.Sites = append(table.Sites, table.Sites...) // in several pieces
		if len(table.Sites) > 1<<17 {
			break
		}
	}
	if got, err := DecodeTable(table.Encode()); err != nil || !reflect.DeepEqual(*got, table) {
		t.Errorf("%d sites do not arrive: %v", len(table.Sites), err)
	}
}

// TestEveryFailureKindCrosses: a kind that the other side does not know is an error there,
// and no other kind.
func TestEveryFailureKindCrosses(t *testing.T) {
	for k := event.FailureRace; k <= event.FailurePanic; k++ {
		if got, line := carried(t, trace.Failure{Kind: k}); got.Kind != k {
			t.Errorf("%s arrives as %v", line, got.Kind)
		}
	}
	var f trace.Failure
	if err := json.Unmarshal([]byte(`{"kind":"bad luck"}`), &f); err == nil {
		t.Errorf("an unknown kind arrives as %v", f.Kind)
	}
}

func TestPipesCrossInTheEnvironment(t *testing.T) {
	for _, p := range []Pipes{{3, 4, 0}, {3, 4, 5}, {1 << 31, 1<<32 - 1, 0}} {
		if got, err := ParsePipes(p.String()); err != nil || got != p {
			t.Errorf("%s is read as %v, %v", p, got, err)
		}
	}
	for _, value := range []string{"1", "", "3;4"} {
		if p, err := ParsePipes(value); err == nil {
			t.Errorf("%q is read as %v", value, p)
		}
	}
}
