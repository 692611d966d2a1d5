package finding

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteText writes the findings for a person to read, in their order, with an
// empty line between two. It writes no colours and breaks no lines, so the
// output can be piped and each headline can be found with grep. For example:
//
//	violation: careless write of Account.Balance at steal.go:31 in a section of accounts, once (delayed)
//
//	  careless write of Account.Balance by goroutine 18:
//	    main.steal
//	        /home/ann/bank/steal.go:31
//
//	  section entered by goroutine 7:
//	    main.(*Bank).Deposit
//	        /home/ann/bank/bank.go:23
//
//	  guard        accounts, made at /home/ann/bank/bank.go:17
//	  delayed      the access waited until the section had ended
//	  waited       1.5ms
//	  what to do   hold the lock of accounts for the write at steal.go:31, as bank.go:23 does
//	  id           f98c90eab58cc8c6
func WriteText(w io.Writer, findings []Finding) error {
	// A bufio.Writer keeps its first error, so only Flush need be asked.
	b := bufio.NewWriter(w)
	for i := range findings {
		if i > 0 {
			fmt.Fprintln(b)
		}
		writeFinding(b, &findings[i])
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing findings as text: %w", err)
	}
	return nil
}

// Headline returns the line that a finding begins with.
func (f *Finding) Headline() string {
	return fmt.Sprintf("%s: %s, %s", f.Kind, f.Summary(), f.History.summary())
}

// Suppressed says that findings are not shown because a baseline has them.
func Suppressed(n int) string {
	if n == 1 {
		return "1 finding of the baseline is not shown"
	}
	return fmt.Sprintf("%d findings of the baseline are not shown", n)
}

func writeFinding(b *bufio.Writer, f *Finding) {
	fmt.Fprintf(b, "%s\n\n", f.Headline())

	for i, a := range f.Accesses {
		fmt.Fprintf(b, "  %s by %s", f.role(i), goroutine(a.Goroutine))
		if a.Address != 0 {
			fmt.Fprintf(b, " at address %#x", a.Address)
		}
		fmt.Fprint(b, ":\n")
		for _, frame := range a.Stack {
			fmt.Fprintf(b, "    %s\n        %s:%d\n", frame.Function, frame.File, frame.Line)
		}
		if len(a.Stack) == 0 {
			fmt.Fprint(b, "    (stack not known)\n")
		}
		fmt.Fprintln(b)
	}

	if f.Kind == Violation || f.Kind == Bypass || f.Kind == Deviation || f.Kind == SplitSection {
		guard := cmp.Or(f.Guard.Name, "unnamed")
		if site := f.Guard.Site; site.File != "" {
			guard += fmt.Sprintf(", made at %s:%d", site.File, site.Line)
		}
		writeDetail(b, "guard", guard)
	}
	for _, o := range outcomes {
		if f.Outcomes.Of(o) > 0 {
			writeDetail(b, string(o), o.meaning())
		}
	}
	if f.LongestWait > 0 {
		writeDetail(b, "waited", f.History.wait())
	}
	if !f.First.IsZero() {
		writeDetail(b, "seen", f.History.period())
	}
	if f.Explanation != "" {
		writeDetail(b, "why", f.Explanation)
	}
	writeDetail(b, "what to do", f.Advice())
	writeDetail(b, "id", f.ID().String())
}

// writeDetail writes one labelled line; the further lines of a value stand
// under its first.
func writeDetail(b *bufio.Writer, label, value string) {
	const continued = "\n               "
	fmt.Fprintf(b, "  %-11s  %s\n", label, strings.ReplaceAll(strings.TrimSpace(value), "\n", continued))
}

// Summary says in one clause what was done to which guard.
func (f *Finding) Summary() string {
	what := "unknown access"
	if len(f.Accesses) > 0 {
		what = f.role(0) + " at " + f.Accesses[0].Site().String()
		if a := f.Accesses[0]; a.Op == Step && a.Target == "" && f.Kind.ends() {
			what = "at " + a.Site().String() // what was done there is what it ended with
		}
	}
	switch f.Kind {
	case Violation:
		return fmt.Sprintf("%s in a section of %s", what, f.Guard)
	case Bypass:
		return fmt.Sprintf("%s inside the goroutine's own section of %s", what, f.Guard)
	case Race:
		if len(f.Accesses) > 1 {
			return fmt.Sprintf("%s, and %s at %s, with nothing to order them", what, f.role(1), f.Accesses[1].Site())
		}
		return what + " with nothing to order it"
	case Deviation:
		return fmt.Sprintf("%s without %s", what, f.Guard)
	case SplitSection:
		return fmt.Sprintf("%s by what an earlier section of %s has seen", what, f.Guard)
	case TransactionMisuse:
		return what
	}
	if f.Kind.ends() {
		return what
	}
	panic(fmt.Sprintf("finding: unknown kind %q", f.Kind))
}

