package aside

import (
	"fmt"
	"runtime"
	"sync/atomic"
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

// Wake is that of the guard, as for [Pages.Wake].
func (c *Cell[T]) Wake() {
	c.Guard.Wake()
	runtime.KeepAlive(c)
}

// Target returns the cell, and a variable for a value that will be stored to it when all values
// of an assignment are known.
//
//	a.p, b = b, a.p        { c, v := a.x.Get().Target(); v, b = b, a.x.Get().Load(); c.Store(v) }
func (c *Cell[T]) Target() (*Cell[T], T) {
	var value T
	return c, value
}

// A CellField is a field of a struct that stands for one which is a cell. The struct has the lock.
type CellField[N Parts, T any] struct {
	cell unsafe.Pointer // *Cell[T]; not an atomic.Pointer, which MakeCell could not return
}

// Get returns the cell. The first call makes it.
func (f *CellField[N, T]) Get() *Cell[T] {
	if c := (*Cell[T])(atomic.LoadPointer(&f.cell)); c != nil {
		return c
	}
	return f.make()
}

func (f *CellField[N, T]) make() *Cell[T] {
	making.Lock()
	defer making.Unlock()
	if f.cell == nil {
		var zero T
		atomic.StorePointer(&f.cell, unsafe.Pointer(newCellOf[N](zero)))
	}
	return (*Cell[T])(f.cell)
}

// MakeCell returns a field that has a value.
func MakeCell[N Parts, T any](value T) CellField[N, T] {
	making.Lock()
	defer making.Unlock()
	return CellField[N, T]{unsafe.Pointer(newCellOf[N](value))}
}

// newCellOf makes a cell with a guard of its own. The caller holds making.
func newCellOf[N Parts, T any](value T) *Cell[T] {
	var names N
	g, name, _ := newGuardOf(names)
	c := NewCell(g, name, value)
	giveBackAfter(c, g)
	return c
}
