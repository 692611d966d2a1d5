package aside

import (
	"fmt"
	"runtime"
	"unsafe"
)

// A Cell is a variable of type T on a guard's pages, where T is one word that the collector has
// to see: a pointer, a map, a channel or a function.
type Cell[T any] struct {
	*Guard
	mirror
}

// NewCell returns a new variable. Findings call it by the name. If there is no memory for pages
// it is on the heap.
func NewCell[T any](g *Guard, name string, value T) *Cell[T] {
	if unsafe.Sizeof(value) != unsafe.Sizeof(uintptr(0)) {
		panic(fmt.Sprintf("protect: a %T is more than one word", value))
	}
	c := &Cell[T]{Guard: g}
	c.shared, c.own = New(g, name, uintptr(0))
	c.storeOwn(pointerOf(value))
	return c
}

// pointerOf is the word that a value is.
func pointerOf[T any](value T) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&value)) }

// Load returns the value, by the view that [View] would choose.
func (c *Cell[T]) Load() T {
	word := c.shared
	if c.Mine() {
		word = c.own
	}
	// One instruction that is known to load a pointer: the collector finds the value in a
	// register or on the stack from then on. The cell has to live until then, because the
	// word has no entry, and is handed out again, when the cell is garbage.
	value := *(*T)(unsafe.Pointer(word))
	runtime.KeepAlive(c)
	return value
}

// LoadOwn is Load for a section of the guard.
func (c *Cell[T]) LoadOwn() T {
	value := *(*T)(unsafe.Pointer(c.own))
	runtime.KeepAlive(c)
	return value
}

// Store stores a value, by the view that [View] would choose.
func (c *Cell[T]) Store(value T) {
	if c.Mine() {
		c.storeOwn(pointerOf(value))
	} else {
		c.storeShared(pointerOf(value))
	}
}

// StoreOwn is Store for a section of the guard.
func (c *Cell[T]) StoreOwn(value T) { c.storeOwn(pointerOf(value)) }

// Target returns the cell, and a variable for a value that will be stored to it when all values
// of an assignment are known.
//
//	p, q = q, p        { k, w := c.Target(); w, q = q, c.Load(); k.Store(w) }
func (c *Cell[T]) Target() (*Cell[T], T) {
	var value T
	return c, value
}
