package repair

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/nolock"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

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
	r := &Refusal{Reason: nolock.Why(&f.result.Failure), Candidates: len(f.result.Tried), Nearest: nearest(f.result.Tried), Shorter: f.shortened}
	if run := f.result.run; run != nil {
		r.Declined, r.Failing = run.declined, NewFailingRun(run.reader)
		if advice := nolock.Advice(&f.result.Failure); r.Nearest != nil && advice != "" && nolock.IsDisturbed(run.reader.Outcome) {
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
