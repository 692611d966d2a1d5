package wicket

import (
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// A Names knows what findings tell of a field and of its lock. It is a type that the rewriter declares.
type Names interface {
	CofferdamNames() (name, lock, file string, line int)
}

// Load returns a field when no section writes it. It is for a method of the field's type.
func Load[N Names, T any](g *Guard, field uint64, p *T) T {
	if raceBuild {
		return *p
	}
	if !ordersLoads {
		passage := begin[N](g, field, field<<writtenAt, byMethod)
		value := *p
		passage.End()
		return value
	}
	if word := atomic.LoadUint64(&g.w.Word); word&(field<<writtenAt) == 0 {
		value := *p
		if g.undisturbed(word, field) {
			return value
		}
	} else if g.mine() {
		return *p
	}
	return loadLater[N](g, field, p)
}

// undisturbed reports whether no section has written a field since a look at the word found none that
// writes it.
func (g *Guard) undisturbed(word, field uint64) bool {
	again := atomic.LoadUint64(&g.w.Word)
	return (again^word)&^inUse == 0 && again&(field<<writtenAt) == 0
}

// loadLater is Load where a section is in the way, or was.
//
//go:noinline
func loadLater[N Names, T any](g *Guard, field uint64, p *T) T {
	var names N
	wait := guardWait{wait: wait{names: names, made: byMethod}, guard: g, blockers: field << writtenAt}
	var value T
	for done := false; !done; {
		word := wait.await()
		value = *p
		done = g.undisturbed(word, field) || wait.surrenders()
	}
	wait.tell()
	return value
}

// Store stores to a field when no section uses it. It is for a method of the field's type.
func Store[N Names, T any](g *Guard, field uint64, p *T, value T) {
	passage := begin[N](g, field, field<<writtenAt|field<<readAt, byMethod)
	*p = value
	passage.End()
}

// A Passage is a store without the lock that is under way.
type Passage struct {
	guard *Guard     // nil: nothing has to wait for it
	wait  *guardWait // nil: it did not wait
}

// How an access is made: by the code that is rewritten, or by a method that was added to a type.
const (
	direct   = 0
	byMethod = 1
)

func begin[N Names](g *Guard, field, blockers uint64, made int) Passage {
	if raceBuild {
		return Passage{}
	}
	if atomic.LoadUint64(&g.w.Word)&(field<<writtenAt|field<<readAt) != 0 && g.mine() {
		if blockers&(field<<readAt) != 0 {
			g.write(field)
		}
		return Passage{}
	}
	if g.passes(blockers) {
		return Passage{guard: g}
	}
	var names N
	w := &guardWait{wait: wait{names: names, write: blockers&(field<<readAt) != 0, made: made}, guard: g, blockers: blockers}
	for {
		w.await()
		if g.passes(blockers) {
			return Passage{g, w}
		}
		if w.surrenders() {
			return Passage{wait: w}
		}
	}
}

// Looking comes before a method of an object looks at the entries of a map or the elements of a slice, or at a part of
// a field, when no section changes them. What it does may not be interrupted by a section that does, so it is under way like a store: of a
// slice it could find the new length with the old array.
func Looking[N Names](g *Guard, field uint64) Passage {
	return begin[N](g, field, field<<writtenAt, byMethod)
}

// Changing comes before a method of an object changes such entries, elements or parts, when no section uses them.
func Changing[N Names](g *Guard, field uint64) Passage {
	return begin[N](g, field, field<<writtenAt|field<<readAt, byMethod)
}

// write has the section of the calling goroutine be one that writes a field, if it was only known to read it: code that it
// calls does.
func (g *Guard) write(field uint64) {
	for {
		word := atomic.LoadUint64(&g.w.Word)
		if word&(field<<writtenAt) != 0 || word&state == 0 {
			return
		}
		if atomic.CompareAndSwapUint64(&g.w.Word, word, word|field<<writtenAt) {
			g.awaitStores()
			return
		}
	}
}

// passes counts a store among those that are under way, if no section is in the way then.
func (g *Guard) passes(blockers uint64) bool {
	if atomic.AddUint32(&g.w.Wanters, passing)&trusting != 0 {
		g.distrust()
	}
	if atomic.LoadUint64(&g.w.Word)&blockers == 0 {
		return true
	}
	atomic.AddUint32(&g.w.Wanters, ^uint32(passing-1))
	return false
}

// How wanters are counted.
const (
	trusting = page.WicketTrusting // no access, but how sections begin
	passing  = 2                   // a store that is under way
	waiter   = 1 << 17             // an access that waits for a section
)

// End says that the store has been made.
func (p Passage) End() {
	if p.guard != nil {
		atomic.AddUint32(&p.guard.w.Wanters, ^uint32(passing-1))
	}
	if p.wait != nil {
		p.wait.tell()
	}
}

// A Target is a field with its guard.
type Target[N Names, T any] struct {
	P     *T
	guard *Guard
	field uint64
}

// To returns a target.
func To[N Names, T any](g *Guard, field uint64, p *T) Target[N, T] {
	return Target[N, T]{p, g, field}
}

// Target returns the target, and a variable for a value that will be stored to it when all values of an
// assignment are known.
//
//	a.p, b = b, a.p        { k, w := a.target().Target(); w, b = b, a.load(); k.Store(w) }
func (t Target[N, T]) Target() (Target[N, T], T) {
	var value T
	return t, value
}

// Store stores a value.
func (t Target[N, T]) Store(value T) {
	passage := t.Begin()
	*t.P = value
	passage.End()
}

// Begin comes before a statement that stores to the field and calls nothing, when no section uses the field. End
// comes after it.
func (t Target[N, T]) Begin() Passage {
	return begin[N](t.guard, t.field, t.field<<writtenAt|t.field<<readAt, direct)
}

// holder is the goroutine in the section that is running, 0 if that only reads.
func (g *Guard) holder() uintptr { return atomic.LoadUintptr(&g.w.Holder) }

// isHeldBySleeper reports whether a section relents whose goroutine waits.
func isHeldBySleeper(word uint64, holder uintptr) bool {
	return word&state == relents && holder != 0 && page.Waits(holder)
}
