package trace

import (
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// An Outcome says how a run ended.
type Outcome struct {
	Result   event.Ending `json:"result"`
	Failures []Failure    `json:"failures,omitempty"`
	// Schedule is the schedule as it was taken, if it is not the one in the header.
	Schedule string `json:"schedule,omitempty"`
	// Steps counts the points at which the schedule could decide.
	Steps uint64 `json:"steps,omitempty"`
	// Elapsed is real time, Virtual what the program's clock says has passed.
	Elapsed time.Duration `json:"elapsedNanoseconds,omitempty"`
	Virtual time.Duration `json:"virtualNanoseconds,omitempty"`
	// Texts are the strings that events hold by address.
	Texts []Text `json:"texts,omitempty"`
	// Outside lists what ran without control and may make a replay differ.
	Outside []string `json:"outside,omitempty"`
}

// A Text is a string of the program, or the beginning of a long one.
type Text struct {
	Addr   uint64 `json:"address"`
	Length uint64 `json:"length"`
	Text   string `json:"text"`
}

// A Failure is one thing that went wrong.
type Failure struct {
	Kind    event.FailureKind  `json:"kind"`
	Cause   event.FailureCause `json:"cause,omitempty"`
	Message string             `json:"message"`
	Point
	// Others are the other accesses of a data race.
	Others []Point `json:"others,omitempty"`
	// Waiting are the goroutines of a deadlock or a leak, equal ones together.
	Waiting []Waiter `json:"waiting,omitempty"`
}

// String is the failure in the form of Go's runtime: "panic: index out of range".
func (f *Failure) String() string { return f.Kind.String() + ": " + f.Message }

// A Point is an event or what a goroutine was about to do; what is not known is 0.
type Point struct {
	Op    event.Kind `json:"operation,omitempty"`
	G     uint32     `json:"goroutine,omitempty"`
	Seq   uint64     `json:"seq,omitempty"`
	Site  uint32     `json:"site,omitempty"`
	Frame uint32     `json:"frame,omitempty"`
	Addr  uint64     `json:"address,omitempty"`
	Stack []Call     `json:"stack,omitempty"` // innermost first
}

// Is reports whether a point tells of an event, as far as it is known.
func (p *Point) Is(e *event.Event) bool {
	if p.Seq != 0 {
		return p.Seq == e.Seq
	}
	return p.G == e.G && p.Site == e.Site && (p.Op == event.None || p.Op == e.Kind) && (p.Frame == 0 || p.Frame == e.Frame) && (p.Addr == 0 || p.Addr == e.Addr)
}

// A Call is a line of a stack.
type Call struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// Worst returns the most severe failure of an outcome, and of equal ones the first; nil
// if it has none, or is nil.
func (o *Outcome) Worst() *Failure {
	if o == nil {
		return nil
	}
	var worst *Failure
	for i := range o.Failures {
		if f := &o.Failures[i]; f.Kind != event.NoFailure && (worst == nil || f.Kind > worst.Kind) {
			worst = f
		}
	}
	return worst
}

// FailsLike reports whether the worst of the failures is the same as another one, or with
// among any of them.
func (o *Outcome) FailsLike(f *Failure, among bool) bool {
	if among {
		return slices.ContainsFunc(o.Failures, func(g Failure) bool { return g.Same(f) })
	}
	worst := o.Worst()
	return worst != nil && worst.Same(f)
}

// Same reports whether two failures are the same one, whatever the schedule that led
// there. A leak is the same as one of fewer goroutines if those are among its own.
func (f *Failure) Same(g *Failure) bool {
	if f.Kind != g.Kind {
		return false
	}
	switch f.Kind {
	case event.FailureTest: // its words may have values in them
		return f.innermost() == g.innermost()
	case event.FailurePanic, event.FailureFatal:
		return f.Message == g.Message && f.samePlace(&g.Point) && f.innermost() == g.innermost()
	case event.FailureCrash: // its words may have addresses in them
		return f.Cause == g.Cause && f.samePlace(&g.Point)
	case event.FailureRace:
		if len(f.Others) != 1 || len(g.Others) != 1 {
			return false
		}
		return f.samePlace(&g.Point) && f.Others[0].samePlace(&g.Others[0]) ||
			f.Others[0].samePlace(&g.Point) && f.samePlace(&g.Others[0])
	case event.FailureExit:
		return f.Message == g.Message
	case event.FailureLeak, event.FailurePartialDeadlock:
		return f.hasWaiters(g.Waiting)
	}
	return true
}

// samePlace reports whether two operations are at the same site. Calls of the standard
// library get their numbers as they come, in each process anew.
func (p *Point) samePlace(q *Point) bool {
	if p.Site >= event.CallSites && q.Site >= event.CallSites {
		return p.innermost() == q.innermost()
	}
	return p.Site == q.Site
}

// innermost is the innermost call of a point's stack.
func (p *Point) innermost() Call {
	if len(p.Stack) == 0 {
		return Call{}
	}
	return p.Stack[0]
}
