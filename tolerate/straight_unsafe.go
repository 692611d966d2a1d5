package tolerate

import (
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// A Label is what is known of a variable in a straight section: one whose variables
// a rewriter knows in advance, so that the copies are local variables of the
// function and the compiler sees them as such.
//
//	x.mu.Lock()        x.mu.Lock(); p := &x.n; v := *p; b := v
//	x.n++              v++
//	x.mu.Unlock()      if v != b || *p != b { tolerate.Put64(p, v, b, &n) }; x.mu.Unlock()
//
// Pointers, strings, slices and interfaces are compared and then assigned, and Settle is
// called if the comparison fails. A compare-and-swap of a pointer costs as much as the
// lock.
//
// It must not be copied or changed once it is in use.
type Label struct {
	Name string
	// Lock is the name of the lock that guards the variable.
	Lock string
	// Blind says that the section writes the variable before it reads it, if it does; see [Var.Set].
	Blind bool
	// Reads and Writes say what the section may do with the variable. They are for [TakeExact].
	Reads, Writes bool
	// Suspects are the places, if any are known, that write the variable without
	// the lock.
	Suspects string
	// Merge is what becomes of a variable that both have changed. By is for a function that
	// decides it, see [ResolveBy].
	Merge Merge
	By    *Resolution

	made atomic.Pointer[policy]
}

// policy returns the policy of variables of a type. Instances of one generic type
// share a label.
func (l *Label) policy(t *typed) *policy {
	if p := l.made.Load(); p != nil && p.typed == t {
		return p
	}
	p := &policy{typed: t, name: l.Name, lock: l.Lock, suspects: l.Suspects, merge: l.Merge, resolve: l.Merge.resolver(t)}
	if l.By != nil {
		p.resolve = l.By.resolve
	}
	l.made.Store(p)
	return p
}

// Take copies a variable of several words. One word is copied by assignment, and so
// are strings, slices and structs of numbers, for the sake of speed: half of a careless
// write is what the section might have seen without a copy too.
func Take[T any](p *T) (v T) {
	t := typeOf[T]()
	if t.bulk {
		return *p
	}
	const tries = 16 // as in cell.snapshot
	for range tries {
		same := true
		for _, u := range t.units {
			u.kind.load(unsafe.Add(unsafe.Pointer(&v), u.offset), unsafe.Add(unsafe.Pointer(p), u.offset))
		}
		for _, u := range t.units {
			same = same && u.kind.same(unsafe.Add(unsafe.Pointer(p), u.offset), unsafe.Add(unsafe.Pointer(&v), u.offset))
		}
		if same {
			break
		}
	}
	return v
}

// PutScalar publishes what a section has made of a number or a truth value.
func PutScalar[T any](p *T, own, before T, l *Label) {
	switch unsafe.Sizeof(own) {
	case 1:
		if byte1.publish(unsafe.Pointer(p), unsafe.Pointer(&before), unsafe.Pointer(&own)) {
			return
		}
	case 2:
		if byte2.publish(unsafe.Pointer(p), unsafe.Pointer(&before), unsafe.Pointer(&own)) {
			return
		}
	case 4:
		if byte4.publish(unsafe.Pointer(p), unsafe.Pointer(&before), unsafe.Pointer(&own)) {
			return
		}
	case 8:
		if wide && byte8.publish(unsafe.Pointer(p), unsafe.Pointer(&before), unsafe.Pointer(&own)) {
			return
		}
	}
	Settle(p, own, before, l)
}

// Put64 is [PutScalar] for integers of 64 bits where pointers have as many, and small
// enough to be inlined.
func Put64[T ~int | ~int64 | ~uint | ~uint64 | ~uintptr](p *T, own, before T, l *Label) {
	if !atomic.CompareAndSwapUint64((*uint64)(unsafe.Pointer(p)), uint64(before), uint64(own)) {
		Settle(p, own, before, l)
	}
}

// Put32 is [PutScalar] for integers of 32 bits, and small enough to be inlined.
func Put32[T ~int | ~int32 | ~uint | ~uint32 | ~uintptr](p *T, own, before T, l *Label) {
	if !atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(p)), uint32(before), uint32(own)) {
		Settle(p, own, before, l)
	}
}

// SamePointer, SameSlice, SameString, SameInterface and SameFloat compare what is there,
// and not what it means: to read through a pointer that careless code has left half
// written could end the program, and 0 is not -0. SamePointer is for everything that
// is one pointer.
func SamePointer[T any](a, b T) bool {
	return *(*unsafe.Pointer)(unsafe.Pointer(&a)) == *(*unsafe.Pointer)(unsafe.Pointer(&b))
}

func SameSlice[S ~[]E, E any](a, b S) bool {
	return unsafe.SliceData(a) == unsafe.SliceData(b) && len(a) == len(b) && cap(a) == cap(b)
}

func SameString[S ~string](a, b S) bool {
	return unsafe.StringData(string(a)) == unsafe.StringData(string(b)) && len(a) == len(b)
}

func SameInterface[T any](a, b T) bool {
	return *(*twoPointers)(unsafe.Pointer(&a)) == *(*twoPointers)(unsafe.Pointer(&b))
}

