package repair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
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

// mayBeDisturbed are the waits that can come of an update that was lost, or of a check that no longer
// held: what would have ended the wait did not see that there is one.
var mayBeDisturbed = []event.WaitShape{event.NilChannel, event.AbandonedChannel, event.NoSignal, event.MissedSignal}

// doneTwice are the failures by which something is done once too often. That may come of a count that was
// lost: two goroutines that both find that they are the last close the same channel.
var doneTwice = []event.FailureCause{event.CloseOfClosed, event.NegativeWaitGroup}

// isDisturbed reports whether the failure of a run with data races, in which goroutines wait for ever or do
// something twice, may come of these: a lock is then tried for the races, and the proof says whether it
// helps.
func isDisturbed(o *trace.Outcome) bool {
	worst := o.Worst()
	return (slices.Contains(mayBeDisturbed, shapeOf(worst)) || slices.Contains(doneTwice, worst.Cause)) &&
		slices.ContainsFunc(o.Failures, func(f trace.Failure) bool { return f.Kind == event.FailureRace })
}

// A Refusal is why there is no fix, in parts that the text is made of.
type Refusal struct {
	// Reason is what is known of the failure, or what was not found; "" if the nearest candidate
	// says enough.
	Reason string
	// OutOfTime says that candidates were left untried, or the run was not analysed, because the
	// time was over: Reason names the flag that gives more.
	OutOfTime bool
	// Nearest is the candidate that came nearest to a fix, of Candidates that were dropped; nil if
	// there was none.
	Nearest    *Candidate
	Candidates int
	// Untried is how many were not tried although there was time.
	Untried int
	// Failing is the run that was to be fixed.
	Failing *FailingRun
	// Declined are mistakes that were seen, and why nothing was changed there.
	Declined []string
	// Advice is what to do about it; "" if Reason has it.
	Advice string
	// Shorter is a shorter test that fails in the same way; nil if none is known.
	Shorter *ShorterTest
}

// refusal says why no candidate is a fix: that the time is over, if it is; that there was
// nothing to try; or the candidate that came nearest, and what broke it.
func (f *fixer) refusal() *Refusal {
	r := &Refusal{Reason: hopeless(&f.result.Failure), Candidates: len(f.result.Tried), Nearest: nearest(f.result.Tried), Shorter: f.shortened}
	if run := f.result.run; run != nil {
		r.Declined, r.Failing = run.declined, NewFailingRun(run.reader)
		if advice := waits[shapeOf(&f.result.Failure)]; r.Nearest != nil && advice != "" && isDisturbed(run.reader.Outcome) {
			r.Reason, r.Advice = "", advice
		}
	}
	switch {
	case r.Reason != "":
	case f.late:
		r.OutOfTime = true
		r.Reason = fmt.Sprintf("the time is over, with the run of %d events not analysed: give more with -budget, or a test that fails in a shorter run", f.result.run.reader.Len())
	case f.outOfTime:
		r.OutOfTime = true
		r.Reason = fmt.Sprintf("the time is over, with %s tried and %d not: give more with -budget", counted(f.tried, "candidate"), f.untried)
	case r.Nearest == nil && f.ranInOneGoroutine():
		r.Reason = "the test fails although nothing runs beside it: no order of goroutines makes it fail, and none can keep it from failing"
	case r.Nearest == nil:
		r.Reason, r.Advice = "no set of sections keeps the failure out", f.adviceForOrder()
		if a := f.result.Analysis; a != nil && len(a.Reasons) > 0 {
			r.Reason = strings.Join(a.Reasons, "; ")
		}
	case r.Nearest.Reached == Sound && r.Nearest.stillFails:
		r.Advice = f.adviceForOrder()
	}
	if !r.OutOfTime {
		r.Untried = f.untried
	}
	return r
}

// adviceForOrder is what to do about a failure that comes from an order, or from the machine's stalls: the
// failing schedule has none that it can do without.
func (f *fixer) adviceForOrder() string {
	if schedule, err := sched.ParseSchedule(f.schedule); err == nil && len(schedule.Stalls) > 0 {
		return stallAdvice
	}
	return orderAdvice
}

