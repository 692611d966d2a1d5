package isolate

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// Own returns the holder's view of a guarded object: the same memory, never
// protected. It is for the section that is running, and for nothing after it. The
// calling goroutine must hold the lock, for an [RWMutex] at least for reading,
// and p must belong to it; otherwise Own panics. It may be given either view.
//
// It takes the lock by its type, not as a [Guard], so that it costs no more than
// a call: it is in every section.
//
// What a reader does with its view is its own responsibility: reading.
func Own[T any, L Lock](l L, p *T) *T {
	return (*T)(page.Own((*page.Latch)(unsafe.Pointer(l)), unsafe.Pointer(p)))
}

// The latch of a Mutex is the first thing in it, and so is the door of every lock.
func init() {
	page.Slowly.Lock = func(l *page.Latch, site [2]uintptr, taken bool) { (*Mutex)(unsafe.Pointer(l)).lock(site, taken) }
	page.Slowly.Unlock = func(l *page.Latch) { (*Mutex)(unsafe.Pointer(l)).unlock() }
	page.Slowly.Own = func(l *page.Latch, p unsafe.Pointer) unsafe.Pointer { return (*door)(unsafe.Pointer(l)).own(p) }
	page.KnowLock(func() { lockBy(new(Mutex)) })
}

// lockBy is not inlined, so that it is not known which Lock is called.
//
//go:noinline
func lockBy(l sync.Locker) { l.Lock() }

// own is Own for an object that is in other memory of the guard than the first one, for a reader, and for
// misuse. Every section pays for the rest of Own, which is in assembly: the view is one bit of the address, and the
// bounds that it is compared with, and the holder, are in the lock.
func (d *door) own(p unsafe.Pointer) unsafe.Pointer {
	gate := d.gate.Load()
	offset, ok := offsetOf(p)
	if gate == nil || !ok || page.Owner(offset) != gate.Index() || !gate.Held() {
		panic(refusal(gate, p))
	}
	if d.latch.Holder() != 0 { // it is this goroutine, and alone
		d.latch.Remember(gate, offset)
	}
	return unsafe.Add(page.Base, offset|page.OwnBit)
}

// OwnSlice is [Own] for what [MakeSlice] returned, or a part of it.
func OwnSlice[T any, L Lock](l L, s []T) []T {
	if len(s) == 0 {
		return s
	}
	return unsafe.Slice(Own(l, &s[0]), len(s))
}

// refusal says what is wrong with an Own.
func refusal(gate *page.Gate, p unsafe.Pointer) string {
	if gate == nil {
		return "isolate: Own with a lock that was never used: nothing belongs to it"
	}
	found, ok := guards.Load(gate.Index())
	if !ok {
		return "isolate: Own on a closed guard"
	}
	g := found.(*guard)
	if offset, ok := offsetOf(p); !ok || page.Owner(offset) != gate.Index() {
		return fmt.Sprintf("isolate: Own of %p with %v: %s", p, g.describe(), g.stranger(offset, ok))
	}
	return fmt.Sprintf("isolate: Own with %v, which this goroutine has not locked: call Lock first, and Own in the goroutine that did", g.describe())
}

// Name has findings call an object by a name, and not by its type. The object is one
// that [New] returned for the guard.
func Name[T any](l Guard, p *T, name string) {
	offset, ok := offsetOf(unsafe.Pointer(p))
	g := open(l)
	if !ok || page.Owner(offset) != g.gate.Index() {
		panic(fmt.Sprintf("isolate: Name of %p with %v: %s", p, g.describe(), g.stranger(offset, ok)))
	}
	g.call(offset, name)
}

// NameAll is [Name] for all objects of a guard that have no name of their own.
func NameAll(l Guard, name string) {
	g := open(l)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.namesake = name
}

// A Ref refers to a guarded object from within another object of the same guard.
// The zero Ref refers to nothing. It is a number, so that it may live where the
// collector does not look, and it is followed by [Follow]. Like a pointer in C it
// outlives what it refers to: after [Free] it leads to another object of the same
// type, or to none.
type Ref[T any] struct{ offset uint64 }

// RefTo returns a reference to p, of either view, which must belong to the
// guard. A nil p gives the zero Ref.
func RefTo[T any](l Guard, p *T) Ref[T] {
	if p == nil {
		return Ref[T]{}
	}
	offset, ok := offsetOf(unsafe.Pointer(p))
	d, _ := l.door()
	if gate := d.gate.Load(); !ok || gate == nil || page.Owner(offset) != gate.Index() {
		g := open(l)
		panic(fmt.Sprintf("isolate: RefTo %p with %v: %s", p, g.describe(), g.stranger(offset, ok)))
	}
	return Ref[T]{uint64(offset)}
}

// IsNil reports whether the reference refers to nothing.
func (r Ref[T]) IsNil() bool { return r.offset == 0 }

// Follow returns the object that r refers to, in the view of from: the object, or
// any other, that r was read from. So a walk that begins with [Own] stays in the
// holder's view, and one that begins with a shared pointer is stopped like any
// careless access. The zero Ref gives nil.
func Follow[F, T any](from *F, r Ref[T]) *T {
	if r.offset == 0 {
		return nil
	}
	// Branches, so that the address of the next object is known as soon as r is, and a walk waits for
	// nothing else: the processor guesses the view, which is the same in each step.
	if uintptr(unsafe.Pointer(from))-uintptr(page.OwnView) < page.Bytes {
		return (*T)(unsafe.Add(page.OwnView, r.offset))
	}
	if uintptr(unsafe.Pointer(from))-uintptr(page.Base) < page.Bytes {
		return (*T)(unsafe.Add(page.Base, r.offset))
	}
	panic(errFollow)
}

// errFollow is a variable, and the check without a call, so that Follow is
// inlined: it is every step through a linked structure.
var errFollow = errors.New("isolate: Follow from an object that is not guarded: give it the object that the Ref was read from")

// offsetOf is where in the arena p points, in either view.
func offsetOf(p unsafe.Pointer) (uintptr, bool) {
	offset := (uintptr(p) - uintptr(page.Base)) &^ page.OwnBit
	return offset, offset < page.Bytes
}

func pointer[T any](p *T) unsafe.Pointer { return unsafe.Pointer(p) }

func sliceAt[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

func offsetOfAddress(a uintptr) (uintptr, bool) {
	return offsetOf(unsafe.Add(unsafe.Pointer(nil), a))
}
