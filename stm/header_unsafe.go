package stm

import "unsafe"

// loadHeader reads a string or a slice, which are a pointer and one or two numbers, if none of
// it was written. It does what loadWide would, without looking up what each word is: the words
// are read between two looks at the clock that show the same, as the snapshot was the first.
// It reports false, and has read nothing, if it is not that simple.
func (tx *Tx) loadHeader(p, out unsafe.Pointer, t *rtype) bool {
	n, m := len(tx.reads.pointers), len(tx.reads.words)
	if vigilant || t.pointers != 8 || uintptr(p)&7 != 0 || (n >= tx.reads.pointerRoom || m+1 >= tx.reads.wordRoom) && tx.credit == 0 || tx.flag.Load() != 0 {
		return false
	}
	second, last := unsafe.Add(p, 8), unsafe.Add(p, t.size-8)
	if tx.writes.filter&(filterBit(p)|filterBit(second)|filterBit(last)) != 0 {
		return false
	}
	pointer, number, further := loadPointer(p), loadWord(second), loadWord(last)
	if clock.Load() != tx.snapshot {
		return false
	}
	*(*unsafe.Pointer)(out) = pointer
	*(*uint64)(unsafe.Add(out, 8)) = number
	if last != second {
		*(*uint64)(unsafe.Add(out, 16)) = further
	}
	if tx.credit > 0 {
		tx.credit--
		return true
	}
	*tx.reads.nextPointer(n) = readPointer{p, pointer}
	*tx.reads.nextWord(m) = readWord{second, number}
	if last != second {
		*tx.reads.nextWord(m + 1) = readWord{last, further}
	}
	return true
}
