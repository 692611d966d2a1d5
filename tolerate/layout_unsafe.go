package tolerate

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A layout is a type as the package sees it: the units that are published one by
// one, without the padding between them.
type layout struct {
	name     string
	size     uintptr
	units    []unit
	only     kind // of the unit, if there is a single one and it comes first
	bulk     bool // too many units: the whole is one, published by assignment
	pointers bool
	printed  bool // a number, a truth value or a string: fit for a sentence
}

// A unit is a part of a variable that only makes sense as a whole: a number, a
// pointer, a string.
type unit struct {
	offset  uintptr
	kind    kind
	numbers numbers
	typ     reflect.Type
}

// A kind says how a unit is loaded and published: up to word by one
// compare-and-swap, the others by a comparison and then an assignment.
type kind uint8

const (
	several kind = iota // not one unit
	byte1
	byte2
	byte4
	byte8
	pointer
	pair8  // two scalars in 8 bytes: complex64, and int64 on 32-bit systems
	pair16 // two scalars in 16 bytes: complex128
	text   // a string: pointer and length
	slice  // pointer, length and capacity
	iface  // two pointers
)

// What units of several words consist of. The collector has to know the pointers
// in them.
type (
	twoPointers struct{ table, data unsafe.Pointer }
	textHeader  struct {
		data   unsafe.Pointer
		length uintptr
	}
	sliceHeader struct {
		data             unsafe.Pointer
		length, capacity uintptr
	}
)

// mostUnits bounds the list of a type, which would otherwise be as long as its
// arrays.
const mostUnits = 1024

const wide = unsafe.Sizeof(uintptr(0)) == 8

func layoutOf(t reflect.Type) *layout {
	l := &layout{name: t.String(), size: t.Size()}
	l.bulk = !l.add(t, 0)
	if l.bulk {
		l.units, l.pointers = nil, true
	}
	if len(l.units) == 1 && l.units[0].offset == 0 {
		l.only = l.units[0].kind
	}
	switch t.Kind() {
	case reflect.Array, reflect.Struct, reflect.Interface, reflect.Slice, reflect.Map,
		reflect.Pointer, reflect.Chan, reflect.Func, reflect.UnsafePointer:
	default:
		l.printed = true
	}
	return l
}

// add lists the units of t, and reports whether they are few enough.
func (l *layout) add(t reflect.Type, offset uintptr) bool {
	var k kind
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name != "_" && !l.add(f.Type, offset+f.Offset) {
				return false
			}
		}
		return true
	case reflect.Array:
		for i := range t.Len() {
			if t.Elem().Size() == 0 {
				break
			}
			if !l.add(t.Elem(), offset+uintptr(i)*t.Elem().Size()) {
				return false
			}
		}
		return true
	case reflect.String:
		k, l.pointers = text, true
	case reflect.Slice:
		k, l.pointers = slice, true
	case reflect.Interface:
		k, l.pointers = iface, true
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		k, l.pointers = pointer, true
	case reflect.Complex64:
		k = pair8
	case reflect.Complex128:
		k = pair16
	default:
		switch t.Size() {
		case 1:
			k = byte1
		case 2:
			k = byte2
		case 4:
			k = byte4
		case 8:
			k = byte8
			if !wide { // perhaps not aligned, and then there is no compare-and-swap for it
				k = pair8
			}
		default:
			panic("tolerate: a " + t.String() + " of unknown size")
		}
	}
	l.units = append(l.units, unit{offset, k, numbersOf(t), t})
	return len(l.units) <= mostUnits
}

