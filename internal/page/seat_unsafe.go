package page

import "unsafe"

// sit has the gate note its holder in the latch of its lock, which is kept alive until the gate is
// used for another one: a handler may still be looking there when the gate is closed.
func (g *Gate) sit(l *Latch) {
	g.seat = uintptr(unsafe.Pointer(&l.holder))
	if arena.seated == nil {
		arena.seated = make(map[uint32]*Latch)
	}
	arena.seated[g.index] = l
}

// holder is where the g in a section is noted, 0 if there is none. A gate is no memory of the
// collector, so that it has the address as a number.
//
//go:nocheckptr
func (g *Gate) holder() *uintptr { return (*uintptr)(unsafe.Add(unsafe.Pointer(nil), g.seat)) }

// inSection is the g in a section, 0 if there is none. Like all that is done with the holder it is no
// synchronisation, and the race detector must not take it for one.
//
//go:norace
//go:nocheckptr
func (g *Gate) inSection() uintptr { return *(*uintptr)(unsafe.Add(unsafe.Pointer(nil), g.seat)) }

// closedForGood is the gate of every closed guard: those that were closed are
// used again. No page has its index as owner.
var closedForGood = Gate{word: closed, index: ^uint32(0), seat: uintptr(unsafe.Pointer(&vacant))}

// vacant is where no goroutine is noted for longer than it takes to see that a gate is closed.
var vacant uintptr

// Slowly is what Lock, Unlock and Own come to where a few instructions do not do. Package isolate sets
// it, which knows the guard of a latch.
var Slowly struct {
	// Lock begins a section of which the site is known. The lock may have been taken already.
	Lock func(l *Latch, site [2]uintptr, taken bool)
	// Unlock ends a section, with the lock that is around it.
	Unlock func(l *Latch)
	// Own returns the holder's view of an object that is in other memory of the gate than the first one.
	// It panics if the object is not the gate's, or the calling goroutine in no section.
	Own func(l *Latch, p unsafe.Pointer) unsafe.Pointer
}
