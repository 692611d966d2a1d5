package lanes

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// sentences say what happened: how the run failed, how it came to that, and what is behind it.
//
//	TestCloseWhileProcessing panics in goroutine 2 at imap.go:20: invalid memory address or nil pointer dereference.
//	After goroutine 2 did "load p.transport" at imap.go:44, goroutine 3 did "store p.transport obj1 -> nil" at imap.go:38, ...
//	Nothing orders the load of p.transport at imap.go:44 and the store of p.transport at imap.go:38: no lock is held at both.
func (b *builder) sentences() []string {
	if b.r.Outcome == nil {
		return []string{"The recording was cut off, so that it is not known how the run ended.", fmt.Sprintf("It has %d events up to there.", b.run.Events)}
	}
	worst := b.r.Outcome.Worst()
	if worst == nil {
		all := []string{fmt.Sprintf("%s did not fail in this run.", b.subject())}
		if kept := b.keptOut(); kept != "" {
			all = append(all, kept)
		}
		return all
	}
	var all []string
	decided := b.decide(worst)
	for _, s := range []string{b.whatFailed(worst), b.howItCame(worst, decided), b.whatIsBehind(worst, decided)} {
		if s != "" {
			all = append(all, s)
		}
	}
	return all
}

// keptOut says where a goroutine that the schedule lets go has to wait for a lock: what a fix is for, in a
// run of the schedule that failed without it.
func (b *builder) keptOut() string {
	for i := len(b.taken) - 1; i >= 0; i-- {
		p := &b.taken[i]
		e := b.nearest(trace.Filter{Goroutines: []uint32{p.to}, First: p.seq + 1}, false)
		if e != nil && e.Kind == event.Blocked && (event.Kind(e.Arg) == event.Lock || event.Kind(e.Arg) == event.RLock) {
			wanted := strings.Replace(b.deed(e), "“waits: ", "“", 1)
			return fmt.Sprintf("The schedule stops %s %d and lets %s %d go on, which has to wait for %s.", b.run.Noun, p.g, b.run.Noun, p.to, wanted)
		}
	}
	return ""
}

// subject is what was run.
func (b *builder) subject() string {
	switch h := &b.r.Header; {
	case h.Test != "":
		return h.Test
	case h.Binary != nil:
		return filepath.Base(h.Binary.Path)
	default:
		return "The program"
	}
}

// whatFailed is the failure in a sentence.
func (b *builder) whatFailed(f *trace.Failure) string {
	message := strings.Join(strings.Fields(f.Message), " ")
	at := b.where(&f.Point)
	switch f.Kind {
	case event.FailureRace:
		if len(f.Others) > 0 {
			return fmt.Sprintf("%s has a data race: %s and %s.", b.subject(), b.access(&f.Others[0]), b.access(&f.Point))
		}
		return fmt.Sprintf("%s has a data race: %s.", b.subject(), b.access(&f.Point))
	case event.FailureDeadlock:
		return fmt.Sprintf("%s comes to a deadlock: no %s can go on.", b.subject(), b.run.Noun)
	case event.FailurePartialDeadlock:
		return fmt.Sprintf("%s comes to a partial deadlock: %s waits for a lock that is never released.", b.subject(), b.waiting(f))
	case event.FailureLeak:
		return fmt.Sprintf("%s leaves %s waiting for ever.", b.subject(), b.waiting(f))
	case event.FailureTest:
		return fmt.Sprintf("%s fails%s: %s.", b.subject(), at, strings.TrimPrefix(strings.TrimSuffix(message, "."), b.subject()+": "))
	case event.FailurePanic:
		return fmt.Sprintf("%s panics%s: %s.", b.subject(), at, strings.TrimSuffix(message, "."))
	case event.FailureExit:
		return fmt.Sprintf("%s ends the process%s: %s.", b.subject(), at, strings.TrimSuffix(message, "."))
	}
	return fmt.Sprintf("%s ends with a %s%s: %s.", b.subject(), f.Kind, at, strings.TrimSuffix(message, "."))
}

// waiting names the goroutines of a leak or a partial deadlock.
func (b *builder) waiting(f *trace.Failure) string {
	n := 0
	for i := range f.Waiting {
		n += f.Waiting[i].Goroutines()
	}
	if n == 1 {
		return fmt.Sprintf("%s %d", b.run.Noun, f.Waiting[0].G)
	}
	return fmt.Sprintf("%d %ss", n, b.run.Noun)
}

