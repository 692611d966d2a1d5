package show

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// shapeWords says of each way to wait for ever what it is and what to do about it.
var shapeWords = map[event.WaitShape]string{
	event.GroupHeldUp:      "goroutines that may still have to count the WaitGroup down wait for ever themselves",
	event.EmptySelect:      "nothing can end such a select; if the goroutine is to end, give the select a case that a closed channel or a cancelled context makes possible",
	event.NilChannel:       "the channel is nil, and a nil channel is never ready; make it before it is used",
	event.AbandonedChannel: "every goroutine that could be on the other side has ended, or waits itself; let the other side stay until it is done, close the channel, give it a buffer for a result that may come late, or wait for a cancelled context too",
	event.GroupNeverDone:   "the WaitGroup is counted up more often than down; defer Done where each goroutine begins",
	event.NoSignal:         "no goroutine is left that signals the Cond; signal it where the condition becomes true, and when it never will",
	event.MissedSignal:     "the Cond was signalled before the goroutine waited, and a signal is not kept; change the condition under the lock, and wait in a loop that looks at it first",
	event.LockHeldOverWait: "a goroutine keeps a lock while it waits for something that another can only do with that lock, or that nobody does; release the lock before the wait",
	event.MissingUnlock:    "a path leaves the lock locked; defer the Unlock where the lock is taken",
	event.DoubleLock:       "the goroutine holds that lock already, and locks of package sync cannot be taken twice, not even for reading when a writer waits in between; split the function into one that locks and one that needs the lock held",
	event.LockOrder:        "each goroutine holds the lock that the next one waits for; take the locks in one order everywhere",
	event.CopiedLock:       "nothing in this run has taken the lock, and it is locked: it is a copy of one that was held (go vet says where locks are copied), or was locked before the test began; use the lock where it is, by a pointer",
}

// ShapeWords is a shape with what it means; "" if it is not known.
func ShapeWords(s event.WaitShape) string {
	if s == event.UnknownShape {
		return ""
	}
	return s.String() + ": " + shapeWords[s]
}

// Waiting says of a goroutine, or of several alike, what it waits for and what it holds:
//
//	goroutine 7 waits: b.mu.Lock(), held by goroutine 8 since bank.go:31; it holds a.mu since bank.go:24
func Waiting(r *trace.Reader, w *trace.Waiter) string {
	var b strings.Builder
	if n := w.Goroutines(); n > 1 {
		fmt.Fprintf(&b, "%d %ss (%d", n, Noun(r), w.G)
		for _, g := range w.More {
			fmt.Fprintf(&b, ", %d", g)
		}
		b.WriteString(") wait: ")
	} else {
		fmt.Fprintf(&b, "%s %d waits: ", Noun(r), w.G)
	}
	b.WriteString(wanted(r, w))
	if fact := fact(w); fact != "" {
		b.WriteString(", " + fact)
	}
	for i := range w.HeldBy {
		h := &w.HeldBy[i]
		b.WriteString(", " + heldText(r, w, h))
	}
	for i := range w.Holds {
		h := &w.Holds[i]
		if h.Addr == w.Addr {
			continue // it was said that it holds that itself
		}
		fmt.Fprintf(&b, "; it holds %s%s", lockName(r, h), since(r, h))
	}
	return b.String()
}

// wanted is the operation that a goroutine waits to do.
func wanted(r *trace.Reader, w *trace.Waiter) string {
	if s, ok := r.Site(w.Site); ok && s.Expr != "" && w.Op != event.Select {
		return s.Expr
	}
	return w.Op.String()
}

// fact says what is known of what a goroutine waits for.
func fact(w *trace.Waiter) string {
	switch w.Shape {
	case event.AbandonedChannel:
		switch {
		case w.Op == event.Send && w.Capacity > 0:
			return fmt.Sprintf("the buffer of %d is full and nobody is left to receive", w.Capacity)
		case w.Op == event.Send:
			return "and nobody is left to receive"
		case w.Op == event.Recv:
			return "and nobody is left to send or close"
		}
		return "and nobody is left on the other side of any case"
	case event.GroupNeverDone, event.GroupHeldUp:
		if w.Count > 0 {
			return fmt.Sprintf("the counter is %d", w.Count)
		}
	case event.MissedSignal:
		return fmt.Sprintf("signalled %s when nobody waited", times(w.Unheard))
	}
	return ""
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// heldText says which goroutine has the lock that another waits for.
func heldText(r *trace.Reader, w *trace.Waiter, h *trace.Hold) string {
	how := "held"
	if h.Op == event.RLock {
		how = "held for reading"
	}
	switch {
	case h.G == w.G && h.Returned:
		return how + " by itself" + since(r, h) + ", in a call that has returned"
	case h.G == w.G:
		return how + " by itself" + since(r, h)
	case h.Ended:
		return fmt.Sprintf("%s%s by %s %d, which has ended", how, since(r, h), Noun(r), h.G)
	}
	return fmt.Sprintf("%s by %s %d%s", how, Noun(r), h.G, since(r, h))
}

// since is where a lock was taken.
func since(r *trace.Reader, h *trace.Hold) string {
	if s, ok := r.Site(h.Site); ok && s.Line > 0 {
		return " since " + place(&s)
	}
	return ""
}

// LockName is what a lock is called at the site where it was taken; ok is false if that has no
// name for it.
func LockName(r *trace.Reader, taken uint32) (name string, ok bool) {
	s, _ := r.Site(taken)
	// Where a line has several calls, the site has them all.
	calls := strings.Split(s.Expr, " or ")
	for i, call := range calls {
		name, ok := strings.CutSuffix(call, "Lock()")
		if !ok {
			return "", false
		}
		name = strings.TrimSuffix(strings.TrimSuffix(name, "R"), "Try")
		calls[i] = strings.TrimSuffix(name, ".")
	}
	return strings.Join(calls, " or "), true
}

// lockName is LockName in a sentence.
func lockName(r *trace.Reader, h *trace.Hold) string {
	if name, ok := LockName(r, h.Site); ok {
		return name
	}
	return "a lock"
}

// Circle says how the goroutines of a lock order wait for each other; "" if they do not.
func Circle(r *trace.Reader, f *trace.Failure) string {
	circle := f.Circle()
	var parts []string
	for i, w := range circle {
		next := circle[(i+1)%len(circle)]
		for j := range w.HeldBy {
			if h := &w.HeldBy[j]; h.G == next.G {
				wanted, taken := lockName(r, h), ""
				if name, ok := LockName(r, w.Site); ok && name != wanted {
					wanted, taken = name, " as "+wanted
				}
				parts = append(parts, fmt.Sprintf("%d waits for %s, which %d has taken%s%s", w.G, wanted, h.G, taken, strings.Replace(since(r, h), "since", "at", 1)))
				break
			}
		}
	}
	if len(parts) < 2 {
		return ""
	}
	return fmt.Sprintf("%ss: %s", Noun(r), strings.Join(parts, "; "))
}

// Born says where a goroutine was started; "" if that is not known.
func Born(r *trace.Reader, g uint32) (string, error) {
	c := r.Cursor(trace.Filter{Kinds: []event.Kind{event.Go}})
	for c.Next() {
		if e := c.Event(); uint32(e.Arg) == g {
			s, ok := r.Site(e.Site)
			if !ok || e.G == 1 && r.Header.Test != "" {
				return "", nil // the test itself
			}
			return fmt.Sprintf("started at %s by %s %d", place(&s), Noun(r), e.G), nil
		}
	}
	return "", c.Err()
}
