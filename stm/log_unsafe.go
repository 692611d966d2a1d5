package stm

import (
	"math/bits"
	"unsafe"
)

// The logs of a transaction. Everything in them is words: eight bytes of memory at
// an address that is a multiple of eight. A value that is smaller is some bytes of
// a word, told by a mask; a larger one is several words. So a struct and its
// fields can be read and written side by side in one transaction.
//
// A word either holds a pointer or does not, by its type. Pointers are kept as
// pointers, so that the collector sees what only a log refers to.

// A readWord is a word that was read, without pointers.
type readWord struct {
	addr unsafe.Pointer
	val  uint64
}

// A readPart is some bytes of a word that were read, without pointers.
type readPart struct {
	addr unsafe.Pointer
	val  uint64 // the bytes that mask selects
	mask uint64
}

// A readPointer is a word that was read, and is a pointer.
type readPointer struct {
	addr unsafe.Pointer
	val  unsafe.Pointer
}

// A readLog is what a transaction has read.
type readLog struct {
	words    []readWord
	parts    []readPart
	pointers []readPointer

	// How long words and pointers may become before the slow path has to look: because
	// they are full, because it is time to, or because no transaction is running.
	wordRoom, pointerRoom int
}

// makeRoom lets the logs grow to a number of entries, as far as they have memory.
func (l *readLog) makeRoom(ceiling int) {
	l.wordRoom, l.pointerRoom = min(cap(l.words), ceiling), min(cap(l.pointers), ceiling)
}

// nextWord and nextPointer return the entry after the n that there are, for which there is
// room. The compiler would look whether there is memory for it, and then whether it is one of
// the entries; both are told by room.
func (l *readLog) nextWord(n int) *readWord {
	h := (*logHeader)(unsafe.Pointer(&l.words))
	h.n = n + 1
	return (*readWord)(unsafe.Add(h.first, uintptr(n)*unsafe.Sizeof(readWord{})))
}

func (l *readLog) nextPointer(n int) *readPointer {
	h := (*logHeader)(unsafe.Pointer(&l.pointers))
	h.n = n + 1
	return (*readPointer)(unsafe.Add(h.first, uintptr(n)*unsafe.Sizeof(readPointer{})))
}

// A logHeader is a slice, as the runtime has it.
type logHeader struct {
	first unsafe.Pointer
	n     int
}

// same reports whether everything that was read is there now.
func (l *readLog) same() bool {
	for i := range l.words {
		if r := &l.words[i]; loadWord(r.addr) != r.val {
			return false
		}
	}
	for i := range l.pointers {
		if r := &l.pointers[i]; loadPointer(r.addr) != r.val {
			return false
		}
	}
	for i := range l.parts {
		if r := &l.parts[i]; peek(r.addr, r.mask) != r.val {
			return false
		}
	}
	return true
}

func (l *readLog) longest() int { return max(len(l.words), len(l.parts), len(l.pointers)) }

func (l *readLog) len() int { return len(l.words) + len(l.parts) + len(l.pointers) }

// truncate takes back what was read since the log was as long as another.
func (l *readLog) truncate(to readLog) {
	l.words, l.parts, l.pointers = l.words[:len(to.words)], l.parts[:len(to.parts)], l.pointers[:len(to.pointers)]
}

// reset empties the log, and lets go of what it referred to. Clearing many entries
// is for the runtime; it has a price that few are not worth.
func (l *readLog) reset() {
	if len(l.words) > few {
		clear(l.words)
	} else {
		for i := range l.words {
			l.words[i].addr = nil
		}
	}
	if len(l.pointers) > few {
		clear(l.pointers)
	} else {
		for i := range l.pointers {
			l.pointers[i] = readPointer{}
		}
	}
	if len(l.parts) != 0 {
		clear(l.parts)
	}
	l.words, l.pointers, l.parts = l.words[:0], l.pointers[:0], l.parts[:0]
}

const few = 16

// A write is a word to be written.
type write struct {
	addr    unsafe.Pointer
	val     uint64 // the bytes that mask selects
	mask    uint64
	pointer unsafe.Pointer // if mask is 0
}

const wholeWord = ^uint64(0)

// peek reads the bytes of a word that mask selects, as one access of no more bytes
// than have to be: the others may be written by anybody.
func peek(addr unsafe.Pointer, mask uint64) uint64 {
	if mask == wholeWord {
		return loadWord(addr)
	}
	low, high := unsafe.Pointer(addr), unsafe.Add(addr, 4)
	if bigEndian {
		low, high = high, low
	}
	v := uint64(0)
	if uint32(mask) != 0 {
		v = uint64(loadHalf(low))
	}
	if mask>>32 != 0 {
		v |= uint64(loadHalf(high)) << 32
	}
	return v & mask
}

// poke writes some bytes of a word, those that mask selects, and leaves the others
// to the code that writes them. No transaction sees it half done: the clock is odd.
func poke(addr unsafe.Pointer, mask, val uint64) {
	for i := range 8 {
		if shift := laneOf(i); mask>>shift&0xff != 0 {
			storeByte(unsafe.Add(addr, i), byte(val>>shift))
		}
	}
}

// laneOf is where in a word its i'th byte in memory is.
func laneOf(i int) int {
	if bigEndian {
		i = 7 - i
	}
	return 8 * i
}

