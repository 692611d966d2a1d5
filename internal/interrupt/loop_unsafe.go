//go:build linux && amd64

package interrupt

import (
	"slices"
	"unsafe"
)

// codeOf returns the code between two program counters.
func codeOf(from, to uintptr) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&from))), to-from)
}

// loopAround returns the smallest part of a function's code, around an offset, that ends with a
// jump to its beginning, does not leave the function, and stores one word at most.
func loopAround(code []byte, offset int) (from, to int, ok bool) {
	var starts []int
	var all []instruction
	for at := 0; at < len(code); {
		in, known := decode(code[at:])
		if !known {
			break
		}
		starts, all = append(starts, at), append(all, in)
		at += in.length
	}
	for i, in := range all {
		end := starts[i] + in.length
		begin := end + in.target
		first, starts := slices.BinarySearch(starts, begin)
		if !in.jumps || begin > offset || offset >= end || !starts || ok && end-begin >= to-from || !isBetweenAssignments(all[first:i+1]) {
			continue
		}
		from, to, ok = begin, end, true
	}
	return from, to, ok
}

// isBetweenAssignments reports whether control that goes from one instruction of some to the same
// one, and stays among them, is not in the middle of an assignment there. One that it is in the
// middle of stores words both before and after it.
func isBetweenAssignments(all []instruction) bool {
	stores := 0
	for _, in := range all {
		if stores += in.stores; stores > 1 || in.leaves {
			return false
		}
	}
	return true
}

// loopOf returns the loop around a program counter as a range, 0 if there is none or a goroutine must
// not be ended where it begins.
func loopOf(pc uintptr) uint64 {
	f, entry := describe(pc)
	if f == nil {
		return 0
	}
	from, to, ok := loopAround(codeOf(entry, endOf(header(), f, entry)), int(pc-entry))
	if !ok {
		return 0
	}
	if _, _, _, ok := safeRange(entry + uintptr(from)); !ok {
		return 0
	}
	return rangeOf(entry+uintptr(from), entry+uintptr(to))
}
