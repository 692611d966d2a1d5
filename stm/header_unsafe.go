package stm

import "unsafe"

// loadHeader reads a string or a slice, which are a pointer and one or two numbers, if none of
// it was written. It is what loadWide would do, without looking up what each word is: the words
// are read between two looks at the clock that show the same, as the snapshot was the first.
// It reports false, and has read nothing, if it is not that simple.
func (tx *Tx) loadHeader(p, out unsafe.Pointer, t *rtype) bool {
	numbers := (t.size - 8) / 8
	if vigilant || t.pointers != 8 || t.size != 16 && t.size != 24 || uintptr(p)&7 != 0 {
		return false
	}
	n, m := len(tx.reads.pointers), len(tx.reads.words)
	if n >= tx.reads.pointerRoom || m+int(numbers) > tx.reads.wordRoom || tx.writes.mayHave(p) || tx.writes.mayHave(unsafe.Add(p, 8)) || tx.writes.mayHave(unsafe.Add(p, t.size-8)) {
		return false
	}
	pointer := loadPointer(p)
	var words [2]uint64
	for i := range numbers {
		words[i] = loadWord(unsafe.Add(p, 8+8*i))
	}
	if clock.Load() != tx.snapshot {
		return false
	}
	tx.reads.pointers = tx.reads.pointers[:n+1]
	tx.reads.pointers[n] = readPointer{p, pointer}
	*(*unsafe.Pointer)(out) = pointer
	tx.reads.words = tx.reads.words[:m+int(numbers)]
	for i := range numbers {
		tx.reads.words[m+int(i)] = readWord{unsafe.Add(p, 8+8*i), words[i]}
		*(*uint64)(unsafe.Add(out, 8+8*i)) = words[i]
	}
	return true
}
