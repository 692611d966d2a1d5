package tolerate

import (
	"maps"
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
//	x.mu.Unlock()      tolerate.PutScalar(p, v, b, &n); x.mu.Unlock()
//
// It must not be copied or changed once it is in use.
type Label struct {
	Name string
	// Blind says that the section never reads the variable; see [Set].
	Blind bool
	// Suspects are the places, if any are known, that write the variable without
	// the lock.
	Suspects string

	made atomic.Pointer[policy]
}

// policy returns the policy of variables of a type. Instances of one generic type
// share a label.
func (l *Label) policy(t *typed) *policy {
	if p := l.made.Load(); p != nil && p.typed == t {
		return p
	}
	p := &policy{typed: t, name: l.Name, suspects: l.Suspects}
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
	case 4:
		o, b := *(*uint32)(unsafe.Pointer(&own)), *(*uint32)(unsafe.Pointer(&before))
		if o == b && atomic.LoadUint32((*uint32)(unsafe.Pointer(p))) == b ||
			o != b && atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(p)), b, o) {
			return
		}
	case 8:
		if !wide {
			PutWide(p, &own, &before, l)
			return
		}
		o, b := *(*uint64)(unsafe.Pointer(&own)), *(*uint64)(unsafe.Pointer(&before))
		if o == b && atomic.LoadUint64((*uint64)(unsafe.Pointer(p))) == b ||
			o != b && atomic.CompareAndSwapUint64((*uint64)(unsafe.Pointer(p)), b, o) {
			return
		}
	default:
		PutWide(p, &own, &before, l)
		return
	}
	settle(p, own, before, l)
}

// PutPointer publishes what a section has made of a pointer, a map, a channel or a
// function. It is small enough to be inlined, and so are PutSlice and PutString.
func PutPointer[T any](p *T, own, before T, l *Label) {
	b := *(*unsafe.Pointer)(unsafe.Pointer(&before))
	if *(*unsafe.Pointer)(unsafe.Pointer(&own)) != b || *(*unsafe.Pointer)(unsafe.Pointer(p)) != b {
		putPointer(p, own, before, l)
	}
}

func putPointer[T any](p *T, own, before T, l *Label) {
	o, b := *(*unsafe.Pointer)(unsafe.Pointer(&own)), *(*unsafe.Pointer)(unsafe.Pointer(&before))
	if o == b && atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(p))) == b ||
		o != b && atomic.CompareAndSwapPointer((*unsafe.Pointer)(unsafe.Pointer(p)), b, o) {
		return
	}
	settle(p, own, before, l)
}

// CloneMap copies a map with its entries.
func CloneMap[M ~map[K]V, K comparable, V any](m M) M { return maps.Clone(m) }

// PutMap publishes what a section has made of a map. If the section has changed entries
// it has done so in a copy, own, of which before had entries many: careless code that
// reads the map meanwhile reads the old one. Careless writes to it are lost, and are
// recognised if they changed the number of its entries.
func PutMap[M ~map[K]V, K comparable, V any](p *M, own, before M, entries int, l *Label) {
	if entries >= 0 && len(before) != entries {
		t := typeOf[M]()
		record("", []*race{{
			policy: l.policy(t), typed: t, address: uint64(uintptr(unsafe.Pointer(p))),
			classes: classify(true, true, false), outcome: finding.Refused,
		}})
	}
	PutPointer(p, own, before, l)
}

// PutSlice publishes what a section has made of a slice.
func PutSlice[S ~[]E, E any](p *S, own, before S, l *Label) {
	if !sameSlice(own, before) || !sameSlice(*p, before) {
		putSlice(p, own, before, l)
	}
}

func sameSlice[S ~[]E, E any](a, b S) bool {
	return unsafe.SliceData(a) == unsafe.SliceData(b) && len(a) == len(b) && cap(a) == cap(b)
}

func putSlice[S ~[]E, E any](p *S, own, before S, l *Label) {
	if sameSlice(*p, before) {
		*p = own
		return
	}
	settle(p, own, before, l)
}

// PutString publishes what a section has made of a string.
func PutString[S ~string](p *S, own, before S, l *Label) {
	if !sameString(own, before) || !sameString(*p, before) {
		putString(p, own, before, l)
	}
}

// sameString compares what is there, not what it means.
func sameString[S ~string](a, b S) bool {
	return unsafe.StringData(string(a)) == unsafe.StringData(string(b)) && len(a) == len(b)
}

func putString[S ~string](p *S, own, before S, l *Label) {
	if sameString(*p, before) {
		*p = own
		return
	}
	settle(p, own, before, l)
}

// PutWide publishes what a section has made of a variable of any type. What before
// points to means nothing afterwards.
func PutWide[T any](p, own, before *T, l *Label) {
	t := typeOf[T]()
	if t.bulk {
		settle(p, *own, *before, l)
		return
	}
	interfered := false
	for _, u := range t.units {
		shared, o, b := unsafe.Add(unsafe.Pointer(p), u.offset), unsafe.Add(unsafe.Pointer(own), u.offset), unsafe.Add(unsafe.Pointer(before), u.offset)
		switch {
		case u.kind.equal(o, b):
			interfered = interfered || !u.kind.same(shared, b)
		case u.kind.put(shared, b, o):
			u.kind.assign(b, o) // so that it is not published again
		default:
			interfered = true
		}
	}
	if interfered {
		settle(p, *own, *before, l)
	}
}

// equal is the method same for two copies, assign is load for two copies, and put is
// publish with copies that are local variables. Atomic operations on pointers let
// what they are given escape, and these have none on copies.
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

func (k kind) put(shared, old, private unsafe.Pointer) bool {
	switch k {
	case byte1:
		if !checked {
			return swapSmall(shared, 1, uint32(*(*uint8)(old)), uint32(*(*uint8)(private)))
		}
	case byte2:
		if !checked {
			return swapSmall(shared, 2, uint32(*(*uint16)(old)), uint32(*(*uint16)(private)))
		}
	case byte4:
		return atomic.CompareAndSwapUint32((*uint32)(shared), *(*uint32)(old), *(*uint32)(private))
	case byte8:
		return atomic.CompareAndSwapUint64((*uint64)(shared), *(*uint64)(old), *(*uint64)(private))
	case pointer:
		return atomic.CompareAndSwapPointer((*unsafe.Pointer)(shared), *(*unsafe.Pointer)(old), *(*unsafe.Pointer)(private))
	}
	if !k.same(shared, old) {
		return false
	}
	k.assign(shared, private)
	return true
}

// settle is the end of a section in which somebody has interfered with the variable.
func settle[T any](p *T, own, before T, l *Label) {
	t := typeOf[T]()
	c := &cell{
		typed: t, policy: l.policy(t),
		shared: unsafe.Pointer(p), own: unsafe.Pointer(&own), before: unsafe.Pointer(&before), origin: unsafe.Pointer(&before),
	}
	if r := c.reconcile(l.Blind); r != nil {
		record("", []*race{r})
	}
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

// CheckSlice is [Check] for a slice, and small enough to be inlined.
func CheckSlice[S ~[]E, E any](p *S, last S, l *Label) {
	if !sameSlice(*p, last) {
		surrender(p, last, l)
	}
}

// CheckString is [Check] for a string, and small enough to be inlined.
func CheckString[S ~string](p *S, last S, l *Label) {
	if !sameString(*p, last) {
		surrender(p, last, l)
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
