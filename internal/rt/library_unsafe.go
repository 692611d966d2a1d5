package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// What the standard library does to the program's memory where its source does not say it:
// package reflect leaves it to the runtime, and cryptography to code that has no hooks.

// ReflectLoad announces a load of size bytes at p.
func ReflectLoad(p unsafe.Pointer, size uintptr) { memory(p, size, event.Load, 0) }

// ReflectStore announces a store of size bytes at p.
func ReflectStore(p unsafe.Pointer, size uintptr) { memory(p, size, event.Store, 0) }

// ReflectMapRead announces a read of the map at p.
func ReflectMapRead(p unsafe.Pointer) { mapRead(p, 0, nil) }

// ReflectMapWrite announces a write to the map at p.
func ReflectMapWrite(p unsafe.Pointer) { mapWrite(p, 0, nil, 0) }

// LoadBytes announces a load of p.
func LoadBytes(p []byte) {
	memory(unsafe.Pointer(unsafe.SliceData(p)), uintptr(len(p)), event.Load, 0)
}
