package stm

import "unsafe"

// Copy copies what src holds, at one moment, to dst, and returns the number of
// elements: the smaller of the two lengths. It is a transaction that does nothing
// else, and for numbers a fast one, as nothing has to be logged. In a transaction it
// is part of that, and the same as a [Load] of each element.
//
// dst is written at once, in a transaction, too: it is the caller's own. The slices
// must not overlap.
func Copy[T any](dst, src []T) int {
	n := min(len(dst), len(src))
	if n == 0 {
		return 0
	}
	from, to, bytes := unsafe.Pointer(&src[0]), unsafe.Pointer(&dst[0]), uintptr(n)*unsafe.Sizeof(dst[0])
	tx := mine()
	if tx.state == idle && typeOf[T]().pointers == 0 && (uintptr(from)|uintptr(to)|bytes)&7 == 0 {
		tx.copy(to, from, bytes/8)
		return n
	}
	Atomically(func(tx *Tx) error {
		if typeOf[T]().pointers == 0 {
			tx.load(from, to, &rtype{size: bytes})
			return nil
		}
		for i := range n {
			dst[i] = Load(tx, &src[i])
		}
		return nil
	})
	return n
}

// copy copies words without pointers. Words that are torn are none that count: a transaction has
// committed meanwhile, and they are copied again. So where the processor keeps reads in their
// order, the runtime copies, many words at a time.
func (tx *Tx) copy(dst, src unsafe.Pointer, words uintptr) {
	to, from := unsafe.Slice((*uint64)(dst), words), unsafe.Slice((*uint64)(src), words)
	t := tx.still(func() {
		if canBeLean {
			copy(to, from)
			return
		}
		for i := range to {
			to[i] = loadWord(unsafe.Pointer(&from[i]))
		}
	})
	toldCopy(src, words, t)
	tx.count.commits++ // and no reads: no set has them
	tx.flush()
	tx.given()
}
