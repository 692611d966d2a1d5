package aside

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/isolate"
)

// A NodeField is a field of a struct that stands for one which is a cell, where the lock is a
// variable: the cells of all objects are on the pages of one guard.
//
//	n.next = m        n.x.Store(guard, m)
//	use(n.next)       use(n.x.Load(guard))
//
// An object that is being made, or was read from a file, is used by its goroutine alone, without
// the lock, while another goroutine is in a section on other objects. That is not careless. So a
// field moves to the pages when a section first uses it. When the object is garbage, its word on
// the page is handed out again.
type NodeField[T any] struct {
	cell  unsafe.Pointer // *Cell[T]; nil: no section has used the field
	value T              // until then
	// moving is 1 while value is written, or moved to a cell: a store must not be lost that
	// comes at that moment.
	moving uint32
}

// MakeNode returns a field that has a value.
func MakeNode[T any](value T) NodeField[T] { return NodeField[T]{value: value} }

func (f *NodeField[T]) found() *Cell[T] { return (*Cell[T])(atomic.LoadPointer(&f.cell)) }

// Load returns the value, by the view that [View] would choose.
func (f *NodeField[T]) Load(g *Guard) T {
	if c := f.found(); c != nil {
		return c.Load()
	}
	return f.loadEarly(g)
}

// LoadOwn is Load for a section of the guard.
func (f *NodeField[T]) LoadOwn(g *Guard) T {
	if c := f.found(); c != nil {
		return c.LoadOwn()
	}
	return f.move(g).LoadOwn()
}

// Store stores a value, by the view that [View] would choose.
func (f *NodeField[T]) Store(g *Guard, value T) {
	if c := f.found(); c != nil {
		c.Store(value)
	} else {
		f.storeEarly(g, value)
	}
}

// StoreOwn is Store for a section of the guard.
func (f *NodeField[T]) StoreOwn(g *Guard, value T) {
	c := f.found()
	if c == nil {
		c = f.move(g)
	}
	c.StoreOwn(value)
}

// A NodeTarget is what [Cell.Target] is for a cell.
type NodeTarget[T any] struct {
	field *NodeField[T]
	guard *Guard
}

// Target returns the field, and a variable for a value that will be stored to it when all values
// of an assignment are known.
func (f *NodeField[T]) Target(g *Guard) (NodeTarget[T], T) {
	var value T
	return NodeTarget[T]{f, g}, value
}

// Store stores the value.
func (t NodeTarget[T]) Store(value T) { t.field.Store(t.guard, value) }

// word is the value as a pointer.
func (f *NodeField[T]) word() *unsafe.Pointer { return (*unsafe.Pointer)(unsafe.Pointer(&f.value)) }

func (f *NodeField[T]) loadEarly(g *Guard) T {
	if g.Mine() {
		return f.move(g).LoadOwn()
	}
	p := atomic.LoadPointer(f.word())
	if c := f.found(); c != nil {
		return c.Load()
	}
	return *(*T)(unsafe.Pointer(&p))
}

func (f *NodeField[T]) storeEarly(g *Guard, value T) {
	if g.Mine() {
		f.move(g).StoreOwn(value)
		return
	}
	f.lock()
	c := f.found()
	if c == nil {
		atomic.StorePointer(f.word(), pointerOf(value))
	}
	f.unlock()
	if c != nil {
		c.Store(value)
	}
}

// lock waits for the few instructions of another store. It is seldom that there is one.
func (f *NodeField[T]) lock() {
	for !atomic.CompareAndSwapUint32(&f.moving, 0, 1) {
		runtime.Gosched()
	}
}

func (f *NodeField[T]) unlock() { atomic.StoreUint32(&f.moving, 0) }

// move moves the value to a cell, and returns that.
func (f *NodeField[T]) move(g *Guard) *Cell[T] {
	f.lock()
	defer f.unlock()
	if c := f.found(); c != nil {
		return c
	}
	c := newSharedCell(g, f.value)
	atomic.StorePointer(&f.cell, unsafe.Pointer(c))
	// Not before: a load that finds no value looks for the cell.
	atomic.StorePointer(f.word(), nil)
	return c
}

// A sharedWord is what has to be given back of a cell.
type sharedWord struct {
	guard *Guard
	word  *uintptr
}

// newSharedCell returns a cell whose word is given back when the cell is garbage. All that loads
// or stores it has the cell until that is done, so no access can be under way by then.
func newSharedCell[T any](g *Guard, value T) *Cell[T] {
	c := &Cell[T]{Guard: g}
	if word := newWord(g); word != nil {
		c.shared, c.own = word, ownView(word)
		runtime.AddCleanup(c, func(w sharedWord) { isolate.Free(w.guard, w.word) }, sharedWord{g, word})
	} else {
		c.shared = new(uintptr)
		c.own = c.shared
	}
	c.storeOwn(pointerOf(value))
	return c
}

// newWord returns a zero word of a guard, nil if there is no memory for it.
func newWord(g *Guard) (word *uintptr) {
	defer func() {
		if cause := recover(); cause != nil {
			refuse(fmt.Sprint(cause))
			word = nil
		}
	}()
	if g == &nowhere {
		return nil
	}
	return isolate.New[uintptr](g)
}

// NewNodeGuard is [NewGuard] for the fields of objects that have not the lock themselves. Findings
// call all of them by the name.
func NewNodeGuard(name, lock, file string, line int) *Guard {
	g := NewGuard(lock, file, line)
	if g != &nowhere {
		isolate.NameAll(g, name)
	}
	return g
}
