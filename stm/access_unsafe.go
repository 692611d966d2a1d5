package stm

import "unsafe"

// loadWithLogs is Load where there are logs to look at. A word that was not written, by far the
// most, is read right here: one call, few instructions. So is one that was, and one that only has
// its bit in the filter of those that were: with a dozen writes that is every fifth. Everything
// else is for load.
func loadWithLogs[T any](tx *Tx, p *T) T {
	var v T
	addr := unsafe.Pointer(p)
	if vigilant || unsafe.Sizeof(v) != 8 || unsafe.Alignof(v) != 8 {
		return load(tx, p)
	}
	if tx.writes.mayHave(addr) {
		switch w := tx.writes.find(addr); {
		case w == nil: // another word has its bit in the filter
		case tx.flag.Load() != 0 || tx.state != running:
			return load(tx, p)
		case w.mask == wholeWord:
			return as[T](w.val)
		case w.mask == 0:
			return as[T](w.pointer)
		default:
			return load(tx, p)
		}
	}
	if canBeLean {
		if n := tx.credit; n > 0 {
			v = *p
			if clock.Load() != tx.snapshot {
				return load(tx, p)
			}
			tx.credit = n - 1
			return v
		}
	}
	if tx.flag.Load() != 0 {
		return load(tx, p)
	}
	if typeOf[T]().pointers == 0 {
		word := loadWord(addr)
		v = as[T](word)
		n := len(tx.reads.words)
		if n >= tx.reads.wordRoom || clock.Load() != tx.snapshot && tx.eager {
			return load(tx, p)
		}
		*tx.reads.nextWord(n) = readWord{addr, word}
		return v
	}
	pointer := loadPointer(addr)
	v = as[T](pointer)
	n := len(tx.reads.pointers)
	if n >= tx.reads.pointerRoom || clock.Load() != tx.snapshot && tx.eager {
		return load(tx, p)
	}
	*tx.reads.nextPointer(n) = readPointer{addr, pointer}
	return v
}

// Store sets the value of a variable in the transaction. Others see it when, and
// if, the transaction commits.
//
// A nil pointer panics here, as it does in an assignment, and not in the commit, which holds the clock.
func Store[T any](tx *Tx, p *T, v T) {
	if p == nil {
		_ = *p // only here: to the race detector it is a read
	}
	// A word that was not written before is entered right here, all else by store.
	addr := unsafe.Pointer(p)
	n, filter, bit := len(tx.writes.all), tx.writes.filter, filterBit(addr)
	if vigilant || unsafe.Sizeof(v) != 8 || unsafe.Alignof(v) != 8 || tx.flag.Load() != 0 || n >= tx.writes.room || filter&bit != 0 {
		store(tx, p, v)
		return
	}
	w := tx.writes.next(n)
	tx.writes.filter, tx.bareAt = filter|bit, never
	w.addr = addr
	if typeOf[T]().pointers == 0 {
		w.val, w.mask = as[uint64](v), wholeWord
	} else {
		w.pointer, w.mask = as[unsafe.Pointer](v), 0
	}
}

// Number is what can be added to.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// Add adds to a variable. It means Store(tx, p, Load(tx, p)+v), and costs as much as one of the two.
func Add[T Number](tx *Tx, p *T, v T) {
	addr := unsafe.Pointer(p)
	n, m := len(tx.reads.words), len(tx.writes.all)
	filter, bit := tx.writes.filter, filterBit(addr)
	if vigilant || unsafe.Sizeof(v) != 8 || unsafe.Alignof(v) != 8 || tx.flag.Load() != 0 || filter&bit != 0 ||
		n >= tx.reads.wordRoom && tx.credit == 0 || m >= tx.writes.room {
		store(tx, p, load(tx, p)+v)
		return
	}
	word := loadWord(addr)
	if clock.Load() != tx.snapshot && tx.eager {
		store(tx, p, load(tx, p)+v)
		return
	}
	if canBeLean && tx.credit > 0 {
		tx.credit--
	} else {
		*tx.reads.nextWord(n) = readWord{addr, word}
	}
	w := tx.writes.next(m)
	tx.writes.filter, tx.bareAt = filter|bit, never
	w.addr, w.val, w.mask = addr, as[uint64](as[T](word)+v), wholeWord
}

// as is a word as a value of another type. It stays in a register.
func as[T, W any](word W) T { return *(*T)(unsafe.Pointer(&word)) }

//go:noinline
func load[T any](tx *Tx, p *T) (v T) {
	if size := unsafe.Sizeof(v); (size == 16 || size == 24) && tx.loadHeader(unsafe.Pointer(p), unsafe.Pointer(&v), typeOf[T]()) {
		return v
	}
	tx.load(unsafe.Pointer(p), unsafe.Pointer(&v), typeOf[T]())
	return v
}

//go:noinline
func store[T any](tx *Tx, p *T, v T) {
	tx.store(unsafe.Pointer(p), unsafe.Pointer(&v), typeOf[T]())
}

