package repair

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// An ordering is a kind of failure that comes from the order of two things, which a lock
// does not decide.
type ordering struct {
	kind  event.FailureKind
	cause event.FailureCause // event.UnknownCause: any
	why   string
}

var orderings = []ordering{
	{event.FailurePanic, event.SendOnClosed, "a channel is closed while another goroutine may still send to it. A lock makes closing and sending exclusive, but does not say which comes first: let the sender close the channel, or tell the sender by another channel to stop"},
	{event.FailurePanic, event.CloseOfClosed, "a channel is closed twice. A lock makes the two exclusive, but the second still comes: close it in one place, or by sync.Once"},
	{event.FailurePanic, event.CloseOfNil, "a channel is closed before it was made: make it before the goroutine that closes it starts"},
	{event.FailurePanic, event.NegativeWaitGroup, "a WaitGroup is counted down more often than up: count up before the goroutines start, once for each"},
	{event.FailurePanic, event.ReusedWaitGroup, "a WaitGroup is used again while a goroutine still waits for it: use a new one"},
	{event.FailurePanic, event.MisusedWaitGroup, "a WaitGroup is counted up while a goroutine waits for it: count up before the goroutine starts"},
	{event.FailureFatal, event.UnlockOfUnlocked, "a mutex is unlocked that is not locked: the lock that is missing is on another path of the program"},
	{event.FailureDeadlock, event.UnknownCause, "all goroutines wait for each other, or for something that will not happen. Another lock cannot end a wait: take locks in one order, signal while the waiter can see it (a condition is a variable, not a signal), or receive before sending"},
	{event.FailurePartialDeadlock, event.UnknownCause, "a goroutine waits for a lock that is never released. Another lock cannot end a wait: release it on every path (defer), take locks in one order, and hold none while waiting for something else"},
	{event.FailureLeak, event.UnknownCause, "a goroutine is left waiting when the test is over. A lock cannot end a wait: let what it waits for come, or tell it to stop (close a channel, cancel a context)"},
	{event.FailureExit, event.UnknownCause, "the program ends itself by os.Exit; what led there is not known from the memory it read"},
}

// waits are what is to be said of goroutines that wait for ever, by why they do. What has none
// is said of all deadlocks or leaks.
var waits = map[event.WaitShape]string{
	event.EmptySelect:      "a select has no case that can ever come: give it one that ends it, such as a channel that is closed or ctx.Done()",
	event.NilChannel:       "a goroutine waits for a channel that was never made: make it before the goroutine starts",
	event.AbandonedChannel: "a goroutine waits for a channel that nothing uses any more from the other side: let the other side come, give the channel room for what is sent, or have the goroutine also wait for a channel that is closed at the end",
	event.GroupNeverDone:   "a WaitGroup is counted up more often than down: call Done on every way of each goroutine (defer)",
	event.NoSignal:         "a goroutine waits for a signal that nothing gives any more: signal after every change of what the goroutine waits for, and wake all with Broadcast if several wait",
	event.MissedSignal:     "a signal was given before the goroutine waited for it, and is lost: keep what it says in a variable that is set and looked at under the lock, and wait in a loop until it is set",
	event.LockHeldOverWait: "a goroutine waits for something else while it holds a lock that another needs to end the wait: release the lock first",
	event.MissingUnlock:    "a lock is kept on a way out of the function that took it: release it on every way (defer)",
	event.DoubleLock:       "a goroutine takes a lock that it holds already, mostly by calling a method that takes it too: call one that expects the lock to be held",
	event.LockOrder:        "goroutines take the same locks in different orders, each waiting for the one that the next has: take them in one order everywhere, two of the same kind by a number of their own",
}

// shapeOf is the shape that says most about goroutines that wait for ever.
func shapeOf(f *trace.Failure) event.WaitShape {
	shape := event.UnknownShape
	for i := range f.Waiting {
		if !f.Waiting[i].Library {
			shape = max(shape, f.Waiting[i].Shape)
		}
	}
	return shape
}

// hopeless says why no lock can fix a failure; "" if one may.
func hopeless(f *trace.Failure) string {
	if why := waits[shapeOf(f)]; why != "" {
		return why + ". Another lock cannot end a wait"
	}
	for _, o := range orderings {
		if f.Kind == o.kind && (o.cause == event.UnknownCause || f.Cause == o.cause) {
			return o.why
		}
	}
	return ""
}

// refusal says why no candidate is a fix: that the time is over, if it is; that there was
// nothing to try; or the candidate that came nearest, and what broke it.
func (f *fixer) refusal() string {
	why := f.whyRefused()
	if run := f.result.run; run != nil && len(run.declined) > 0 {
		why += ". What was seen and not changed: " + strings.Join(run.declined, "; ")
	}
	return why
}

func (f *fixer) whyRefused() string {
	if why := hopeless(&f.result.Failure); why != "" {
		if len(f.result.Tried) > 0 {
			why += ". " + strings.ToUpper(f.nearest()[:1]) + f.nearest()[1:]
		}
		return why
	}
	if f.late {
		why := fmt.Sprintf("the time is over, with the run of %d events not analysed: give more with -budget, or a test that fails in a shorter run", f.result.run.reader.Len())
		if len(f.result.Tried) > 0 {
			why += ". Until then, " + f.nearest()
		}
		return why
	}
	if f.outOfTime {
		return fmt.Sprintf("the time is over, with %s tried and %d not: give more with -budget. Until then, %s", counted(f.tried, "candidate"), f.untried, f.nearest())
	}
	if len(f.result.Tried) > 0 {
		return f.nearest()
	}
	why := "no set of sections keeps the failure out"
	if a := f.result.Analysis; a != nil && len(a.Reasons) > 0 {
		why = strings.Join(a.Reasons, "; ")
	}
	return why + ". " + orderAdvice
}

// orderAdvice is for failures that come from an order, which no lock decides.
const orderAdvice = "If the failure comes from the order in which goroutines do things, and not from two of them at once, a lock does not help: wait for what must come first (a channel, a WaitGroup, initialisation before the goroutine starts)"

// nearest tells of the candidate that came nearest to a fix.
func (f *fixer) nearest() string {
	var best *Candidate
	for _, c := range f.result.Tried {
		if best == nil || c.Reached > best.Reached {
			best = c
		}
	}
	if best == nil {
		return "no candidate could be tried"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "of %s, the nearest to a fix was %s", counted(len(f.result.Tried), "candidate"), best.Lock)
	if best.Patch != nil {
		what := "sections"
		if best.Change != nil {
			what = "changes"
		}
		fmt.Fprintf(&b, " with %s in %s", what, strings.Join(best.Patch.Places, ", "))
	}
	fmt.Fprintf(&b, "; it was dropped because %s", best.Why)
	if broken := best.Broken; broken != nil {
		if len(broken.Places) > 0 {
			b.WriteString(": " + strings.Join(broken.Places, "; "))
		}
		fmt.Fprintf(&b, " (in the changed source, by the schedule %s)", broken.Schedule)
	}
	if f.untried > 0 && !f.outOfTime {
		fmt.Fprintf(&b, "; %d more were not tried", f.untried)
	}
	if best.Reached == Sound && best.stillFails {
		b.WriteString(". " + orderAdvice)
	}
	return b.String()
}

func counted(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