func SameFloat[T ~float32 | ~float64](a, b T) bool {
	if unsafe.Sizeof(a) == 4 {
		return *(*uint32)(unsafe.Pointer(&a)) == *(*uint32)(unsafe.Pointer(&b))
	}
	return *(*uint64)(unsafe.Pointer(&a)) == *(*uint64)(unsafe.Pointer(&b))
}

// PutWide publishes what a section has made of a variable of any type. What before
// points to means nothing afterwards.
func PutWide[T any](p, own, before *T, l *Label) {
	t := typeOf[T]()
	if t.bulk {
		Settle(p, *own, *before, l)
		return
	}
	interfered := false
	for _, u := range t.units {
		shared, o, b := unsafe.Add(unsafe.Pointer(p), u.offset), unsafe.Add(unsafe.Pointer(own), u.offset), unsafe.Add(unsafe.Pointer(before), u.offset)
		switch {
		case u.kind.equal(o, b):
			interfered = interfered || !u.kind.same(shared, b)
		case u.kind.publish(shared, b, o):
			u.kind.assign(b, o) // so that it is not published again
		default:
			interfered = true
		}
	}
	if interfered {
		Settle(p, *own, *before, l)
	}
}

// equal is the method same for two copies, and assign is load for two copies. Atomic
// operations on pointers let what they are given escape, and these have none, so that
// copies can be local variables. A call of them from same and load would cost a section
// with a string in it a fifth more.
func (k kind) equal(a, b unsafe.Pointer) bool {
	switch k {
	case byte1:
		return *(*uint8)(a) == *(*uint8)(b)
	case byte2:
		return *(*uint16)(a) == *(*uint16)(b)
	case byte4:
		return *(*uint32)(a) == *(*uint32)(b)
	case byte8:
		return *(*uint64)(a) == *(*uint64)(b)
	case pointer:
		return *(*unsafe.Pointer)(a) == *(*unsafe.Pointer)(b)
	case pair8:
		return *(*[2]uint32)(a) == *(*[2]uint32)(b)
	case pair16:
		return *(*[4]uint32)(a) == *(*[4]uint32)(b)
	case text:
		return *(*textHeader)(a) == *(*textHeader)(b)
	case slice:
		return *(*sliceHeader)(a) == *(*sliceHeader)(b)
	case iface:
		return *(*twoPointers)(a) == *(*twoPointers)(b)
	}
	panic("tolerate: unknown kind of unit")
}

func (k kind) assign(to, from unsafe.Pointer) {
	switch k {
	case byte1:
		*(*uint8)(to) = *(*uint8)(from)
	case byte2:
		*(*uint16)(to) = *(*uint16)(from)
	case byte4:
		*(*uint32)(to) = *(*uint32)(from)
	case byte8:
		*(*uint64)(to) = *(*uint64)(from)
	case pointer:
		*(*unsafe.Pointer)(to) = *(*unsafe.Pointer)(from)
	case pair8:
		*(*[2]uint32)(to) = *(*[2]uint32)(from)
	case pair16:
		*(*[4]uint32)(to) = *(*[4]uint32)(from)
	case text:
		*(*textHeader)(to) = *(*textHeader)(from)
	case slice:
		*(*sliceHeader)(to) = *(*sliceHeader)(from)
	case iface:
		*(*twoPointers)(to) = *(*twoPointers)(from)
	default:
		panic("tolerate: unknown kind of unit")
	}
}

// Settle is the end of a section during which code without the lock has changed the variable,
// or may have.
func Settle[T any](p *T, own, before T, l *Label) {
	t := typeOf[T]()
	if r := settled(p, own, before, l.Blind, l.policy(t), t); r != nil {
		record("", []*race{r})
	}
}

// settled publishes what a section has made of a variable by a policy, and returns the race if there was
// one.
func settled[T any](p *T, own, before T, blind bool, by *policy, t *typed) *race {
	c := &cell{
		typed: t, policy: by,
		shared: unsafe.Pointer(p), own: unsafe.Pointer(&own), before: unsafe.Pointer(&before), origin: unsafe.Pointer(&before),
	}
	if by.merge.byParts(t) {
		return c.mergeParts(blind)
	}
	return c.reconcile(blind)
}

// Check compares a variable with what the section last saw in it or wrote to it. It
// is for sections that have no copies, and only want to know.
func Check[T any](p *T, last T, l *Label) {
	t := typeOf[T]()
	if t.bulk {
		surrender(p, last, l) // if it finds a difference
		return
	}
	for _, u := range t.units {
		if !u.kind.same(unsafe.Add(unsafe.Pointer(p), u.offset), unsafe.Add(unsafe.Pointer(&last), u.offset)) {
			surrender(p, last, l)
			return
		}
	}
}

func surrender[T any](p *T, last T, l *Label) {
	t := typeOf[T]()
	theirs := Take(p)
	if t.same(unsafe.Pointer(&theirs), unsafe.Pointer(&last)) {
		return
	}
	r := &race{
		policy: l.policy(t), typed: t, address: uint64(uintptr(unsafe.Pointer(p))),
		classes: Classes(XwR | RXwW | RrwR | WrwX | RrwX), outcome: finding.Surrendered,
	}
	if t.printed {
		r.values = &[3]any{theirs, last, last}
	}
	record("", []*race{r})
}
