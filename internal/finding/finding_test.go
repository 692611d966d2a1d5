package finding

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// stolen returns a violation as isolate reports it: a careless write in
// main.steal that fell into a section entered in Deposit.
func stolen() Finding {
	return Finding{
		Kind:  Violation,
		Guard: Guard{Name: "accounts", Site: Frame{Function: "main.NewBank", File: "/home/ann/bank/bank.go", Line: 17}},
		Accesses: []Access{{
			Op: Write, Goroutine: 18, Address: 0x7f32c0001040, Target: "Account.Balance",
			Stack: []Frame{
				{Function: "main.steal", File: "/home/ann/bank/steal.go", Line: 31},
				{Function: "main.main.func2", File: "/home/ann/bank/main.go", Line: 12},
			},
		}, {
			Op: Lock, Goroutine: 7,
			Stack: []Frame{{Function: "main.(*Bank).Deposit", File: "/home/ann/bank/bank.go", Line: 23}},
		}},
		History: Once(Delayed, 1500*time.Microsecond, noon),
	}
}

const stolenID = "f98c90eab58cc8c6"

func TestSiteIsTheLineThatAskedForTheAccess(t *testing.T) {
	user := Frame{Function: "main.steal", File: "/bank/steal.go", Line: 31}
	namesake := Frame{Function: "example.com/runtime.Start", File: "/x/runtime/start.go", Line: 5}
	memmove := Frame{Function: "runtime.memmove", File: "/go/src/runtime/memmove_amd64.s", Line: 222}
	bytealg := Frame{Function: "internal/bytealg.Compare", File: "/go/src/internal/bytealg/compare_native.go", Line: 12}
	compare := Frame{Function: "bytes.Compare", File: "/go/src/bytes/bytes.go", Line: 30}
	counter := Frame{Function: "sync.(*WaitGroup).Add", File: "/go/src/sync/waitgroup.go", Line: 118}
	for _, test := range []struct {
		name  string
		stack []Frame
		want  Frame
	}{
		{"a counter that becomes negative", []Frame{counter, user}, user},
		{"plain", []Frame{user, namesake}, user},
		{"copy", []Frame{memmove, user}, user},
		{"bytes.Compare", []Frame{bytealg, compare, user}, user},
		{"a user's package runtime", []Frame{namesake, user}, namesake},
		{"only the runtime", []Frame{memmove, bytealg}, memmove},
		{"no stack", nil, Frame{}},
	} {
		if got := (Access{Stack: test.stack}).Site(); got != test.want {
			t.Errorf("%s: site is %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestFramesNamesThisTestFirstAndEndsBeforeTheRuntime(t *testing.T) {
	var pcs [16]uintptr
	stack := Frames(pcs[:runtime.Callers(1, pcs[:])])
	if len(stack) < 2 {
		t.Fatalf("got %d frames, want this function and its caller: %+v", len(stack), stack)
	}
	if f := stack[0]; !strings.HasSuffix(f.Function, "."+t.Name()) || f.base() != "finding_test.go" || f.Line == 0 {
		t.Errorf("innermost frame is %+v, want this function", f)
	}
	if f := stack[len(stack)-1]; f.Function != "testing.tRunner" {
		t.Errorf("outermost frame is %+v, want testing.tRunner", f)
	}
	if got := Frames(nil); got != nil {
		t.Errorf("Frames(nil) = %+v", got)
	}
}

func TestMergedHistoryCoversBoth(t *testing.T) {
	early := Once(Delayed, 3*time.Millisecond, noon)
	late := Once(Surrendered, 5*time.Millisecond, noon.Add(time.Minute))
	want := History{
		Count:       2,
		Outcomes:    Tally{Delayed: 1, Surrendered: 1},
		Waited:      8 * time.Millisecond,
		LongestWait: 5 * time.Millisecond,
		First:       early.First,
		Last:        late.Last,
	}
	forward, backward := early, late
	forward.merge(late)
	backward.merge(early)
	if forward != want {
		t.Errorf("early+late = %+v, want %+v", forward, want)
	}
	if backward != want {
		t.Errorf("late+early = %+v, want %+v", backward, want)
	}

	timeless := History{Count: 1}
	forward.merge(timeless)
	timeless.merge(want)
	want.Count = 3
	if forward != want || timeless != want {
		t.Errorf("a history without times changed them: %+v and %+v, want %+v", forward, timeless, want)
	}
}

func TestEveryOutcomeIsCountedMergedAndExplained(t *testing.T) {
	for _, o := range outcomes {
		h := Once(o, 0, noon)
		h.merge(h)
		if got := h.Outcomes.Of(o); got != 2 {
			t.Errorf("two times %s are counted as %d", o, got)
		}
		for _, other := range outcomes {
			if n := h.Outcomes.Of(other); other != o && n != 0 {
				t.Errorf("%s is counted as %s", o, other)
			}
		}
		if o.meaning() == "" {
			t.Errorf("%s has no meaning", o)
		}
	}
}

func TestUnknownOutcomePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an unknown outcome was counted")
		}
	}()
	Once("vanished", 0, noon)
}
