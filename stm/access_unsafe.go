package stm

import (
	"reflect"
	"sync"
	"unsafe"
)

// Load returns the value of a variable in the transaction: the one that the
// transaction stored last, or else the one that is there. Any variable will do
// that is only accessed like this while it is shared.
//
// A word that was not written, by far the most, is read right here: one call, few
// instructions, so that a processor sees beyond the next cache miss. Everything else
// is for load, which is not called but from the end, so that nothing is saved for it.
func Load[T any](tx *Tx, p *T) T {
	var v T
	addr := unsafe.Pointer(p)
	if vigilant || unsafe.Sizeof(v) != 8 || unsafe.Alignof(v) != 8 || tx.flag.Load() != 0 || tx.writes.mayHave(addr) {
		return load(tx, p)
	}
	if typeOf[T]().pointers == 0 {
		word := loadWord(addr)
		v = as[T](word)
		n := len(tx.reads.words)
		if n >= tx.reads.wordRoom || clock.Load() != tx.snapshot && tx.eager {
			return load(tx, p)
		}
		tx.reads.words = tx.reads.words[:n+1]
		tx.reads.words[n] = readWord{addr, word}
		return v
	}
	pointer := loadPointer(addr)
	v = as[T](pointer)
	n := len(tx.reads.pointers)
	if n >= tx.reads.pointerRoom || clock.Load() != tx.snapshot && tx.eager {
		return load(tx, p)
	}
	tx.reads.pointers = tx.reads.pointers[:n+1]
	tx.reads.pointers[n] = readPointer{addr, pointer}
	return v
}

// Store sets the value of a variable in the transaction. Others see it when, and
// if, the transaction commits.
//
// A word that was not written before is entered right here.
func Store[T any](tx *Tx, p *T, v T) {
	addr := unsafe.Pointer(p)
	n := len(tx.writes.all)
	if vigilant || unsafe.Sizeof(v) != 8 || unsafe.Alignof(v) != 8 || tx.flag.Load() != 0 || n >= tx.writes.room || tx.writes.mayHave(addr) {
		store(tx, p, v)
		return
	}
	tx.writes.filter |= filterBit(addr)
	tx.writes.all = tx.writes.all[:n+1]
	w := &tx.writes.all[n]
	w.addr = addr
	if typeOf[T]().pointers == 0 {
		w.val, w.mask = as[uint64](v), wholeWord
	} else {
		w.pointer, w.mask = as[unsafe.Pointer](v), 0
	}
}

// as is a word as a value of another type. It stays in a register.
func as[T, W any](word W) T { return *(*T)(unsafe.Pointer(&word)) }

//go:noinline
func load[T any](tx *Tx, p *T) (v T) {
	tx.load(unsafe.Pointer(p), unsafe.Pointer(&v), typeOf[T]())
	return v
}

//go:noinline
func store[T any](tx *Tx, p *T, v T) {
	tx.store(unsafe.Pointer(p), unsafe.Pointer(&v), typeOf[T]())
}

// rtype is the beginning of the runtime's description of a type. The compiler
// knows it, too: where Load is inlined, typeOf is a constant.
type rtype struct {
	size     uintptr
	pointers uintptr // bytes up to and including the last pointer
}

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
	for _, known := range []struct{ got, want rtype }{
		{*typeOf[int64](), rtype{8, 0}},
		{*typeOf[*int](), rtype{8, 8}},
		{*typeOf[string](), rtype{16, 8}},
		{*typeOf[struct {
			a int64
			b error
			c [3]byte
		}](), rtype{32, 24}},
	} {
		if known.got != known.want {
			panic("stm: this version of Go describes types in a way that this version of stm does not know")
		}
	}
}

// load is Load in every case.
func (tx *Tx) load(p, out unsafe.Pointer, t *rtype) {
	if tx.flag.Load() != 0 || tx.state != running {
		tx.heed()
	}
	if vigilant {
		tx.mustBeMine()
	}
	switch {
	case t.size != 8 || uintptr(p)&7 != 0:
		tx.loadWide(p, out, t)
	case t.pointers != 0:
		*(*unsafe.Pointer)(out) = tx.loadPointer(p)
	default:
		*(*uint64)(out) = tx.loadWord(p)
	}
}

// store is Store in every case.
func (tx *Tx) store(p, in unsafe.Pointer, t *rtype) {
	if tx.flag.Load() != 0 || tx.state != running {
		tx.heed()
	}
	if vigilant {
		tx.mustBeMine()
	}
	switch {
	case tx.inPlace:
		storeInPlace(p, in, layoutOf(t))
	case t.size != 8 || uintptr(p)&7 != 0:
		tx.storeWide(p, in, t)
	case t.pointers != 0:
		tx.writes.add(p).pointer = *(*unsafe.Pointer)(in)
	default:
		w := tx.writes.add(p)
		w.val, w.mask = *(*uint64)(in), wholeWord
	}
}

// loadWord reads a whole word without pointers.
func (tx *Tx) loadWord(addr unsafe.Pointer) uint64 {
	w := tx.writes.find(addr)
	switch {
	case w == nil:
		return tx.read(addr, wholeWord)
	case w.mask == wholeWord:
		return w.val
	default:
		return tx.read(addr, wholeWord&^w.mask) | w.val&w.mask
	}
}