// where says by which goroutine and at which line of the program something happened.
func (b *builder) where(p *trace.Point) string {
	text := ""
	if p.G != 0 {
		text = fmt.Sprintf(" in %s %d", b.run.Noun, p.G)
	}
	if s, ok := b.r.Site(p.Site); ok && b.relevance.Own(s.File) {
		return text + " at " + shortPlace(&s)
	}
	for _, c := range p.Stack {
		if b.relevance.Own(c.File) {
			return fmt.Sprintf("%s at %s:%d", text, filepath.Base(c.File), c.Line)
		}
	}
	return text
}

// access is one side of a race: "store of b.total at bank.go:14 by goroutine 1". What is no access of memory
// is an expression of its own, and set off as one: “close(f.out)” at closed.go:27 by goroutine 4.
func (b *builder) access(p *trace.Point) string {
	if b.r.Header.Binary == nil && !p.Op.IsMemory() {
		if what, at := show.AccessAt(b.r, p); at != "" {
			return fmt.Sprintf("“%s” at %s by %s %d", what, at, b.run.Noun, p.G)
		}
	}
	return show.Access(b.r, p)
}

// theAccess is the same where it stands in a sentence.
func (b *builder) theAccess(p *trace.Point) string {
	if text := b.access(p); !strings.HasPrefix(text, "“") {
		return "the " + text
	}
	return b.access(p)
}

// howItCame says what another goroutine did where the schedule took over, by the accesses on which the
// failure turns where there are some.
func (b *builder) howItCame(f *trace.Failure, d *decision) string {
	if circle := show.Circle(b.r, f); circle != "" {
		return "The " + circle + "."
	}
	if w := mostTelling(f); w != nil {
		return capital(show.Waiting(b.r, w)) + b.waitingFor(f, w.G) + "."
	}
	switch {
	case d != nil && d.at == nil:
		return fmt.Sprintf("It takes no preemption: %s %d did %s before %s %d did %s.", b.run.Noun, d.between.G, b.deed(d.between), b.run.Noun, d.after.G, b.deed(d.after))
	case b.preempt.all == 0 && b.r.Header.Schedule != "":
		return fmt.Sprintf("It takes no preemption: the failure comes about in an order that %ss take by themselves.", b.run.Noun)
	case len(b.taken) == 0 && b.preempt.all > 0:
		return fmt.Sprintf("It comes about by the schedule %s.", b.r.Header.Schedule)
	case len(b.taken) == 0:
		return ""
	}
	if d == nil {
		d = b.aroundSwitch(&b.taken[len(b.taken)-1])
	}
	p, before := d.at, d.before
	if before == nil {
		before = b.nearest(trace.Filter{Goroutines: []uint32{p.g}, Last: p.seq}, true)
	}
	if before == nil || d.between == nil {
		return fmt.Sprintf("The schedule stops %s %d and lets %s %d go on.", b.run.Noun, p.g, b.run.Noun, p.to)
	}
	text := fmt.Sprintf("After %s %d did %s, %s %d did %s", b.run.Noun, p.g, b.deed(before), b.run.Noun, d.between.G, b.deed(d.between))
	if d.after != nil {
		text += fmt.Sprintf(", before %s %d went on with %s", b.run.Noun, p.g, b.deed(d.after))
	}
	return text + "."
}

// mostTelling is a goroutine that waits with a lock for which others wait, or else the first one that is not the test's own.
func mostTelling(f *trace.Failure) *trace.Waiter {
	for i := range f.Waiting {
		if w := &f.Waiting[i]; len(w.Holds) > 0 && slices.ContainsFunc(f.Waiting, func(o trace.Waiter) bool { return o.G != w.G && waitsFor(&o, w.G) }) {
			return w
		}
	}
	for i := range f.Waiting {
		if w := &f.Waiting[i]; !w.Library && (w.G != 1 || len(f.Waiting) == 1) {
			return w
		}
	}
	return nil
}

