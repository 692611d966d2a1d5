package isolate

import (
	"cmp"
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// The allocator of a guard. What it knows is kept on the Go heap, away from the
// guarded pages, so that no careless write can confuse it.
//
// Memory is handed out in spans of equal objects: of one type, and for slices of
// one capacity. The first span of a type is one block of 512 bytes, so that a
// guard with a few small types fits on one page; later ones double. Objects are
// found by their block (page.Meta), and the memory of a small object is only ever
// used again for the same type: a stale pointer sees a wrong value at worst.

// A class is the objects of one type and count in a guard.
type class struct {
	typ   reflect.Type
	count int     // 1, or the capacity of a slice
	size  uintptr // of an object
	made  int     // spans so far
	open  []*span // those with room, and some that have become full
}

// A span is up to 64 objects of one class, side by side.
type span struct {
	class *class
	start uintptr // offset into the arena
	slots int
	used  uint64
	open  bool // in class.open
}

// blocks is a run of free blocks of a guard.
type blocks struct {
	start uintptr
	n     int
}

const (
	maxSlots = 64
	maxSpan  = 64 << 10 // bytes, unless one object is larger
)

func (g *guard) allocate(t reflect.Type, count int) unsafe.Pointer {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		panic("isolate: New on a closed guard")
	}
	c := g.class(t, count)
	s := c.room()
	if s == nil {
		s = g.grow(c)
	}
	slot := s.free(g.colour() / blocksPerPage)
	s.used |= 1 << slot
	offset := s.start + uintptr(slot)*c.size
	clear(unsafe.Slice((*byte)(unsafe.Add(page.Base, offset|page.OwnBit)), c.size))
	return unsafe.Add(page.Base, offset)
}

// class finds the class of a type and count. Guards have few.
func (g *guard) class(t reflect.Type, count int) *class {
	for _, c := range g.classes {
		if identity(c.typ) == identity(t) && c.fits(count) {
			return c
		}
	}
	if err := checkNoPointers(t); err != nil {
		panic("isolate: " + err.Error())
	}
	size := max(t.Size(), 1)
	if uintptr(count) > page.Bytes/2/size {
		panic(fmt.Sprintf("isolate: %d elements of %v do not fit into the arena of %d MiB", count, t, page.Bytes>>20))
	}
	c := &class{typ: t, count: capacity(count)}
	c.size = size * uintptr(c.count)
	g.classes = append(g.classes, c)
	return c
}

// identity is the second word of a type, which is a pointer. It tells types apart in one instruction, where
// to compare interfaces takes a call, of which each New would make some.
func identity(t reflect.Type) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1] }

// capacity rounds the length of a slice up, by a quarter at most, so that slices
// of similar lengths can take each other's place.
func capacity(n int) int {
	if n <= 4 {
		return n
	}
	step := 1 << (bits.Len(uint(n-1)) - 3)
	return (n + step - 1) &^ (step - 1)
}

// fits reports whether a slice of n elements is of this class.
func (c *class) fits(n int) bool { return n == c.count || n < c.count && capacity(n) == c.count }

// free returns the number of a slot that is free: if all are, one that depends on the colour.
func (s *span) free(colour int) int {
	if s.used == 0 {
		return colour % s.slots
	}
	return bits.TrailingZeros64(^s.used)
}

// colour is where on its first page the first object of a guard is. Of many guards with a small object
// each, all objects would be at the same place of their pages otherwise, and in the same few lines of
// a processor's cache.
func (g *guard) colour() int { return int(g.gate.Index()) }

func (c *class) room() *span {
	for n := len(c.open); n > 0; n-- {
		s := c.open[n-1]
		if s.used != 1<<s.slots-1 {
			return s
		}
		c.open, s.open = c.open[:n-1], false
	}
	return nil
}

// grow adds a span to a class.
func (g *guard) grow(c *class) *span {
	want := uintptr(page.Block) << min(c.made, 16)
	slots := int(max(1, min(want, maxSpan)/c.size))
	slots = min(slots, maxSlots)
	n := int((uintptr(slots)*c.size + page.Block - 1) / page.Block)
	s := &span{class: c, start: g.take(n), slots: slots, open: true}
	g.spans = append(g.spans, s)
	g.mark(s, uint32(len(g.spans)))
	c.open = append(c.open, s)
	c.made++
	return s
}

func (s *span) blocks() int {
	return int((uintptr(s.slots)*s.class.size + page.Block - 1) / page.Block)
}

// mark notes the number of a span, which is not 0, for each of its blocks.
func (g *guard) mark(s *span, number uint32) {
	for i := range s.blocks() {
		*page.Meta(s.start + uintptr(i)*page.Block) = number
	}
}