// ranInOneGoroutine reports whether all that the failing run did in the program's own code was done by one
// goroutine.
func (f *fixer) ranInOneGoroutine() bool {
	run := f.result.run
	own := map[uint32]bool{} // by site
	var only uint32
	events := run.reader.Cursor(trace.Filter{})
	for events.Next() {
		e := events.Event()
		isOwn, seen := own[e.Site]
		if !seen {
			site, ok := run.reader.Site(e.Site)
			isOwn = ok && run.code.File(run.copies.AtRun(site.File)) != nil
			own[e.Site] = isOwn
		}
		if isOwn && only != 0 && e.G != only {
			return false
		}
		if isOwn {
			only = e.G
		}
	}
	return only != 0
}

// orderAdvice is for failures that come from an order, which no lock decides.
const orderAdvice = "If the failure comes from the order in which goroutines do things, and not from two of them at once, a lock does not help: wait for what must come first (a channel, a WaitGroup, initialisation before the goroutine starts)"

// stallAdvice is for failures that no change of order ends, because they come from time.
const stallAdvice = "It fails if the machine stalls for a moment, as a busy one does: a test that sleeps until something must have happened has to wait for that instead (a channel, a condition that is looked at again), or to sleep far longer. -stall 0 leaves stalls out"

// nearest is the candidate that came nearest to a fix, the first of several; nil if there is none. One that
// the program has already says nothing of what is missing.
func nearest(all []*Candidate) *Candidate {
	var best *Candidate
	for _, c := range all {
		if best == nil || c.Reached > best.Reached || c.Reached == best.Reached && best.changesNothing && !c.changesNothing {
			best = c
		}
	}
	return best
}

// String is the refusal in one piece; "" if there is none.
func (r *Refusal) String() string {
	if r == nil {
		return ""
	}
	parts := r.sentences()
	for i := 1; i < len(parts); i++ {
		parts[i] = capital(parts[i])
	}
	return strings.Join(parts, ". ")
}

// sentences are the parts of the refusal in words, without their full stops.
func (r *Refusal) sentences() []string {
	var all []string
	add := func(text string) {
		if text != "" {
			all = append(all, text)
		}
	}
	add(r.Reason)
	if r.Nearest == nil && r.Failing != nil && len(r.Failing.Places) > 0 {
		add("it happens here: " + r.Failing.where())
	}
	add(r.nearestText())
	if len(r.Declined) > 0 {
		add("what was seen and not changed: " + strings.Join(r.Declined, "; "))
	}
	add(r.Advice)
	if r.Shorter != nil {
		add("a shorter test: " + r.Shorter.String())
	}
	return all
}

// capital is a sentence with a capital letter.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// nearestText tells of the candidate that came nearest to a fix.
func (r *Refusal) nearestText() string {
	best := r.Nearest
	if best == nil {
		return ""
	}
	var b strings.Builder
	if r.Candidates == 1 {
		fmt.Fprintf(&b, "the one candidate was %s", best.title())
	} else {
		fmt.Fprintf(&b, "of %d candidates, the nearest to a fix was %s", r.Candidates, best.title())
	}
	if best.Patch != nil {
		what := "sections"
		if best.Change != nil || best.onlyCopies() {
			what = "changes"
		}
		fmt.Fprintf(&b, " with %s in %s", what, strings.Join(best.Patch.Where(), ", "))
	}
	fmt.Fprintf(&b, "; it was dropped because %s", best.Why)
	if best.Broken != nil {
		if len(best.Broken.Places) > 0 {
			b.WriteString(": " + strings.Join(best.Broken.Places, "; "))
		}
		fmt.Fprintf(&b, " (with the change, by the schedule %s)", best.Broken.Schedule)
	}
	if r.Untried > 0 {
		fmt.Fprintf(&b, "; %d more were not tried", r.Untried)
	}
	return b.String()
}

func counted(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
