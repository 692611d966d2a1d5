package tolerate

import (
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/goroutine"
)

// Exact sections. Values do not tell what careless code has read, so that III, IVb and IVc look the
// same at the end of a section. Section 4.2 of the paper has hardware keep bits for each variable:
// read, clean, which a first write sets, and dirty, which a first write sets that depends on what
// was read. A rewriter that knows all uses of a variable can have them kept by calls:
//
//	x.mu.Lock()        x.mu.Lock(); v := TakeExact(&x.n, &label); b := v
//	x.n++              v++
//	x.mu.Unlock()      PutExact(&x.n, v, b, &label); x.mu.Unlock()
//
//	use(x.n)           use(Read(&x.n, false))
//	x.n = d            func() { defer Write(&x.n, false)(); x.n = d }()
//	x.n++              func() { defer Write(&x.n, true)(); x.n++ }()
//
// With all of these under one lock, a careless write is wholly inside of a section or wholly outside.
// What table 2 of the paper has for each class can be done:
//
//   - the first careless write is clean (I, III), or the section only reads (I, IVa): V stays, as if
//     careless code had run after the section. Merges that have the section come last are as good.
//   - the section does not depend on the variable (IVb): V becomes V′.
//   - the write depends on what was read, and the section may write what it has read (IVc): the
//     write waits until the section has ended. It is as if the section had run between the two, and
//     what the section wrote is overwritten, as it may be without all this. So what is known to update the
//     variable, such as x.n++, or a load in a function that stores to it, waits before it reads,
//     and no change is lost.
//
// A goroutine's write depends on what it read of the variable since the section began, whatever it
// writes: the paper assumes so where it names r and w of one thread. That the section waits for the
// writer cannot be excluded, so the wait is bounded, and then the write is let through: what the
// merge of the variable makes of it is resolved, as without all this.
//
// A use that has no call, by way of a pointer say, leaves only its value behind. A section that
// finds a value that no call explains names the classes that it may be, as [Settle] does.

// An episode is a section, from where it takes its copy of a variable to where it publishes it.
type episode struct {
	variable  extent
	label     *Label
	goroutine uint64

	readers []uint64 // goroutines that have read the variable
	first   firstWrite
	stack   []finding.Frame // of the first write
	waiting int
	delayed []finding.Frame // where a write was delayed until the end
	ended   chan struct{}   // closed when it has come
}

// A firstWrite says what the first careless write was.
type firstWrite uint8

const (
	unwritten firstWrite = iota
	clean                // it depends on nothing that was read
	dirty                // it depends on it
)

// An extent is the memory of a variable, or of a part of one.
type extent struct {
	start unsafe.Pointer // a pointer, so that the variable does not move
	size  uintptr
}

func extentOf[T any](p *T) extent { return extent{unsafe.Pointer(p), unsafe.Sizeof(*p)} }

func (s extent) overlaps(o extent) bool {
	return uintptr(s.start) < uintptr(o.start)+o.size && uintptr(o.start) < uintptr(s.start)+s.size
}

// An observer is what the calls have in common.
type observer struct {
	mu       sync.Mutex // held for each careless access, and to begin and end an episode
	episodes []*episode
	// passing are the writes that waited for an episode which has ended. The next one lets
	// them pass.
	passing int
}

var exact observer

// longestDelay is how long a write waits for a section.
var longestDelay = 100 * time.Millisecond // not constant for tests

// TakeExact begins a section of a variable of which all uses are made by calls, and returns its copy.
func TakeExact[T any](p *T, l *Label) T {
	exact.mu.Lock()
	defer exact.mu.Unlock()
	exact.letPass()
	exact.end(extentOf(p), l) // of a section that has panicked, with nothing to publish
	exact.episodes = append(exact.episodes, &episode{variable: extentOf(p), label: l, goroutine: goroutine.ID(), ended: make(chan struct{})})
	return *p
}

// letPass has the writes made that waited for a section. Against a writer that does not come the
// section goes on.
func (o *observer) letPass() {
	for try := 0; o.passing > 0 && try < mostTries; try++ {
		o.mu.Unlock()
		runtime.Gosched()
		o.mu.Lock()
	}
}

// PutExact ends the section: its copy is published.
func PutExact[T any](p *T, own, before T, l *Label) {
	exact.mu.Lock()
	e := exact.end(extentOf(p), l)
	t := typeOf[T]()
	policy, changed := l.policy(t), !t.same(unsafe.Pointer(&own), unsafe.Pointer(&before))
	classes := e.classes(changed)
	var r *race
	switch {
	case e.first == unwritten && t.same(unsafe.Pointer(p), unsafe.Pointer(&before)):
		if changed {
			*p = own
		}
		exact.mu.Unlock()
	case policy.resolve != nil:
		exact.mu.Unlock() // it may be a function of the user's
		r = settled(p, own, before, l.Blind, policy, t)
	default:
		if e.first != unwritten && classes != Classes(RrwX) {
			policy = policy.yielding()
		}
		r = settled(p, own, before, l.Blind, policy, t)
		exact.mu.Unlock()
	}
	if r != nil && e.first != unwritten {
		r.classes, r.stack, r.exact = classes, e.stack, true
		if classes != Classes(RrwX) && r.outcome == finding.Resolved {
			r.outcome = finding.Tolerated
		}
	}
	e.tell(policy, t, r)
}