// Sentence says what a run has shown, beginning with its kind and where that is:
//
//	panic at broker.go:69: send on closed channel
//	data race at broker.go:57: write of s.closed, and read of s.closed at broker.go:68, with nothing to order them
func (f *Finding) Sentence() string {
	text := string(f.Kind)
	if len(f.Accesses) > 0 {
		if site := f.Accesses[0].Site(); site != (Frame{}) {
			text += " at " + site.String()
		}
	}
	if words := f.Words(); words != "" {
		text += ": " + words
	}
	return text
}

// Words are those of the sentence that come after the kind and the place. Of a race they name both sides,
// for several may have one place in common, where the first line of the explanation names the operations alone.
func (f *Finding) Words() string {
	if f.Kind != Race || len(f.Accesses) < 2 {
		return f.Explanation
	}
	text := fmt.Sprintf("%s, and %s at %s, with nothing to order them", f.Accesses[0].What(), f.Accesses[1].What(), f.Accesses[1].Site())
	if _, more, _ := strings.Cut(f.Explanation, "\n"); more != "" {
		text += "\n" + more
	}
	return text
}

// role names the part that the i'th access plays.
func (f *Finding) role(i int) string {
	a := f.Accesses[i]
	switch {
	case a.Op == Lock:
		return "section entered"
	case i > 0:
		return a.What()
	}
	switch f.Kind {
	case Violation:
		return "careless " + a.What()
	case Bypass:
		return a.What() + " through the shared pointer"
	case Race, Deviation, SplitSection, TransactionMisuse:
		return a.What()
	}
	if f.Kind.ends() {
		return a.What()
	}
	panic(fmt.Sprintf("finding: unknown kind %q", f.Kind))
}

// Advice says what would remove the defect.
func (f *Finding) Advice() string {
	op, site := "access", "its site"
	if len(f.Accesses) > 0 {
		op, site = string(f.Accesses[0].Op), f.Accesses[0].Site().String()
	}
	switch f.Kind {
	case Violation:
		advice := fmt.Sprintf("hold the lock of %s for the %s at %s", f.Guard, op, site)
		if len(f.Accesses) == 0 || len(f.Accesses[0].Stack) == 0 { // the access was not seen
			advice = fmt.Sprintf("find the %s that does not hold the lock of %s", op, f.Guard)
		}
		for _, a := range f.Accesses {
			if a.Op == Lock && len(a.Stack) > 0 {
				return advice + ", as " + a.Site().String() + " does"
			}
		}
		return advice
	case Bypass:
		return fmt.Sprintf("make the %s at %s through the section's own pointer", op, site)
	case Race:
		return fmt.Sprintf("hold one lock for the %s at %s and for what it races with", op, site)
	case Deviation:
		return fmt.Sprintf("hold %s for the %s at %s", f.Guard, op, site)
	case SplitSection:
		return fmt.Sprintf("check again where %s is, or make one section of the two", site)
	case TransactionMisuse:
		return "see the comment of package stmcheck"
	}
	if f.Kind.ends() {
		return "run cofferdam fix, or look at the trace"
	}
	panic(fmt.Sprintf("finding: unknown kind %q", f.Kind))
}

// meaning says what an outcome means for the program.
func (o Outcome) meaning() string {
	switch o {
	case Delayed:
		return "the access waited until the section had ended"
	case Tolerated:
		return "the access happened, and the section did not notice it"
	case Resolved:
		return "the access happened, and its effect was merged with that of the section"
	case Surrendered:
		return "the access was let through while the section was running"
	case Refused:
		return "the access was not carried out"
	}
	panic(fmt.Sprintf("finding: unknown outcome %q", o))
}

// summary says how often, and with which outcomes: "3 times (2 delayed, 1
// surrendered)", or "3 times (delayed)" if all had the same one.
func (h *History) summary() string {
	var parts []string
	for _, o := range outcomes {
		switch n := h.Outcomes.Of(o); n {
		case 0:
		case h.Count:
			parts = append(parts, string(o))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	s := "once"
	if h.Count != 1 {
		s = fmt.Sprintf("%d times", h.Count)
	}
	if len(parts) == 0 {
		return s
	}
	return s + " (" + strings.Join(parts, ", ") + ")"
}

func (h *History) wait() string {
	// The cost of measuring is a few microseconds; further digits are noise.
	longest, all := h.LongestWait.Round(time.Microsecond), h.Waited.Round(time.Microsecond)
	if h.Count == 1 {
		return longest.String()
	}
	return fmt.Sprintf("%v at most, %v in all", longest, all)
}

func (h *History) period() string {
	const layout = "2006-01-02T15:04:05.000Z07:00"
	if !h.Last.After(h.First) {
		return h.First.Format(layout)
	}
	return fmt.Sprintf("from %s to %s", h.First.Format(layout), h.Last.Format(layout))
}

func goroutine(id uint64) string {
	if id == 0 {
		return "an unknown goroutine"
	}
	return fmt.Sprintf("goroutine %d", id)
}