// bigEndian is a constant to the compiler on every platform but few.
var bigEndian = func() bool {
	word := uint16(1)
	return *(*byte)(unsafe.Pointer(&word)) == 0
}()

// lane returns the word around a value of up to eight bytes that does not cross
// into the next word, and where in it the value is.
func lane(p unsafe.Pointer, size uintptr) (addr unsafe.Pointer, shift uint, mask uint64) {
	offset := uintptr(p) & 7
	addr = unsafe.Add(p, -int(offset))
	shift = uint(offset * 8)
	if bigEndian {
		shift = uint((8 - offset - size) * 8)
	}
	mask = wholeWord >> (64 - 8*size) << shift
	return addr, shift, mask
}

// A writeSet is the words that a transaction is going to write, by address.
type writeSet struct {
	all     []write
	room    int    // how many there may be before the slow path has to look, as in readLog
	filter  uint64 // a bit for each address: most that are not here are told apart by it
	index   []slot // by hash of the address; used beyond linear writes
	indexed int    // writes that are in it: it is brought up to date when it is needed
	age     uint32 // of the slots that count
}

type slot struct {
	age   uint32
	place uint32 // in all
}

// linear is the number of writes up to which looking at each is faster than
// hashing.
const linear = 8

func hash(addr unsafe.Pointer) uint64 { return uint64(uintptr(addr)>>3) * 0x9e3779b97f4a7c15 }

// filterBit is different for words that lie side by side, such as the elements of an
// array, and random for others.
func filterBit(addr unsafe.Pointer) uint64 {
	return 1 << ((uintptr(addr) ^ uintptr(addr)>>6) >> 3 & 63)
}

// mayHave reports whether there can be a write to a word. False is certain.
func (w *writeSet) mayHave(addr unsafe.Pointer) bool { return w.filter&filterBit(addr) != 0 }

// next returns the entry after the n that there are, for which there is room.
func (w *writeSet) next(n int) *write {
	h := (*logHeader)(unsafe.Pointer(&w.all))
	h.n = n + 1
	return (*write)(unsafe.Add(h.first, uintptr(n)*unsafe.Sizeof(write{})))
}

// find returns the write to a word, or nil.
func (w *writeSet) find(addr unsafe.Pointer) *write {
	if !w.mayHave(addr) {
		return nil
	}
	return w.search(addr)
}

func (w *writeSet) search(addr unsafe.Pointer) *write {
	if len(w.all) <= linear {
		for i := range w.all {
			if w.all[i].addr == addr {
				return &w.all[i]
			}
		}
		return nil
	}
	w.enter()
	last := uint64(len(w.index) - 1)
	for i := hash(addr) >> 32 & last; w.index[i].age == w.age; i = (i + 1) & last {
		if e := &w.all[w.index[i].place]; e.addr == addr {
			return e
		}
	}
	return nil
}

// add returns the write to a word, a new one if there is none yet.
func (w *writeSet) add(addr unsafe.Pointer) *write {
	if e := w.find(addr); e != nil {
		return e
	}
	w.filter |= filterBit(addr)
	w.all = append(w.all, write{addr: addr})
	w.room = cap(w.all)
	return &w.all[len(w.all)-1]
}

// enter puts the writes that are not yet there into the index, which is never more
// than half full.
func (w *writeSet) enter() {
	n := len(w.all)
	if 2*n > len(w.index) {
		w.index, w.age, w.indexed = make([]slot, max(64, 1<<bits.Len(uint(2*n)))), 1, 0
	}
	for ; w.indexed < n; w.indexed++ {
		w.place(hash(w.all[w.indexed].addr), w.indexed)
	}
}

func (w *writeSet) place(h uint64, at int) {
	last := uint64(len(w.index) - 1)
	i := h >> 32 & last
	for w.index[i].age == w.age {
		i = (i + 1) & last
	}
	w.index[i] = slot{w.age, uint32(at)}
}

// reset empties the set, and lets go of what it referred to.
func (w *writeSet) reset() {
	if len(w.all) > few {
		clear(w.all)
	} else {
		for i := range w.all {
			w.all[i].addr, w.all[i].pointer = nil, nil
		}
	}
	w.all, w.filter = w.all[:0], 0
	if w.indexed != 0 {
		w.forget()
	}
}

// forget empties the index: slots of another age do not count.
func (w *writeSet) forget() {
	w.indexed = 0
	if w.age++; w.age == 0 {
		clear(w.index)
		w.age = 1
	}
}

// clone is a copy that can take the set's place later.
func (w *writeSet) clone() writeSet {
	c := writeSet{filter: w.filter}
	for i := range w.all {
		e := c.add(w.all[i].addr)
		*e = w.all[i]
	}
	c.filter = w.filter
	return c
}

// store writes everything to memory, empties the set, and returns how many words there were.
func (w *writeSet) store() int {
	all := w.all // so that the compiler sees that its length stays
	for i := range all {
		e := &all[i]
		switch e.mask {
		case wholeWord:
			storeWord(e.addr, e.val)
		case 0:
			storePointer(e.addr, e.pointer)
			e.pointer = nil
		default:
			poke(e.addr, e.mask, e.val)
		}
		e.addr = nil
	}
	w.all, w.filter = all[:0], 0
	if w.indexed != 0 {
		w.forget()
	}
	return len(all)
}