// load is Load in every case.
func (tx *Tx) load(p, out unsafe.Pointer, t *rtype) {
	if tx.flag.Load() != 0 || tx.state != running {
		tx.heed()
	}
	if vigilant {
		tx.mustBeMine()
	}
	if tx.lean && tx.credit == 0 {
		tx.lookLean()
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
	tx.bareAt = never
	switch {
	case tx.inPlace:
		storeInPlace(p, in, t)
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
	if n := len(tx.reads.words); !vigilant && n < tx.reads.wordRoom && !tx.writes.mayHave(addr) {
		v := loadWord(addr)
		if clock.Load() == tx.snapshot || !tx.eager {
			tx.reads.words = tx.reads.words[:n+1]
			tx.reads.words[n] = readWord{addr, v}
			return v
		}
	}
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
	if tx.inPlace || tx.isLean() {
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
	if n := len(tx.reads.pointers); !vigilant && n < tx.reads.pointerRoom && (clock.Load() == tx.snapshot || !tx.eager) {
		tx.reads.pointers = tx.reads.pointers[:n+1]
		tx.reads.pointers[n] = readPointer{addr, v}
		return v
	}
	for tx.eager && clock.Load() != tx.snapshot {
		tx.extend()
		v = loadPointer(addr)
	}
	acquired()
	if tx.inPlace || tx.isLean() {
		return v
	}
	tx.look()
	tx.reads.pointers = append(tx.reads.pointers, readPointer{addr, v})
	tx.reads.makeRoom(tx.ceiling)
	return v
}

func sizeOf[T any](v T) uintptr { return unsafe.Sizeof(v) }

// loadWide reads a value that is not one whole word. It is never torn: all of it
// is read between two looks at the clock that show the same.
func (tx *Tx) loadWide(p, out unsafe.Pointer, t *rtype) {
	if tx.eager || tx.held {
		tx.loadParts(p, out, t)
		return
	}
	mark := tx.reads
	tx.still(func() {
		tx.reads.truncate(mark)
		tx.loadParts(p, out, t)
	})
}

// loadParts reads a value part by part, each of which lies in one word.
func (tx *Tx) loadParts(p, out unsafe.Pointer, t *rtype) {
	for at := uintptr(0); at < t.size; {
		addr, to := unsafe.Add(p, at), unsafe.Add(out, at)
		n := min(8-uintptr(addr)&7, t.size-at)
		switch {
		case n < 8:
			tx.loadBytes(addr, to, n)
		case t.pointerAt(at):
			*(*unsafe.Pointer)(to) = tx.loadPointer(addr)
		default:
			*(*uint64)(to) = tx.loadWord(addr)
		}
		at += n
	}
}

func (tx *Tx) storeWide(p, in unsafe.Pointer, t *rtype) {
	for at := uintptr(0); at < t.size; {
		addr, from := unsafe.Add(p, at), unsafe.Add(in, at)
		n := min(8-uintptr(addr)&7, t.size-at)
		switch {
		case n < 8:
			tx.storeBytes(addr, from, n)
		case t.pointerAt(at):
			tx.writes.add(addr).pointer = *(*unsafe.Pointer)(from)
		default:
			w := tx.writes.add(addr)
			w.val, w.mask = *(*uint64)(from), wholeWord
		}
		at += n
	}
}

// storeInPlace writes a value to memory, word by word; the clock is odd.
func storeInPlace(p, in unsafe.Pointer, t *rtype) {
	for at := uintptr(0); at < t.size; {
		to, from := unsafe.Add(p, at), unsafe.Add(in, at)
		n := min(8-uintptr(to)&7, t.size-at)
		switch {
		case n < 8:
			for i := range n {
				storeByte(unsafe.Add(to, i), *(*byte)(unsafe.Add(from, i)))
			}
		case t.pointerAt(at):
			storePointer(to, *(*unsafe.Pointer)(from))
		default:
			storeWord(to, *(*uint64)(from))
		}
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
	switch {
	case n == 1:
		*(*uint8)(out) = uint8(v)
	case n == 2 && uintptr(out)&1 == 0:
		*(*uint16)(out) = uint16(v)
	case n == 4 && uintptr(out)&3 == 0:
		*(*uint32)(out) = uint32(v)
	default:
		bytes := unsafe.Slice((*byte)(out), n)
		for i := range bytes {
			b := i
			if bigEndian {
				b = int(n) - 1 - i
			}
			bytes[i] = byte(v >> (8 * b))
		}
	}
}

// storeBytes writes up to eight bytes within a word.
func (tx *Tx) storeBytes(p, in unsafe.Pointer, n uintptr) {
	addr, shift, mask := lane(p, n)
	v := uint64(0)
	switch {
	case n == 1:
		v = uint64(*(*uint8)(in))
	case n == 2 && uintptr(in)&1 == 0:
		v = uint64(*(*uint16)(in))
	case n == 4 && uintptr(in)&3 == 0:
		v = uint64(*(*uint32)(in))
	default:
		for i, c := range unsafe.Slice((*byte)(in), n) {
			b := i
			if bigEndian {
				b = int(n) - 1 - i
			}
			v |= uint64(c) << (8 * b)
		}
	}
	w := tx.writes.add(addr)
	w.val = w.val&^mask | v<<shift
	w.mask |= mask
}