// take finds n free blocks, and gets pages if there are none. Each time the
// guard doubles, so that it has few extents.
func (g *guard) take(n int) uintptr {
	for i := range g.runs {
		r := &g.runs[i]
		if r.n < n {
			continue
		}
		start := r.start
		r.start += uintptr(n) * page.Block
		if r.n -= n; r.n == 0 {
			g.runs = append(g.runs[:i], g.runs[i+1:]...)
		}
		return start
	}
	pages := max((n+blocksPerPage-1)/blocksPerPage, g.pages, 1)
	start, err := g.gate.Grow(pages)
	if err != nil {
		panic("isolate: no memory for the guard: " + err.Error())
	}
	before := 0
	if g.pages == 0 {
		before = g.colour() % (pages*blocksPerPage - n + 1)
	}
	g.pages += pages
	taken := start + uintptr(before)*page.Block
	g.give(blocks{start, before})
	g.give(blocks{taken + uintptr(n)*page.Block, pages*blocksPerPage - before - n})
	return taken
}

const blocksPerPage = page.Size / page.Block

// give adds free blocks, joined with their neighbours.
func (g *guard) give(b blocks) {
	if b.n == 0 {
		return
	}
	for i := 0; i < len(g.runs); {
		r := g.runs[i]
		switch {
		case r.start+uintptr(r.n)*page.Block == b.start:
			b.start = r.start
		case b.start+uintptr(b.n)*page.Block != r.start:
			i++
			continue
		}
		b.n += r.n
		g.runs = append(g.runs[:i], g.runs[i+1:]...)
	}
	g.runs = append(g.runs, b)
}

func (g *guard) free(p unsafe.Pointer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		panic("isolate: Free on a closed guard")
	}
	offset, ok := offsetOf(p)
	if !ok || page.Owner(offset) != g.gate.Index() {
		panic(fmt.Sprintf("isolate: Free of %p: %s", p, g.stranger(offset, ok)))
	}
	s := g.span(offset)
	if s == nil {
		panic(fmt.Sprintf("isolate: Free of %p, which is free already", p))
	}
	slot := (offset - s.start) / s.class.size
	if s.start+slot*s.class.size != offset || slot >= uintptr(s.slots) {
		panic(fmt.Sprintf("isolate: Free of %p, which points into an object of type %v: give Free the pointer that New returned", p, s.class.typ))
	}
	if s.used&(1<<slot) == 0 {
		panic(fmt.Sprintf("isolate: Free of %p, a %v that is free already", p, s.class.typ))
	}
	s.used &^= 1 << slot
	if len(g.names) > 0 {
		delete(g.names, offset)
	}
	if s.class.size >= page.Size && s.slots == 1 {
		g.dissolve(s)
	} else if !s.open {
		s.class.open = append(s.class.open, s)
		s.open = true
	}
}

// dissolve gives the memory of a large object back for objects of any type.
func (g *guard) dissolve(s *span) {
	g.spans[*page.Meta(s.start)-1] = nil
	g.mark(s, 0)
	if s.open {
		s.class.open = slices.DeleteFunc(s.class.open, func(o *span) bool { return o == s })
	}
	g.give(blocks{s.start, s.blocks()})
}

// span is the span at an offset that belongs to the guard, nil if there is none.
func (g *guard) span(offset uintptr) *span {
	if n := *page.Meta(offset); n != 0 {
		return g.spans[n-1]
	}
	return nil
}

// locate describes what is at an offset: the type, and the field in it.
func (g *guard) locate(offset uintptr) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || page.Owner(offset) != g.gate.Index() {
		return ""
	}
	s := g.span(offset)
	if s == nil {
		return "unused memory"
	}
	within := (offset - s.start) % s.class.size
	target := fieldPath(s.class.typ, within, s.class.count > 1)
	if name := cmp.Or(g.names[offset-within], g.namesake); name != "" {
		target = name + strings.TrimPrefix(target, typeName(s.class.typ))
	}
	return target
}

// call gives the object at an offset a name.
func (g *guard) call(offset uintptr, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.names == nil {
		g.names = make(map[uintptr]string)
	}
	g.names[offset] = name
}

// stranger says whose an offset is that is not this guard's.
func (g *guard) stranger(offset uintptr, ok bool) string {
	if ok {
		if other, ok := guards.Load(page.Owner(offset)); ok {
			return "it belongs to another guard, " + other.(*guard).describe().String()
		}
		return "it belongs to no guard any more: its guard was closed"
	}
	return "it is not guarded memory: use a pointer that New or MakeSlice returned"
}
