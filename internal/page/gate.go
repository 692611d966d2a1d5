package page

import "sync/atomic"

// The states of Gate.word. Sealed is the absence of the other bits, so that
// entering a section on a sealed gate compares the whole word with zero.
const (
	readable = 1 << 0 // shared pages may be mapped for reading
	open     = 1 << 1 // shared pages may be mapped for reading and writing
	closed   = 1 << 2 // the guard is gone, with its memory
	starved  = 1 << 3 // an access has waited for long whose goroutine has given up its processor
	busy     = 1 << 8 // a seal is changing the mappings
	wanter   = 1 << 16
)

// readerNames is the number of readers of a gate that are known by name. They fill the
// second cache line.
const readerNames = 6

// MaxExtents bounds the extents of a gate. Runs of pages double in size, so that
// twenty-four extents of one run each hold 32 GiB.
const MaxExtents = 24

// An extent is a run of pages of the arena that belongs to one gate.
type extent struct {
	first  uint32 // page number in the arena
	pages  uint32 // grows: see Grow
	faults uint32 // of late: each seal halves it. The more, the more pages a fault opens
	opened uint32 // not zero: some page may be mapped in the shared view
}

// end is the number of the page behind the extent.
func (e *extent) end() uint32 { return e.first + e.pages }

// A Gate is what the fault handler knows of a guard. Gates live outside the Go
// heap, are never moved, and are read by the handler at any time; a closed one
// is used again only after many others.
//
// Whether a section is running is told by the lock itself, if the gate knows it:
// it is held, and nobody holds it outside a section. Otherwise by the holder. See the package comment.
//
// The first cache line is all that a section touches.
type Gate struct {
	word    uint32     // state, busy, wanters
	blocked uint32     // threads of the handler asleep on turn
	seat    uintptr    // where the g in a section is noted: in the latch of its lock
	site    [2]uintptr // return addresses of the Lock that began the section
	readers uint32     // readers' sections that have no place in names
	turn    uint32     // changes when a section ends that an access waits for
	index   uint32
	shared  uint32  // not zero: an RWMutex's gate, whose pages can be readable
	lock    uintptr // the sync.Mutex around the sections; 0: unknown
	outside uintptr // the g that holds the lock without a section; 0: none

	lenient  uintptr // the holder, while it runs code that may wait for an access: see Relent
	nextents uint32
	seals    uint32               // so far
	names    [readerNames]uintptr // the g of each reader; 0: free
	extents  [MaxExtents]extent
}

// Index is the number of the gate, which is not zero.
func (g *Gate) Index() uint32 { return g.index }

// Closed reports whether the guard is gone.
func (g *Gate) Closed() bool { return atomic.LoadUint32(&g.word)&closed != 0 }

// Pages is the number of pages that belong to the gate.
func (g *Gate) Pages() int {
	n := 0
	for _, e := range g.extents[:g.nextents] {
		n += int(e.pages)
	}
	return n
}