// read reads some bytes of a word from memory.
func (tx *Tx) read(addr unsafe.Pointer, mask uint64) uint64 {
	v := peek(addr, mask)
	for tx.eager && clock.Load() != tx.snapshot {
		tx.extend()
		v = peek(addr, mask)
	}
	acquired()
	if tx.inPlace {
		return v
	}
	tx.look()
	if mask == wholeWord {
		tx.reads.words = append(tx.reads.words, readWord{addr, v})
	} else {
		tx.reads.parts = append(tx.reads.parts, readPart{addr, v, mask})
	}
	tx.reads.makeRoom(tx.ceiling)
	return v
}

// loadPointer reads a word that is a pointer.
func (tx *Tx) loadPointer(addr unsafe.Pointer) unsafe.Pointer {
	if tx.writes.mayHave(addr) {
		if w := tx.writes.find(addr); w != nil {
			return w.pointer
		}
	}
	v := loadPointer(addr)
	for tx.eager && clock.Load() != tx.snapshot {
		tx.extend()
		v = loadPointer(addr)
	}
	acquired()
	if tx.inPlace {
		return v
	}
	tx.look()
	tx.reads.pointers = append(tx.reads.pointers, readPointer{addr, v})
	tx.reads.makeRoom(tx.ceiling)
	return v
}

func sizeOf[T any](v T) uintptr { return unsafe.Sizeof(v) }

// A layout is the words of a type that is not one word.
type layout struct {
	size     uintptr
	pointers []bool // by word
}

var layouts sync.Map // *rtype -> *layout

func layoutOf(t *rtype) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	var v any
	(*[2]unsafe.Pointer)(unsafe.Pointer(&v))[0] = unsafe.Pointer(t)
	l := &layout{size: t.size, pointers: make([]bool, (t.size+7)/8)}
	markPointers(l.pointers, 0, reflect.TypeOf(v))
	layouts.Store(t, l)
	return l
}

// markPointers marks the words of a type at an offset that are pointers.
func markPointers(words []bool, offset uintptr, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Chan, reflect.Func, reflect.String, reflect.Slice:
		words[offset/8] = true
	case reflect.Interface:
		words[offset/8], words[offset/8+1] = true, true
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

// loadWide reads a value that is not one whole word. It is never torn: all of it
// is read between two looks at the clock that show the same.
func (tx *Tx) loadWide(p, out unsafe.Pointer, t *rtype) {
	l := layoutOf(t)
	read := func() {
		tx.eachWord(p, l, func(addr unsafe.Pointer, at, n uintptr, pointer bool) {
			if pointer {
				*(*unsafe.Pointer)(unsafe.Add(out, at)) = tx.loadPointer(addr)
			} else {
				tx.loadBytes(addr, unsafe.Add(out, at), n)
			}
		})
	}
	if tx.eager || tx.held {
		read()
		return
	}
	mark := tx.reads
	tx.still(func() {
		tx.reads.truncate(mark)
		read()
	})
}

func (tx *Tx) storeWide(p, in unsafe.Pointer, t *rtype) {
	tx.eachWord(p, layoutOf(t), func(addr unsafe.Pointer, at uintptr, n uintptr, pointer bool) {
		if pointer {
			tx.writes.add(addr).pointer = *(*unsafe.Pointer)(unsafe.Add(in, at))
			return
		}
		tx.storeBytes(addr, unsafe.Add(in, at), n)
	})
}

// storeInPlace writes a value to memory, word by word; the clock is odd.
func storeInPlace(p, in unsafe.Pointer, l *layout) {
	for at := uintptr(0); at < l.size; {
		n := min(8-(uintptr(p)+at)&7, l.size-at)
		to, from := unsafe.Add(p, at), unsafe.Add(in, at)
		switch {
		case l.pointers[at/8]:
			storePointer(to, *(*unsafe.Pointer)(from))
		case n == 8:
			storeWord(to, *(*uint64)(from))
		default:
			for i := range n {
				storeByte(unsafe.Add(to, i), *(*byte)(unsafe.Add(from, i)))
			}
		}
		at += n
	}
}

// eachWord calls f with each part of the value at p that lies in one word: where
// it is, where in the value, and how many bytes.
func (tx *Tx) eachWord(p unsafe.Pointer, l *layout, f func(addr unsafe.Pointer, at, n uintptr, pointer bool)) {
	for at := uintptr(0); at < l.size; {
		n := min(8-(uintptr(p)+at)&7, l.size-at)
		f(unsafe.Add(p, at), at, n, l.pointers[at/8])
		at += n
	}
}

// loadBytes reads up to eight bytes within a word.
func (tx *Tx) loadBytes(p, out unsafe.Pointer, n uintptr) {
	addr, shift, mask := lane(p, n)
	v := uint64(0)
	w := tx.writes.find(addr)
	if w == nil {
		v = tx.read(addr, mask)
	} else {
		if rest := mask &^ w.mask; rest != 0 {
			v = tx.read(addr, rest)
		}
		v |= w.val & w.mask & mask
	}
	v >>= shift
	bytes := unsafe.Slice((*byte)(out), n)
	for i := range bytes {
		b := i
		if bigEndian {
			b = int(n) - 1 - i
		}
		bytes[i] = byte(v >> (8 * b))
	}
}

// storeBytes writes up to eight bytes within a word.
func (tx *Tx) storeBytes(p, in unsafe.Pointer, n uintptr) {
	addr, shift, mask := lane(p, n)
	v := uint64(0)
	for i, c := range unsafe.Slice((*byte)(in), n) {
		b := i
		if bigEndian {
			b = int(n) - 1 - i
		}
		v |= uint64(c) << (8 * b)
	}
	w := tx.writes.add(addr)
	w.val = w.val&^mask | v<<shift
	w.mask |= mask
}
