package trace

import (
	"errors"
	"fmt"
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// At returns the event with that number; nil if there is none.
func (r *Reader) At(seq uint64) (*event.Event, error) {
	i := r.find(seq)
	if i == len(r.index.blocks) || r.index.blocks[i].first > seq {
		return nil, nil
	}
	b, err := r.block(i)
	if err != nil {
		return nil, err
	}
	at := sort.Search(len(b.events), func(j int) bool { return b.events[j].Seq >= seq })
	if at == len(b.events) || b.events[at].Seq != seq {
		return nil, nil
	}
	return &b.events[at], nil
}

// LastStore returns the last event before seq that changed a byte of the memory;
// nil if there is none. An allocation, which clears memory, is not one, see
// [Reader.Allocation], and neither is a compare and swap that failed.
func (r *Reader) LastStore(addr, size, before uint64) (*event.Event, error) {
	c := r.Cursor(Filter{Addr: addr, Size: size, Kinds: Writes()})
	for c.Seek(before); c.Prev(); {
		if e := c.Event(); e.Kind != event.AtomicCompare || e.Arg != 0 {
			return e, nil
		}
	}
	return nil, c.Err()
}

// Writes returns the kinds of events that change memory, or try to.
func Writes() []event.Kind { return kindsIn(writes) }

// Accesses returns the kinds of events that are accesses to memory.
func Accesses() []event.Kind {
	return []event.Kind{event.Load, event.Store, event.MapRead, event.MapWrite, event.AtomicLoad, event.AtomicStore, event.AtomicUpdate, event.AtomicCompare}
}

func kindsIn(s kindSet) []event.Kind {
	var list []event.Kind
	for _, k := range event.Kinds() {
		if s.has(k) {
			list = append(list, k)
		}
	}
	return list
}

// Allocation returns the last Alloc at seq or before whose memory has the address;
// nil if there is none, as for global variables.
func (r *Reader) Allocation(addr, seq uint64) (*event.Event, error) {
	return r.allocation(addr, seq, 0)
}

// allocation is Allocation that does not look into blocks before the one numbered
// from.
func (r *Reader) allocation(addr, seq uint64, from int) (*event.Event, error) {
	m := (&Filter{Addr: addr, Size: 1, Kinds: []event.Kind{event.Alloc}}).compile()
	// The events of a block that ends after seq are searched by seq.
	for i := min(r.find(seq), len(r.index.blocks)-1); i >= from; i-- {
		if c := &r.index.blocks[i]; c.first > seq || !c.allocs.has(addr) || !r.mayHave(i, &m) {
			continue
		}
		b, err := r.block(i)
		if err != nil {
			return nil, err
		}
		if e := b.allocation(addr, seq); e != nil {
			return e, nil
		}
	}
	return nil, nil
}

// allocation searches in one block.
func (b *block) allocation(addr, seq uint64) *event.Event {
	if !b.sorted {
		b.sorted = true
		for i := range b.events {
			if e := &b.events[i]; e.Kind == event.Alloc && e.Addr != 0 {
				b.allocs = append(b.allocs, e)
				b.widest = max(b.widest, uint64(e.Size))
			}
		}
		sort.SliceStable(b.allocs, func(i, j int) bool { return b.allocs[i].Addr < b.allocs[j].Addr })
	}
	var best *event.Event
	after := sort.Search(len(b.allocs), func(i int) bool { return b.allocs[i].Addr > addr })
	for i := after - 1; i >= 0; i-- {
		e := b.allocs[i]
		if addr-e.Addr >= max(b.widest, 1) {
			break
		}
		if lastByte(e.Addr, e.Size) >= addr && e.Seq <= seq && (best == nil || e.Seq > best.Seq) {
			best = e
		}
	}
	return best
}

// A Frame is a call: an element of a stack.
type Frame struct {
	ID     uint32
	Parent uint32 // the caller's frame, 0 for the first of a goroutine
	Site   uint32 // of the Call event: the function
	PC     uint64 // where in the caller it returns to
	G      uint32
	Seq    uint64 // of the Call event that defined it
}

// maxStack ends a stack whose frames, in a corrupt trace, would have no end.
const maxStack = 100_000

// Stack returns the calls that a frame is in, innermost first: Stack(e.Frame) is the
// call stack at an event. Frame 0 has none.
func (r *Reader) Stack(frame uint32) ([]Frame, error) {
	var stack []Frame
	top := frame
	for frame != 0 {
		f, err := r.Frame(frame)
		if err != nil {
			return stack, err
		}
		if len(stack) == maxStack || f.Parent == frame {
			return stack, fmt.Errorf("the stack of frame %d does not end", top)
		}
		stack = append(stack, f)
		frame = f.Parent
	}
	return stack, nil
}

// ErrNoFrame is in the error for a frame that no Call defines.
var ErrNoFrame = errors.New("no call event defines it")

// maxDefs bounds the frames that a Reader remembers.
const maxDefs = 1 << 16

// Frame returns the definition of a frame.
func (r *Reader) Frame(id uint32) (Frame, error) {
	if f, ok := r.defs[id]; ok {
		return f, nil
	}
	// Where it was higher than all before it, if they are numbered in order; then
	// wherever it may be.
	var failed error
	for _, blocks := range []func(uint64) []int{r.freshBlock, r.frameBlocks} {
		for _, i := range blocks(uint64(id)) {
			b, err := r.block(i)
			if err != nil {
				failed = err
				continue
			}
			for j := range b.events {
				if e := &b.events[j]; e.Kind == event.Call && e.Frame == id {
					return r.define(e), nil
				}
			}
		}
	}
	if failed != nil {
		return Frame{}, fmt.Errorf("frame %d: %w", id, failed)
	}
	return Frame{}, fmt.Errorf("frame %d: %w", id, ErrNoFrame)
}

// freshBlock is the block, if there is one, in which a frame may have been higher than all
// before it. In such a block frames are higher than in all earlier ones.
func (r *Reader) freshBlock(id uint64) []int {
	if r.freshBlocks == nil {
		r.freshBlocks = []int{}
		for i := range r.index.blocks {
			if !r.index.blocks[i].fresh.empty() {
				r.freshBlocks = append(r.freshBlocks, i)
			}
		}
	}
	at := sort.Search(len(r.freshBlocks), func(i int) bool { return r.index.blocks[r.freshBlocks[i]].fresh.hi >= id })
	if at == len(r.freshBlocks) || !r.index.blocks[r.freshBlocks[at]].fresh.has(id) {
		return nil
	}
	return r.freshBlocks[at : at+1]
}

// frameBlocks are the blocks that may define a frame.
func (r *Reader) frameBlocks(id uint64) []int {
	var all []int
	for i := range r.index.blocks {
		if r.index.blocks[i].frames.has(id) {
			all = append(all, i)
		}
	}
	return all
}

func (r *Reader) define(e *event.Event) Frame {
	if len(r.defs) >= maxDefs {
		clear(r.defs)
	}
	f := Frame{ID: e.Frame, Parent: uint32(e.Arg), Site: e.Site, PC: e.Addr, G: e.G, Seq: e.Seq}
	r.defs[e.Frame] = f
	return f
}