// tell records what came of an episode, and the write that waited for its end.
func (e *episode) tell(p *policy, t *typed, r *race) {
	var races []*race
	if e.delayed != nil {
		races = append(races, &race{policy: p, typed: t, address: uint64(uintptr(e.variable.start)), classes: Classes(RrwX), outcome: finding.Delayed, stack: e.delayed, exact: true})
	}
	if r != nil {
		races = append(races, r)
	}
	if len(races) > 0 {
		record("", races)
	}
}

// yielding is the policy by which a careless value stays, if nothing is known of the section's change but
// that it is one.
func (p *policy) yielding() *policy {
	if p.merge != Keeping {
		return p
	}
	y := *p
	y.merge = Yielding
	return &y
}

// end removes the episode of the running goroutine, and returns it. If there is none nothing is known.
func (o *observer) end(s extent, l *Label) *episode {
	me := goroutine.ID()
	i := slices.IndexFunc(o.episodes, func(e *episode) bool { return e.goroutine == me && e.variable == s })
	if i < 0 {
		return &episode{variable: s, label: l}
	}
	e := o.episodes[i]
	o.episodes = slices.Delete(o.episodes, i, i+1)
	o.passing += e.waiting
	close(e.ended)
	return e
}

// classes are those of the race, if there is one, from the bits and from whether the section has changed
// its copy.
func (e *episode) classes(changed bool) Classes {
	switch {
	case e.label.Blind && e.first == dirty:
		return Classes(WrwX)
	case e.label.Blind && e.label.Reads:
		return Classes(XwR)
	case e.label.Blind:
		return 0 // both write, and neither reads
	case !changed && e.first == dirty:
		return Classes(RrwR)
	case !changed:
		return Classes(XwR)
	case e.first == dirty:
		return Classes(RrwX)
	default:
		return Classes(XwR | RXwW)
	}
}

// Read is a load without the lock. It updates the variable if the goroutine is going to write what depends
// on it, as far as a rewriter sees, and waits then as the write would: after the wait both are made.
func Read[T any](p *T, updates bool) T {
	exact.mu.Lock()
	defer exact.mu.Unlock()
	exact.read(extentOf(p), updates)
	return *p
}

// Reading is [Read] for a load that must come later, when what follows it in the statement has been
// called. A section may begin in between, and does not know of the load then.
func Reading[T any](p *T, updates bool) *T {
	exact.mu.Lock()
	defer exact.mu.Unlock()
	exact.read(extentOf(p), updates)
	return p
}

func (o *observer) read(x extent, updates bool) {
	if updates {
		o.wait(x, true)
	}
	o.noteRead(x)
}

// Write comes before a statement without the lock that writes a variable and calls nothing. What it
// returns is called after it. The statement updates the variable if it reads it, too.
func Write[T any](p *T, updates bool) (done func()) {
	exact.mu.Lock()
	s := extentOf(p)
	exact.wait(s, updates)
	exact.noteWrite(s, updates)
	return exact.mu.Unlock
}

// others calls f with the episodes of other goroutines on a variable, and with the number of this one.
func (o *observer) others(s extent, f func(e *episode, me uint64)) {
	if len(o.episodes) == 0 {
		return
	}
	me := goroutine.ID()
	for _, e := range o.episodes {
		if e.goroutine != me && e.variable.overlaps(s) {
			f(e, me)
		}
	}
}

func (o *observer) noteRead(s extent) {
	o.others(s, func(e *episode, me uint64) {
		if !slices.Contains(e.readers, me) {
			e.readers = append(e.readers, me)
		}
	})
}

func (o *observer) noteWrite(s extent, updates bool) {
	o.others(s, func(e *episode, me uint64) {
		switch {
		case e.first != unwritten:
			return
		case updates || slices.Contains(e.readers, me):
			e.first = dirty
		default:
			e.first = clean
		}
		e.stack = callers()
	})
}

// wait has a write wait for the sections that would be in conflict with it: IVc.
func (o *observer) wait(s extent, updates bool) {
	var patience *time.Timer
	for {
		e := o.conflicting(s, updates)
		if e == nil {
			return
		}
		if patience == nil {
			patience = time.NewTimer(longestDelay)
			defer patience.Stop()
		}
		if !o.waitFor(e, patience) {
			return
		}
	}
}

// conflicting returns an episode that a write would be in conflict with.
func (o *observer) conflicting(s extent, updates bool) (found *episode) {
	o.others(s, func(e *episode, me uint64) {
		if e.label.updates() && e.first == unwritten && (updates || slices.Contains(e.readers, me)) {
			found = e
		}
	})
	return found
}

// updates reports whether the section may write what depends on what it has read.
func (l *Label) updates() bool { return l.Reads && l.Writes && !l.Blind }

// waitFor waits for the end of an episode, and reports whether it has come.
func (o *observer) waitFor(e *episode, patience *time.Timer) bool {
	if e.delayed == nil {
		e.delayed = callers()
	}
	e.waiting++
	o.mu.Unlock()
	beginsToWait()
	over := false
	select {
	case <-e.ended:
		over = true
	case <-patience.C:
	}
	o.mu.Lock()
	select {
	case <-e.ended:
		o.passing--
	default:
		e.waiting--
		e.delayed = nil // but let through
	}
	return over
}

// beginsToWait is called when a write does. Tests wait for that.
var beginsToWait = func() {}
