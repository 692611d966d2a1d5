package trace

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

func TestWorstIsTheMostSevereAndTheFirst(t *testing.T) {
	var none *Outcome
	if none.Worst() != nil || (&Outcome{}).Worst() != nil {
		t.Error("a failure of nothing")
	}
	o := &Outcome{Failures: []Failure{
		{Kind: event.FailureRace, Message: "a"}, {Kind: event.FailureDeadlock, Message: "b"}, {Kind: event.FailureDeadlock, Message: "c"}, {Kind: event.FailureTest, Message: "d"},
	}}
	if got := o.Worst(); got != &o.Failures[1] {
		t.Errorf("the worst is %v", got)
	}
	for k := event.FailureRace; k <= event.FailurePanic; k++ {
		o.Failures = append(o.Failures, Failure{Kind: k})
		if k > event.FailureDeadlock && o.Worst().Kind != k {
			t.Errorf("%v is not worse than those before", k)
		}
	}
}

func TestSameFailuresWhateverTheSchedule(t *testing.T) {
	at := func(site uint32, line int) Point {
		return Point{Site: site, Stack: []Call{{Function: "f", File: "a.go", Line: line}}}
	}
	library := uint32(event.CallSites)
	for _, c := range []struct {
		name string
		f, g Failure
		want bool
	}{
		{"kinds", Failure{Kind: event.FailurePanic}, Failure{Kind: event.FailureFatal}, false},
		{"a test's words have values", Failure{Kind: event.FailureTest, Message: "got 1", Point: at(1, 1)}, Failure{Kind: event.FailureTest, Message: "got 2", Point: at(2, 1)}, true},
		{"another line of the test", Failure{Kind: event.FailureTest, Point: at(1, 1)}, Failure{Kind: event.FailureTest, Point: at(1, 2)}, false},
		{"panic", Failure{Kind: event.FailurePanic, Message: "x", Point: at(1, 1)}, Failure{Kind: event.FailurePanic, Message: "x", Point: at(1, 1)}, true},
		{"another panic", Failure{Kind: event.FailurePanic, Message: "x", Point: at(1, 1)}, Failure{Kind: event.FailurePanic, Message: "y", Point: at(1, 1)}, false},
		{"another site", Failure{Kind: event.FailureFatal, Message: "x", Point: at(1, 1)}, Failure{Kind: event.FailureFatal, Message: "x", Point: at(2, 1)}, false},
		{"sites of the library are numbered anew", Failure{Kind: event.FailureFatal, Point: at(library, 1)}, Failure{Kind: event.FailureFatal, Point: at(library+7, 1)}, true},
		{"race", Failure{Kind: event.FailureRace, Point: at(1, 1), Others: []Point{at(2, 2)}}, Failure{Kind: event.FailureRace, Point: at(1, 1), Others: []Point{at(2, 2)}}, true},
		{"race the other way", Failure{Kind: event.FailureRace, Point: at(1, 1), Others: []Point{at(2, 2)}}, Failure{Kind: event.FailureRace, Point: at(2, 2), Others: []Point{at(1, 1)}}, true},
		{"another race", Failure{Kind: event.FailureRace, Point: at(1, 1), Others: []Point{at(2, 2)}}, Failure{Kind: event.FailureRace, Point: at(1, 1), Others: []Point{at(3, 2)}}, false},
		{"half a race", Failure{Kind: event.FailureRace, Point: at(1, 1)}, Failure{Kind: event.FailureRace, Point: at(1, 1)}, false},
		{"exit", Failure{Kind: event.FailureExit, Message: "exit 1"}, Failure{Kind: event.FailureExit, Message: "exit 2"}, false},
		{"deadlock", Failure{Kind: event.FailureDeadlock, Point: at(1, 1)}, Failure{Kind: event.FailureDeadlock, Point: at(2, 2)}, true},
	} {
		if got := c.f.Same(&c.g); got != c.want {
			t.Errorf("%s: the same is %t", c.name, got)
		}
		if got := c.g.Same(&c.f); got != c.want {
			t.Errorf("%s, the other way: the same is %t", c.name, got)
		}
	}
}
