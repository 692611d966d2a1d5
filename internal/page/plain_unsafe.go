package page

import "unsafe"

// setupPlain makes an arena without protection in ordinary memory: its only view
// is the shared one, and commit and decommit have nothing to do.
func setupPlain() {
	const size = 256 << 20 // untouched pages cost nothing
	buffer := make([]byte, size+Size)
	Base = unsafe.Pointer(&buffer[Size-uintptr(unsafe.Pointer(&buffer[0]))%Size])
	OwnView, Bytes, OwnBit = Base, size, 0
	arena.owners = make([]uint32, size/Size)
	arena.meta = make([]uint32, size/Block)
	arena.gates = make([]Gate, 1<<14)
}
