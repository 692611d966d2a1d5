// Package nolock says of failures that no lock mends them, and what to do instead: they come from an order of
// two things, or goroutines wait for what does not come. A run in which goroutines wait because an update was lost,
// or a check no longer held, is none of these: [IsDisturbed].
//
// nolock.go is all of it.
package nolock

import (
	"slices"

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
	event.CopiedLock:       "a lock is waited for that nothing has taken: it was copied, with the data beside it, from one that was held: use the data where it is, by a pointer (go vet says where locks are copied)",
}

// Advice is what to do about goroutines that wait for ever; "" if that is said of all of them alike.
func Advice(f *trace.Failure) string { return waits[ShapeOf(f)] }

// ShapeOf is the shape that says most about goroutines that wait for ever.
func ShapeOf(f *trace.Failure) event.WaitShape {
	shape := event.UnknownShape
	for i := range f.Waiting {
		if !f.Waiting[i].Library {
			shape = max(shape, f.Waiting[i].Shape)
		}
	}
	return shape
}

// Why says why no lock can fix a failure; "" if one may.
func Why(f *trace.Failure) string {
	if why := waits[ShapeOf(f)]; why != "" {
		return why + ". Another lock cannot end a wait"
	}
	for _, o := range orderings {
		if f.Kind == o.kind && (o.cause == event.UnknownCause || f.Cause == o.cause) {
			return o.why
		}
	}
	return ""
}

// mayBeDisturbed are the waits that can come of an update that was lost, or of a check that no longer
// held: what would have ended the wait did not see that there is one.
var mayBeDisturbed = []event.WaitShape{event.NilChannel, event.AbandonedChannel, event.NoSignal, event.MissedSignal}

// doneTwice are the failures by which something is done once too often. That may come of a count that was
// lost: two goroutines that both find that they are the last close the same channel.
var doneTwice = []event.FailureCause{event.CloseOfClosed, event.NegativeWaitGroup}

// IsDisturbed reports whether the failure of a run with data races, in which goroutines wait for ever or do
// something twice, may come of these: a lock is then tried for the races, and the proof says whether it
// helps.
func IsDisturbed(o *trace.Outcome) bool {
	worst := o.Worst()
	return (slices.Contains(mayBeDisturbed, ShapeOf(worst)) || slices.Contains(doneTwice, worst.Cause)) &&
		slices.ContainsFunc(o.Failures, func(f trace.Failure) bool { return f.Kind == event.FailureRace })
}