// load copies the unit at the shared address to a private one.
func (k kind) load(private, shared unsafe.Pointer) {
	switch k {
	case byte1:
		*(*uint8)(private) = *(*uint8)(shared)
	case byte2:
		*(*uint16)(private) = *(*uint16)(shared)
	case byte4:
		*(*uint32)(private) = atomic.LoadUint32((*uint32)(shared))
	case byte8:
		*(*uint64)(private) = atomic.LoadUint64((*uint64)(shared))
	case pointer:
		*(*unsafe.Pointer)(private) = atomic.LoadPointer((*unsafe.Pointer)(shared))
	case pair8:
		*(*[2]uint32)(private) = *(*[2]uint32)(shared)
	case pair16:
		*(*[4]uint32)(private) = *(*[4]uint32)(shared)
	case text:
		*(*textHeader)(private) = *(*textHeader)(shared)
	case slice:
		*(*sliceHeader)(private) = *(*sliceHeader)(shared)
	case iface:
		*(*twoPointers)(private) = *(*twoPointers)(shared)
	default:
		panic("tolerate: unknown kind of unit")
	}
}

// same compares a unit at the address, which may be shared, with a private copy.
// It compares what is there, not what it means: reading through a pointer that
// careless code has left half written could end the program.
func (k kind) same(at, private unsafe.Pointer) bool {
	switch k {
	case byte1:
		return *(*uint8)(at) == *(*uint8)(private)
	case byte2:
		return *(*uint16)(at) == *(*uint16)(private)
	case byte4:
		return atomic.LoadUint32((*uint32)(at)) == *(*uint32)(private)
	case byte8:
		return atomic.LoadUint64((*uint64)(at)) == *(*uint64)(private)
	case pointer:
		return atomic.LoadPointer((*unsafe.Pointer)(at)) == *(*unsafe.Pointer)(private)
	case pair8:
		return *(*[2]uint32)(at) == *(*[2]uint32)(private)
	case pair16:
		return *(*[4]uint32)(at) == *(*[4]uint32)(private)
	case text:
		return *(*textHeader)(at) == *(*textHeader)(private)
	case slice:
		return *(*sliceHeader)(at) == *(*sliceHeader)(private)
	case iface:
		return *(*twoPointers)(at) == *(*twoPointers)(private)
	}
	panic("tolerate: unknown kind of unit")
}

// publish writes the unit to the shared address if old is still there, and
// reports whether it was. For a unit of several words, and for a small one when
// checked, a careless write can fall between the comparison and the assignment;
// it is lost then, as it is without this package. Neither old nor private escapes.
func (k kind) publish(shared, old, private unsafe.Pointer) bool {
	switch k {
	case byte4:
		return atomic.CompareAndSwapUint32((*uint32)(shared), *(*uint32)(old), *(*uint32)(private))
	case byte8:
		return atomic.CompareAndSwapUint64((*uint64)(shared), *(*uint64)(old), *(*uint64)(private))
	case pointer:
		return atomic.CompareAndSwapPointer((*unsafe.Pointer)(shared), *(*unsafe.Pointer)(old), *(*unsafe.Pointer)(private))
	case byte1:
		if !checked {
			return swapSmall(shared, 1, uint32(*(*uint8)(old)), uint32(*(*uint8)(private)))
		}
	case byte2:
		if !checked {
			return swapSmall(shared, 2, uint32(*(*uint16)(old)), uint32(*(*uint16)(private)))
		}
	}
	if !k.same(shared, old) {
		return false
	}
	k.assign(shared, private)
	return true
}

// store writes the unit to the shared address whatever is there.
func (k kind) store(shared, private unsafe.Pointer) {
	switch k {
	case byte4:
		atomic.StoreUint32((*uint32)(shared), *(*uint32)(private))
	case byte8:
		atomic.StoreUint64((*uint64)(shared), *(*uint64)(private))
	case pointer:
		atomic.StorePointer((*unsafe.Pointer)(shared), *(*unsafe.Pointer)(private))
	default:
		k.load(shared, private)
	}
}

// smallPlace returns the aligned four bytes that one or two are part of, and where in them those
// are. All belong to the same allocation: none is smaller than eight bytes.
func smallPlace(p unsafe.Pointer, size uintptr) (word *uint32, shift uintptr, mask uint32) {
	offset := uintptr(p) & 3
	shift = 8 * offset
	if bigEndian {
		shift = 8 * (4 - size - offset)
	}
	return (*uint32)(unsafe.Add(p, -int(offset))), shift, (uint32(1)<<(8*size) - 1) << shift
}

