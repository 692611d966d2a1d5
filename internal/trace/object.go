package trace

import "github.com/cofferdam-go/cofferdam/internal/event"

// Objects is [Reader.Allocation] for addresses that come again and again: it looks only at
// what came since the last time.
type Objects struct {
	r *Reader
	// known is what was found for addresses, as of the start of a block.
	known map[uint64]lookup
}

type lookup struct {
	alloc *event.Event // nil: none
	block int          // the allocations of all blocks before it are considered
}

// maxNames bounds the addresses that are remembered.
const maxNames = 1 << 16

// Objects returns the allocations of a trace.
func (r *Reader) Objects() *Objects { return &Objects{r: r, known: map[uint64]lookup{}} }

// At returns the last Alloc at seq or before whose memory has the address; nil if there
// is none.
func (o *Objects) At(addr, seq uint64) (*event.Event, error) {
	here := o.r.find(seq)
	// In the block itself it matters whether the allocation came before the event.
	if here < len(o.r.index.blocks) && o.r.index.blocks[here].allocs.has(addr) {
		b, err := o.r.block(here)
		if err != nil {
			return nil, err
		}
		if e := b.allocation(addr, seq); e != nil {
			return e, nil
		}
	}
	if here == 0 {
		return nil, nil
	}
	known := o.known[addr]
	if known.block > here {
		known = lookup{}
	}
	if known.block < here {
		before := o.r.index.blocks[here-1].last
		e, err := o.r.allocation(addr, before, known.block)
		if err != nil {
			return nil, err
		}
		if e != nil {
			known.alloc = e
		}
		known.block = here
		if len(o.known) >= maxNames {
			clear(o.known)
		}
		o.known[addr] = known
	}
	return known.alloc, nil
}
