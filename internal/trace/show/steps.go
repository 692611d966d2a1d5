package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Relevance tells which events of a trace matter to a person: accesses to memory that several
// goroutines touch and one changes, and what goroutines do with each other, of the program itself.
type Relevance struct {
	r *trace.Reader
	// own are the program's files, and shared the words of memory that make an access matter.
	own    map[string]bool
	shared map[uint64]bool
	// raced are the words of races: their accesses matter even where the standard library makes them in a
	// call that is not known, or the failure itself would be missing.
	raced map[uint64]bool
}

// NewRelevance reads a trace once, for which memory is shared.
func NewRelevance(r *trace.Reader) (*Relevance, error) {
	v := &Relevance{r: r, own: ownFiles(r), raced: racedMemory(r)}
	var err error
	v.shared, err = sharedMemory(r, v.own)
	return v, err
}

// Matters reports whether an event is one that a timeline has a step for.
func (v *Relevance) Matters(e *event.Event) bool {
	return isEnd(e) || e.Kind == event.Stall || matters(e, v.shared) && shownAt(v.r, v.own, e) || isOn(e, v.raced)
}

// racedMemory returns the words that the races of a run are on.
func racedMemory(r *trace.Reader) map[uint64]bool {
	raced := map[uint64]bool{}
	if r.Outcome == nil {
		return raced
	}
	for i := range r.Outcome.Failures {
		f := &r.Outcome.Failures[i]
		if f.Kind != event.FailureRace {
			continue
		}
		for _, p := range append([]trace.Point{f.Point}, f.Others...) {
			if p.Addr != 0 {
				raced[p.Addr&^7] = true
			}
		}
	}
	return raced
}

// isOn reports whether an event accesses one of some words of memory.
func isOn(e *event.Event, words map[uint64]bool) bool {
	if !e.Kind.IsMemory() && !e.Kind.IsAtomic() {
		return false
	}
	for a := e.Addr &^ 7; a < e.Addr+uint64(max(e.Size, 1)); a += 8 {
		if words[a] {
			return true
		}
	}
	return false
}

// Own reports whether a file is one of the program itself.
func (v *Relevance) Own(file string) bool { return v.own[file] }

// sharedMemory returns the words that several goroutines access and one changes, and that are
// the program's: one of its own files accesses them.
func sharedMemory(r *trace.Reader, own map[string]bool) (map[uint64]bool, error) {
	type use struct {
		g      uint32
		shared bool
		write  bool
		own    bool
	}
	uses := map[uint64]*use{}
	c := r.Cursor(trace.Filter{Kinds: trace.Accesses()})
	for c.Next() {
		e := c.Event()
		site, ok := r.Site(e.Site)
		if isInternal(r, e, &site, ok) {
			continue
		}
		for a := e.Addr &^ 7; a < e.Addr+uint64(max(e.Size, 1)); a += 8 {
			u := uses[a]
			if u == nil {
				u = &use{g: e.G}
				uses[a] = u
			}
			u.shared = u.shared || u.g != e.G
			u.write = u.write || !e.Kind.IsRead()
			u.own = u.own || ok && own[site.File]
		}
	}
	shared := map[uint64]bool{}
	for a, u := range uses {
		if u.shared && u.write && u.own {
			shared[a] = true
		}
	}
	return shared, c.Err()
}

// ownFiles returns the files of the program itself. What the standard library does for
// it inside is not shown.
func ownFiles(r *trace.Reader) map[string]bool {
	own := map[string]bool{}
	for _, s := range r.Sites() {
		if slices.Contains(r.Header.Own, s.Package) {
			own[s.File] = true
		}
	}
	return own
}

// lastWait returns when the last of the goroutines that a run leaves waiting began to wait; 0
// if it leaves none.
func lastWait(r *trace.Reader) (seq uint64, err error) {
	worst := r.Outcome.Worst()
	if worst == nil || len(worst.Waiting) == 0 {
		return 0, nil
	}
	var waiting []uint32
	for i := range worst.Waiting {
		waiting = append(append(waiting, worst.Waiting[i].G), worst.Waiting[i].More...)
	}
	c := r.Cursor(trace.Filter{Goroutines: waiting, Kinds: []event.Kind{event.Blocked}})
	for c.Next() {
		seq = c.Event().Seq
	}
	return seq, c.Err()
}

// A step is what a line of a timeline is about: an event, or what the standard library does to
// memory in one go for one function of the program.
type step struct {
	event.Event
	library *libraryStep // nil for an event of the program
}

// A libraryStep is known by the call of the program's that leads to it, or, where that is not
// recorded, by the function of the standard library, or if there are several by their package.
type libraryStep struct {
	call     uint32 // site of the call; 0 if it is not recorded
	in       string // empty if it is not known
	pkg      string
	accesses map[event.Kind]int
}

// newStep returns the step that begins with an event.
func newStep(r *trace.Reader, e *event.Event) step {
	s := step{Event: *e}
	if r.Header.Binary != nil || !e.Kind.IsMemory() && !e.Kind.IsAtomic() {
		return s
	}
	site, ok := r.Site(e.Site)
	accesses := map[event.Kind]int{e.Kind: 1}
	switch {
	case !ok:
		s.library = &libraryStep{accesses: accesses}
	case !slices.Contains(r.Header.Own, site.Package):
		s.library = &libraryStep{in: site.Package + "." + site.Function, pkg: site.Package, accesses: accesses}
	case e.Site >= event.CallSites:
		s.library = &libraryStep{call: e.Site, accesses: accesses}
	}
	return s
}

