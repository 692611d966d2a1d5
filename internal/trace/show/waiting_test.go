package show

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

var waitSites = []trace.Site{
	{ID: 1, Package: "bank", File: "/src/bank/bank.go", Line: 5, Function: "TestTransfer", Expr: "go f()", Kind: event.Go},
	{ID: 2, Package: "bank", File: "/src/bank/bank.go", Line: 20, Function: "Transfer", Expr: "a.mu.Lock()", Kind: event.Lock},
	{ID: 3, Package: "bank", File: "/src/bank/bank.go", Line: 21, Function: "Transfer", Expr: "b.mu.RLock()", Kind: event.RLock},
	{ID: 4, Package: "bank", File: "/src/bank/bank.go", Line: 30, Function: "report", Expr: "done <- true", Kind: event.Send},
	{ID: 5, Package: "bank", File: "/src/bank/bank.go", Line: 31, Function: "report", Expr: "x.Lock() or y.TryLock()", Kind: event.Lock},
}

func hold(g, site uint32, addr uint64) trace.Hold {
	return trace.Hold{Point: trace.Point{Op: event.Lock, G: g, Site: site, Addr: addr}}
}

func TestWaitingSaysForWhatAndWhatIsHeld(t *testing.T) {
	r := writeAll(t, nil, waitSites, testOutcome)
	point := func(op event.Kind, site uint32) trace.Point {
		return trace.Point{Op: op, G: 7, Site: site, Addr: 0x10}
	}
	ended, returned, reading := hold(8, 3, 0x10), hold(7, 2, 0x10), hold(8, 3, 0x10)
	ended.Ended, returned.Returned, reading.Op = true, true, event.RLock
	for want, w := range map[string]trace.Waiter{
		"goroutine 7 waits: a.mu.Lock(), held by goroutine 8 since bank.go:21; it holds x or y since bank.go:31": {
			Point: point(event.Lock, 2), Shape: event.LockOrder, HeldBy: []trace.Hold{hold(8, 3, 0x10)}, Holds: []trace.Hold{hold(7, 5, 0x20)},
		},
		"goroutine 7 waits: a.mu.Lock(), held since bank.go:21 by goroutine 8, which has ended":        {Point: point(event.Lock, 2), HeldBy: []trace.Hold{ended}},
		"goroutine 7 waits: a.mu.Lock(), held by itself since bank.go:20, in a call that has returned": {Point: point(event.Lock, 2), HeldBy: []trace.Hold{returned}, Holds: []trace.Hold{returned}},
		"goroutine 7 waits: a.mu.Lock(), held for reading by goroutine 8 since bank.go:21":             {Point: point(event.Lock, 2), HeldBy: []trace.Hold{reading}},
		"3 goroutines (7, 9, 11) wait: done <- true, and nobody is left to receive":                    {Point: point(event.Send, 4), Shape: event.AbandonedChannel, More: []uint32{9, 11}},
		"goroutine 7 waits: done <- true, the buffer of 3 is full and nobody is left to receive":       {Point: point(event.Send, 4), Shape: event.AbandonedChannel, Length: 3, Capacity: 3},
		"goroutine 7 waits: receive, and nobody is left to send or close":                              {Point: point(event.Recv, 0), Shape: event.AbandonedChannel},
		"goroutine 7 waits: select, and nobody is left on the other side of any case":                  {Point: point(event.Select, 4), Shape: event.AbandonedChannel},
		"goroutine 7 waits: wait group wait, the counter is 2":                                         {Point: point(event.WaitGroupWait, 0), Shape: event.GroupNeverDone, Count: 2},
		"goroutine 7 waits: cond wait, signalled once when nobody waited":                              {Point: point(event.CondWait, 0), Shape: event.MissedSignal, Unheard: 1},
		"goroutine 7 waits: cond wait, signalled 3 times when nobody waited":                           {Point: point(event.CondWait, 0), Shape: event.MissedSignal, Unheard: 3},
		"goroutine 7 waits: lock; it holds a lock since bank.go:30":                                    {Point: point(event.Lock, 0), Holds: []trace.Hold{hold(7, 4, 0x30)}},
	} {
		if got := Waiting(r, &w); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCircleNamesEachLock(t *testing.T) {
	r := writeAll(t, nil, waitSites, testOutcome)
	one := trace.Waiter{Point: trace.Point{G: 3}, HeldBy: []trace.Hold{hold(4, 3, 0x10)}}
	two := trace.Waiter{Point: trace.Point{G: 4}, HeldBy: []trace.Hold{hold(3, 2, 0x20)}}
	f := &trace.Failure{Waiting: []trace.Waiter{one, two}}
	want := "goroutines: 3 waits for b.mu, which 4 has taken at bank.go:21; 4 waits for a.mu, which 3 has taken at bank.go:20"
	if got := Circle(r, f); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Circle(r, &trace.Failure{Waiting: []trace.Waiter{one}}); got != "" {
		t.Errorf("a circle of one: %q", got)
	}
}

func TestEveryShapeHasWords(t *testing.T) {
	for s := event.UnknownShape + 1; s <= event.CopiedLock; s++ {
		if shapeWords[s] == "" || !strings.HasPrefix(ShapeWords(s), s.String()+": ") {
			t.Errorf("%v: %q", s, ShapeWords(s))
		}
	}
	if ShapeWords(event.UnknownShape) != "" {
		t.Error("words for what is not known")
	}
}

// TestTimelineEndsWhereTheWaitBegins: others may go on for long after it.
func TestTimelineEndsWhereTheWaitBegins(t *testing.T) {
	events := []event.Event{
		{Seq: 1, G: 2, Kind: event.Go, Site: 1, Arg: 3},
		{Seq: 2, G: 3, Kind: event.Blocked, Site: 4, Arg: uint64(event.Send)},
	}
	for i := range uint64(50) {
		events = append(events, event.Event{Seq: 3 + i, G: 2, Kind: event.Gosched, Site: 2})
	}
	leak := trace.Failure{Kind: event.FailureLeak, Waiting: []trace.Waiter{{Point: trace.Point{Op: event.Send, G: 3, Site: 4}}}}
	r := writeAll(t, events, waitSites, trace.Outcome{Result: event.Failed, Failures: []trace.Failure{leak}})
	var out strings.Builder
	if err := WriteTimeline(&out, r, 10); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "waits: done <- true") || strings.Contains(out.String(), "gosched") {
		t.Errorf("%s", out.String())
	}
	if born, err := Born(r, 3); err != nil || born != "started at bank.go:5 by goroutine 2" {
		t.Errorf("%q, %v", born, err)
	}
	if born, err := Born(r, 9); err != nil || born != "" {
		t.Errorf("%q, %v", born, err)
	}
}