// waitsFor reports whether a goroutine waits for a lock that another one holds.
func waitsFor(w *trace.Waiter, holder uint32) bool {
	return slices.ContainsFunc(w.HeldBy, func(h trace.Hold) bool { return h.G == holder })
}

// waitingFor says which goroutines wait for a lock that another one holds, and where: what that one waits for is often theirs
// to do.
//
//	, and goroutine 3 waits for that at ttl.go:81
func (b *builder) waitingFor(f *trace.Failure, holder uint32) string {
	var waiting []string
	for i := range f.Waiting {
		w := &f.Waiting[i]
		if w.G == holder || !waitsFor(w, holder) {
			continue
		}
		text := fmt.Sprintf("%s %d waits for that", b.run.Noun, w.G)
		if n := w.Goroutines(); n > 1 {
			text = fmt.Sprintf("%d %ss wait for that", n, b.run.Noun)
		}
		if s, ok := b.r.Site(w.Site); ok && b.relevance.Own(s.File) {
			text += " at " + shortPlace(&s)
		}
		waiting = append(waiting, text)
	}
	if len(waiting) == 0 {
		return ""
	}
	return ", and " + strings.Join(waiting, ", and ")
}

// aroundSwitch is what was done around a preemption, where it is not known on which accesses the
// failure turns.
func (b *builder) aroundSwitch(p *preemption) *decision {
	d := &decision{at: p, after: b.nearest(trace.Filter{Goroutines: []uint32{p.g}, First: p.seq + 1}, false)}
	between := trace.Filter{Goroutines: []uint32{p.to}, First: p.seq + 1}
	if d.after != nil {
		between.Last = d.after.Seq
	}
	changes := between
	changes.Kinds = trace.Writes()
	if d.between = b.nearest(changes, true); d.between == nil {
		d.between = b.nearest(between, true)
	}
	return d
}

// nearest is the first relevant event that a filter allows, or the last one.
func (b *builder) nearest(f trace.Filter, last bool) *event.Event {
	c := b.r.Cursor(f)
	next := c.Next
	if last {
		if f.Last != 0 {
			c.Seek(f.Last + 1)
		} else {
			c.SeekEnd()
		}
		next = c.Prev
	}
	for next() {
		if e := c.Event(); isStep(e) && b.relevance.Matters(e) {
			return copied(e)
		}
	}
	return nil
}

// namedAddress is an address whose object has a name, which says more.
var namedAddress = regexp.MustCompile(`0x[0-9a-f]+ \((obj[^)]*)\)`)

// rawInterface is an interface value whose object has no name: two addresses, of which a person learns nothing.
var rawInterface = regexp.MustCompile(`interface\(0x[0-9a-f]+, 0x[0-9a-f]+\)`)

// forPeople leaves out of a text addresses that say nothing.
func forPeople(text string) string {
	return rawInterface.ReplaceAllString(namedAddress.ReplaceAllString(text, "$1"), "…")
}

// deed is what an event did, and where.
func (b *builder) deed(e *event.Event) string {
	text := "“" + strings.ReplaceAll(forPeople(b.printer.Operation(e)), "->", "→") + "”"
	if class(e.Kind) == "failure" {
		text = "the failure"
	}
	if s, ok := b.r.Site(e.Site); ok && b.relevance.Own(s.File) {
		text += " at " + shortPlace(&s)
	}
	return text
}

// whatIsBehind says what lets it come about: a race, or the shape of the wait.
func (b *builder) whatIsBehind(worst *trace.Failure, d *decision) string {
	if shape := show.ShapeWords(worst.Shape()); shape != "" {
		return capital(shape) + "."
	}
	races := slices.DeleteFunc(slices.Clone(b.r.Outcome.Failures), func(f trace.Failure) bool {
		return f.Kind != event.FailureRace || len(f.Others) == 0
	})
	switch {
	case worst.Kind == event.FailureRace:
		return "Nothing orders the two: no lock, channel or other synchronisation keeps one of them before the other."
	case len(races) > 0:
		f := d.behind(races)
		return fmt.Sprintf("Nothing orders %s and %s: no lock, channel or other synchronisation keeps one before the other.", b.theAccess(&f.Others[0]), b.theAccess(&f.Point))
	}
	if !b.r.Header.Options.Races {
		return "Data races were not looked for in this run."
	}
	return b.keepsApart(d)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
