// Package peek reads the memory of the program that it is linked into, by address: what a hook knows of an access is
// an address and a size.
package peek

import "unsafe"

// Pointer returns an address as a pointer. The memory must be kept alive by other means:
// during a run nothing is collected.
func Pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// Word returns the word at an address. It is inlined, so that the stack is where it was.
func Word(addr uintptr) uintptr { return *(*uintptr)(Pointer(addr)) }

// Bytes returns the memory at an address that the program is using at this moment.
func Bytes(addr, size uintptr) []byte {
	return unsafe.Slice((*byte)(Pointer(addr)), size)
}

// Number returns the memory at an address that the program is using at this moment as
// a number, if it is as large as one of the machine's.
func Number(addr, size uintptr) (v uint64, ok bool) {
	p := Pointer(addr)
	switch size {
	case 8:
		return *(*uint64)(p), true
	case 1:
		return uint64(*(*uint8)(p)), true
	case 4:
		return uint64(*(*uint32)(p)), true
	case 2:
		return uint64(*(*uint16)(p)), true
	}
	return 0, false
}
