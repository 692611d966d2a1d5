package drive

import (
	"fmt"
	"maps"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/emu"
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// heap is what a program has allocated and freed.
type heap struct {
	live  map[uint64]uint64 // sizes by address
	dead  map[uint64]death
	freed wordSet // of the dead, word by word
	// inside are the calls of the allocator that threads are in, by number.
	inside map[uint32]allocation
	// entries are the allocator's functions by address, and code is from where to where
	// their code is.
	entries map[uint64]string
	code    [2]uint64
}

// A death is how an allocation was freed.
type death struct {
	size   uint64
	thread uint32
	site   uint32
}

// An allocation is a call of the allocator.
type allocation struct {
	function  string
	size, old uint64
	returns   uint64 // where it returns to
	sp        uint64 // and the stack pointer before the return
	result    uint64 // where posix_memalign stores its result
}

func newHeap() *heap {
	return &heap{live: map[uint64]uint64{}, dead: map[uint64]death{}, inside: map[uint32]allocation{}, entries: map[uint64]string{}}
}

func (h *heap) copy() *heap {
	c := &heap{live: maps.Clone(h.live), dead: maps.Clone(h.dead), inside: maps.Clone(h.inside), entries: h.entries, code: h.code}
	c.freed.pages = make(map[uint64]*[8]uint64, len(h.freed.pages))
	for n, bits := range h.freed.pages {
		b := *bits
		c.freed.pages[n] = &b
	}
	return c
}

// allocator are the functions of the C library's heap.
var allocator = []string{"malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign", "cfree", "reallocarray"}

// unit are names that are known to be compiled together with them.
var unit = append([]string{"__default_morecore", "malloc_trim", "malloc_info", "malloc_stats", "mallinfo", "mallinfo2", "mallopt", "malloc_usable_size", "valloc", "pvalloc"}, allocator...)

// knowHeap marks the functions of the heap once the C library is mapped.
func (p *Program) knowHeap() {
	if len(p.heap.entries) > 0 {
		return
	}
	for _, a := range p.process.Mem.Areas() {
		if a.File != nil && a.Prot&mem.Exec != 0 && strings.Contains(a.Name, "libc.so") {
			symbols := emu.NewSymbols(p.process.Mem)
			for _, name := range allocator {
				if addr := symbols.Find(name); addr != 0 {
					p.heap.entries[addr] = name
					p.process.Code.Mark(addr)
				}
			}
			p.heap.code[0], p.heap.code[1] = symbols.Unit(unit)
			return
		}
	}
}

// heapCall is called when a thread enters the allocator, or returns from it.
func (r *run) heapCall(t *linux.Thread) {
	c, h := t.CPU, r.heap
	if in, ok := h.inside[t.Number]; ok {
		if c.PC == in.returns && c.R[x86.RSP] == in.sp {
			delete(h.inside, t.Number)
			r.returned(t, in)
		}
		return
	}
	name, ok := h.entries[c.PC]
	if !ok {
		return
	}
	sp := c.R[x86.RSP]
	returns, _ := r.process.Mem.Word(sp)
	if h.within(returns) {
		return // the end of a thread frees what the program has freed
	}
	a, b, d := c.R[x86.RDI], c.R[x86.RSI], c.R[x86.RDX]
	in := allocation{function: name, returns: returns, sp: sp + 8}
	switch name {
	case "malloc":
		in.size = a
	case "calloc":
		in.size = a * b
	case "realloc":
		in.old, in.size = a, b
	case "reallocarray":
		in.old, in.size = a, b*d
	case "memalign", "aligned_alloc":
		in.size = b
	case "posix_memalign":
		in.size, in.result = d, a
	case "free", "cfree":
		in.old = a
		if r.free(t, a, returns) {
			return
		}
	}
	h.inside[t.Number] = in
	r.process.Code.Mark(returns)
}

// within reports whether an address is in the code of the allocator.
func (h *heap) within(pc uint64) bool { return pc >= h.code[0] && pc < h.code[1] }

// free frees an allocation. It reports whether that is a failure.
func (r *run) free(t *linux.Thread, addr, returns uint64) bool {
	h := r.heap
	if size, ok := h.live[addr]; ok {
		r.bury(t, addr, death{size, t.Number, r.callSite(returns)})
		return false
	}
	if before, ok := h.dead[addr]; ok {
		f := r.failureAt(t, event.DoubleFree, fmt.Sprintf("thread %d frees %d bytes at %#x that thread %d has freed", t.Number, before.size, addr, before.thread), returns)
		f.Addr = addr
		f.Others = []trace.Point{{Op: event.Store, G: before.thread, Site: before.site, Addr: addr}}
		r.failure = f
		return true
	}
	return false
}

// bury makes a live allocation a dead one.
func (r *run) bury(t *linux.Thread, addr uint64, d death) {
	h := r.heap
	if r.observer != nil {
		r.observer.Frees(t, addr, d.size)
	}
	delete(h.live, addr)
	h.dead[addr] = d
	// Whole words: no other allocation has a part of the last one.
	for at := addr &^ 7; at < addr+d.size; at += 8 {
		h.freed.add(at)
	}
}

// returned is the return of a call of the allocator.
func (r *run) returned(t *linux.Thread, in allocation) {
	h := r.heap
	result := t.CPU.R[x86.RAX]
	if in.result != 0 {
		result, _ = r.process.Mem.Word(in.result)
	}
	switch in.function {
	case "free", "cfree":
		return
	case "realloc", "reallocarray":
		if size, ok := h.live[in.old]; ok && (result != 0 || in.size == 0) {
			r.bury(t, in.old, death{size, t.Number, r.callSite(in.returns)})
		}
	}
	if result == 0 {
		return
	}
	if r.observer != nil {
		r.observer.Allocates(t, result, in.size)
	}
	h.live[result] = in.size
	delete(h.dead, result)
	h.freed.remove(result, in.size)
}

// remove takes a range out of the set.
func (s *wordSet) remove(addr, size uint64) {
	for at := addr &^ 7; at < addr+size; at += 8 {
		if bits := s.pages[at>>pageShift]; bits != nil {
			w := at >> wordShift & 511
			bits[w>>6] &^= 1 << (w & 63)
		}
	}
}

// readsAhead reports whether a library looks at the end of a text by whole aligned vectors,
// as strlen does: what it finds beyond the end, in memory that may be freed, it ignores.
func (r *run) readsAhead(site cpu.Site, ref *cpu.Ref) bool {
	if ref.Kind != event.Load || ref.Size != 16 {
		return false
	}
	switch site.Inst.Op {
	case x86.MOVUPS, x86.MOVUPD, x86.MOVDQU:
		return false // which need not be aligned, and copy
	}
	a, ok := r.process.Mem.Area(site.PC)
	return ok && a.File != nil && a.File.Name != r.own
}

// usesFreed reports whether an access to freed memory is a failure: the allocator itself
// may use it.
func (r *run) usesFreed(ref *cpu.Ref) bool {
	t := r.running
	if _, ok := r.heap.inside[t.Number]; ok {
		return false
	}
	site := r.process.Code.Sites()[ref.Site]
	if r.heap.within(site.PC) || r.readsAhead(site, ref) {
		return false // likewise
	}
	for addr, d := range r.heap.dead {
		if ref.Addr < addr+d.size && addr < ref.Addr+uint64(ref.Size) {
			f := r.failureAt(t, event.UseAfterFree, fmt.Sprintf("thread %d accesses byte %d of %d at %#x that thread %d has freed", t.Number, ref.Addr-addr, d.size, addr, d.thread), site.PC)
			f.Op, f.Addr = ref.Kind, ref.Addr
			if r.isOwnCode(site.PC) { // otherwise it is the call of the library that does it
				f.Site = ref.Site
			}
			f.Others = []trace.Point{{Op: event.Store, G: d.thread, Site: d.site, Addr: addr}}
			r.failure = f
			return true
		}
	}
	return false
}