// goesOn reports whether a step goes on with the next, and then has both.
func (s *step) goesOn(r *trace.Reader, next *step) bool {
	a, b := s.library, next.library
	if a == nil && again(&s.Event, &next.Event) {
		return true
	}
	if a == nil || b == nil || s.G != next.G || a.call != b.call {
		return false
	}
	if s.Frame != next.Frame && a.call == 0 {
		before, _ := Caller(r, s.Frame)
		now, _ := Caller(r, next.Frame)
		if before.Function != now.Function || before.Package != now.Package {
			return false
		}
	}
	a.accesses[next.Kind]++
	switch {
	case a.in == "":
		a.in, a.pkg = b.in, b.pkg
	case b.in == "" || a.in == b.in:
	case a.pkg == b.pkg:
		a.in = a.pkg
	default:
		a.in, a.pkg = "the standard library", ""
	}
	return true
}

// String says what the standard library did to memory, and how often.
func (l *libraryStep) String() string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(l.accesses)) {
		if n := l.accesses[kind]; n > 1 {
			parts = append(parts, fmt.Sprintf("%d × %s", n, kind))
		} else {
			parts = append(parts, kind.String())
		}
	}
	return strings.Join(parts, ", ")
}

// isOne reports whether the step is a single access.
func (l *libraryStep) isOne() bool {
	sum := 0
	for _, n := range l.accesses {
		sum += n
	}
	return sum == 1
}

// lastSteps returns the last of the steps that matter, up to the failure or to the event
// last, if that is not 0, and how many came before.
func lastSteps(relevance *Relevance, limit int, last uint64) (steps []step, skipped int, err error) {
	r := relevance.r
	c := r.Cursor(trace.Filter{Last: last})
	for c.Next() {
		e := c.Event()
		if isEnd(e) {
			steps = append(steps, step{Event: *e})
			break
		}
		if e.Kind == event.Stall {
			steps = append(steps, step{Event: *e})
			continue
		}
		if !relevance.Matters(e) {
			continue
		}
		next := newStep(r, e)
		if len(steps) > 0 && steps[len(steps)-1].goesOn(r, &next) {
			continue
		}
		steps = append(steps, next)
		if len(steps) > 2*limit {
			skipped += len(steps) - limit
			steps = append(steps[:0], steps[len(steps)-limit:]...)
		}
	}
	steps = fatalEnd(r, steps)
	if n := len(steps) - limit; n > 0 {
		skipped += n
		steps = steps[n:]
	}
	return steps, skipped, c.Err()
}

// isInternal reports whether a step is an access that the standard library makes without having
// been called by the program: in a goroutine of its own, or for the runtime.
func isInternal(r *trace.Reader, e *event.Event, site *trace.Site, ok bool) bool {
	if !e.Kind.IsMemory() {
		return false
	}
	if r.Header.Binary != nil {
		// The dynamic linker looks a function up when it is called for the first time.
		return strings.HasPrefix(site.Package, "ld-linux")
	}
	if ok {
		return e.Site >= event.CallSites && site.Expr == ""
	}
	_, called := Caller(r, e.Frame)
	return !called
}

// shownAt reports whether a step is of the program's own, or one of the standard library on
// memory.
func shownAt(r *trace.Reader, own map[string]bool, e *event.Event) bool {
	site, ok := r.Site(e.Site)
	if isInternal(r, e, &site, ok) {
		return false
	}
	if ok && own[site.File] {
		return !site.InLibrary
	}
	return e.Kind.IsMemory()
}

// again reports whether a step is one more of its goroutine at the same site and address, with
// the same value, as in a loop that waits for another.
func again(last, e *event.Event) bool {
	return e.Kind.IsMemory() && e.Kind.IsRead() && last.G == e.G && last.Kind == e.Kind && last.Site == e.Site && last.Addr == e.Addr && string(last.Before) == string(e.Before)
}

// fatalEnd ends the steps of a run that failed by a fatal error, of which there is no event:
// with the last step of the goroutine that had it.
func fatalEnd(r *trace.Reader, steps []step) []step {
	f := r.Outcome.Worst()
	if f == nil || f.Kind != event.FailureFatal || f.G == 0 || len(steps) > 0 && isEnd(&steps[len(steps)-1].Event) {
		return steps
	}
	n := len(steps)
	for i := range steps {
		if steps[i].G == f.G {
			n = i + 1
		}
	}
	return append(steps[:n], step{Event: event.Event{Kind: event.Panic, G: f.G, Site: f.Site, Frame: f.Frame}})
}

// isEnd reports whether a step is the failure.
func isEnd(e *event.Event) bool {
	return e.Kind == event.Fail || e.Kind == event.Panic || e.Kind == event.Exit
}

func matters(e *event.Event, shared map[uint64]bool) bool {
	switch e.Kind {
	case event.Alloc, event.Call, event.Return, event.Start, event.End, event.None:
		return false
	}
	if e.Kind.IsMemory() || e.Kind.IsAtomic() {
		return isOn(e, shared)
	}
	return true
}

// Library names the function of the standard library that a site is in; none is known if the
// site is empty.
func Library(s *trace.Site) string {
	if s.Function == "" {
		return "the standard library"
	}
	return s.Package + "." + s.Function
}

// Caller returns the function of the program that is innermost in a frame: for which the
// standard library did something.
func Caller(r *trace.Reader, frame uint32) (function trace.Site, ok bool) {
	stack, err := r.Stack(frame)
	if err != nil {
		return trace.Site{}, false // it is only for a name
	}
	for _, f := range stack {
		if s, ok := r.Site(f.Site); ok && slices.Contains(r.Header.Own, s.Package) {
			return s, true
		}
	}
	return trace.Site{}, false
}