// swapSmall is a compare-and-swap of one or two bytes, by way of the four around them.
func swapSmall(p unsafe.Pointer, size uintptr, old, with uint32) bool {
	word, shift, mask := smallPlace(p, size)
	for {
		found := atomic.LoadUint32(word)
		if found&mask != old<<shift {
			return false
		}
		if atomic.CompareAndSwapUint32(word, found, found&^mask|with<<shift) {
			return true
		}
	}
}

// addSmall adds to one or two bytes, as swapSmall swaps them, and returns what was there. It does not
// give up: where another addition comes in between, that one has been made.
func addSmall(p unsafe.Pointer, size uintptr, delta uint32) (before uint32) {
	word, shift, mask := smallPlace(p, size)
	for {
		found := atomic.LoadUint32(word)
		if atomic.CompareAndSwapUint32(word, found, found&^mask|(found+delta<<shift)&mask) {
			return found & mask >> shift
		}
	}
}

var bigEndian = func() bool {
	one := uint32(1)
	return *(*uint8)(unsafe.Pointer(&one)) == 0
}()

// load copies the variable at the shared address to a private one.
func (t *typed) load(private, shared unsafe.Pointer) {
	if t.bulk {
		t.assign(private, shared)
		return
	}
	for _, u := range t.units {
		u.kind.load(unsafe.Add(private, u.offset), unsafe.Add(shared, u.offset))
	}
}

// same compares the variable at the address, which may be shared, with a copy.
func (t *typed) same(at, private unsafe.Pointer) bool {
	if t.bulk {
		return unsafe.String((*byte)(at), t.size) == unsafe.String((*byte)(private), t.size)
	}
	for _, u := range t.units {
		if !u.kind.same(unsafe.Add(at, u.offset), unsafe.Add(private, u.offset)) {
			return false
		}
	}
	return true
}

// A typed is a layout with what only code that knows the type can do.
type typed struct {
	*layout
	address   unsafe.Pointer // of the type
	reflected reflect.Type
	assign    func(to, from unsafe.Pointer)
	zero      func(unsafe.Pointer)
	make      func() unsafe.Pointer
	box       func(unsafe.Pointer) any
}

// types is what is known of types. The recent ones are at hand, in a table indexed
// by the address of the type: a section asks for each variable that it uses.
var (
	types  sync.Map // reflect.Type -> *typed
	recent [256]atomic.Pointer[typed]
)

// typeOf returns what is known of T.
func typeOf[T any]() *typed {
	r := reflect.TypeFor[T]()
	address := (*twoPointers)(unsafe.Pointer(&r)).data
	entry := &recent[uintptr(address)>>5%uintptr(len(recent))]
	if t := entry.Load(); t != nil && t.address == address {
		return t
	}
	t := describe[T](r)
	entry.Store(t)
	return t
}

func describe[T any](r reflect.Type) *typed {
	if t := known(r); t != nil {
		return t
	}
	return remember(&typed{
		layout: layoutOf(r),

		address:   (*twoPointers)(unsafe.Pointer(&r)).data,
		reflected: r,

		assign: func(to, from unsafe.Pointer) { *(*T)(to) = *(*T)(from) },
		zero:   func(p unsafe.Pointer) { clear((*[1]T)(p)[:]) },
		make:   func() unsafe.Pointer { return unsafe.Pointer(new(T)) },
		box:    func(p unsafe.Pointer) any { return *(*T)(p) },
	})
}

// known returns what is known of a type, nil if that is nothing. Neither it nor remember may be
// inlined: a package whose code names types has all methods of its map compiled once more.
//
//go:noinline
func known(r reflect.Type) *typed {
	t, _ := types.Load(r)
	found, _ := t.(*typed)
	return found
}

// remember returns what is known of a type: what it is given, if nothing was.
//
//go:noinline
func remember(t *typed) *typed {
	first, _ := types.LoadOrStore(t.reflected, t)
	return first.(*typed)
}
