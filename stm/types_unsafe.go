package stm

import (
	"reflect"
	"sync"
	"unsafe"
)

// rtype is the beginning of the runtime's description of a type. The compiler
// knows it, too: where Load is inlined, typeOf is a constant.
type rtype struct {
	size     uintptr
	pointers uintptr // bytes up to and including the last pointer
	_        uint32
	flags    uint8
	_        [3]uint8
	_        uintptr
	mask     *byte // a bit for each word up to the last pointer, unless flags has maskLater
}

// maskLater says that the runtime makes the mask of a type, a large one, when it needs it.
const maskLater = 1 << 4

func typeOf[T any]() *rtype {
	var p any = (*T)(nil)
	type pointerType struct {
		_    [48]byte
		elem *rtype
	}
	return (*(**pointerType)(unsafe.Pointer(&p))).elem
}

// A newer Go may describe types otherwise; then nothing here would be right.
func init() {
	for _, known := range []struct {
		got            *rtype
		size, pointers uintptr
		mask           byte
	}{
		{typeOf[int64](), 8, 0, 0},
		{typeOf[*int](), 8, 8, 0b1},
		{typeOf[string](), 16, 8, 0b1},
		{typeOf[struct {
			a int64
			b error
			c [3]byte
		}](), 32, 24, 0b100}, // the first word of an interface is none to the runtime
	} {
		if t := known.got; t.size != known.size || t.pointers != known.pointers || t.flags&maskLater != 0 || t.pointers != 0 && *t.mask != known.mask {
			panic("stm: this version of Go describes types in a way that this version of stm does not know")
		}
	}
}

// pointerAt reports whether the word at an offset in a value is a pointer.
func (t *rtype) pointerAt(offset uintptr) bool {
	switch {
	case offset >= t.pointers:
		return false
	case t.flags&maskLater != 0:
		return pointersOf(t)[offset/8]
	}
	return *(*byte)(unsafe.Add(unsafe.Pointer(t.mask), offset/64))>>(offset/8%8)&1 != 0
}

var largeTypes sync.Map // *rtype -> []bool

// pointersOf says for each word of a large type whether it is a pointer.
func pointersOf(t *rtype) []bool {
	if words, ok := largeTypes.Load(t); ok {
		return words.([]bool)
	}
	var v any
	(*[2]unsafe.Pointer)(unsafe.Pointer(&v))[0] = unsafe.Pointer(t)
	words := make([]bool, (t.size+7)/8)
	markPointers(words, 0, reflect.TypeOf(v))
	largeTypes.Store(t, words)
	return words
}

// markPointers marks the words of a type at an offset that are pointers.
func markPointers(words []bool, offset uintptr, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Chan, reflect.Func, reflect.String, reflect.Slice:
		words[offset/8] = true
	case reflect.Interface:
		words[offset/8+1] = true // the first is none to the runtime
	case reflect.Array:
		for i := range uintptr(t.Len()) {
			markPointers(words, offset+i*t.Elem().Size(), t.Elem())
		}
	case reflect.Struct:
		for f := range t.Fields() {
			markPointers(words, offset+f.Offset, f.Type)
		}
	}
}
