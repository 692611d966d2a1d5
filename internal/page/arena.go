package page

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// A Backend is the means by which the shared view is protected.
type Backend string

// The backends, best first.
const (
	Userfaultfd Backend = "userfaultfd" // minor faults as SIGBUS
	Mprotect    Backend = "mprotect"    // SIGSEGV; where userfaultfd is refused
	None        Backend = "none"        // not protected: locks are plain locks
)

// BackendVariable is the environment variable that chooses a backend, instead of
// the best one that works.
const BackendVariable = "COFFERDAM_ISOLATE"

// A Status says how the arena is protected, and if not by the best means, why.
type Status struct {
	Backend Backend
	Reason  string

	// Weakness is what does not work as well as it could, "" if nothing.
	Weakness string
}

// A run is a number of pages side by side.
type run struct{ first, pages uint32 }

// arena is the one arena of the process. It is made when the first gate is.
var arena struct {
	once   sync.Once
	status Status

	owners []uint32 // the gate of each page
	meta   []uint32 // one number per block: see Meta
	gates  []Gate

	mu       sync.Mutex // guards the rest
	fresh    uint32     // the first page that was never used
	newest   uint32     // the last gate that was ever used
	retired  []run      // pages of closed gates, longest closed first
	resting  []uint32   // closed gates, longest closed first
	reserved uint64     // pages that belong to gates

	seated map[uint32]*Latch // those that gates have their holders in
}

// quarantine is how many closed gates rest before the first is used again, so
// that a fault that is just looking one up finds it closed.
const quarantine = 4096

// Setup makes the arena, once, and says how it is protected.
func Setup() Status {
	arena.once.Do(func() {
		arena.status = setup()
		arena.fresh = 1 // page 0 is nobody's, so that offset 0 can mean nil
	})
	status := arena.status
	if exhausted() {
		status = Status{Backend: None, Reason: "the kernel has no mappings left for this process: " +
			"more than vm.max_map_count allows, of which each guard takes two"}
	}
	return status
}

// NewGate returns a gate without pages, sealed, for the sections under a lock on
// the Go heap: the one in the latch if that is all there is around the sections.
// Otherwise it is an RWMutex's, or another: its pages can be opened for reading alone.
func NewGate(l *Latch, locked bool) (*Gate, error) {
	Setup()
	arena.mu.Lock()
	defer arena.mu.Unlock()
	index := uint32(0)
	switch {
	case len(arena.resting) > quarantine && atomic.LoadUint32(&arena.gates[arena.resting[0]].word) < wanter:
		index = arena.resting[0]
		arena.resting = arena.resting[1:]
	case int(arena.newest)+1 < len(arena.gates):
		arena.newest++
		index = arena.newest
	default:
		return nil, fmt.Errorf("there are %d guards already: close some", arena.newest)
	}
	g := &arena.gates[index]
	*g = Gate{index: index}
	g.sit(l)
	if locked {
		g.watch(l)
	} else {
		g.shared = 1
	}
	return g, nil
}

// Grow gives the gate a run of zeroed pages, and returns where they begin in the
// arena.
//
// A run that comes right behind the gate's last extent makes that longer, which is what happens as
// long as no other gate grows meanwhile. A gate that has doubled seven times has one extent then
// and not eight, and a seal takes one system call, with one interrupt of the other processors.
func (g *Gate) Grow(pages int) (offset uintptr, err error) {
	arena.mu.Lock()
	defer arena.mu.Unlock()
	n := g.nextents
	r, err := takeRun(uint32(pages))
	if err != nil {
		return 0, err
	}
	longer := n > 0 && g.extents[n-1].end() == r.first
	if n == MaxExtents && !longer {
		arena.retired = append(arena.retired, r)
		return 0, errors.New("the guard holds as much memory as a guard can: use several guards")
	}
	if err := commit(r); err != nil {
		arena.retired = append(arena.retired, r)
		return 0, err
	}
	arena.reserved += uint64(r.pages)
	// In this order: the handler reads the owner, then the extents. A seal that is under way, and has
	// read the length before, leaves out pages that nobody has reached yet.
	if longer {
		atomic.AddUint32(&g.extents[n-1].pages, r.pages)
	} else {
		g.extents[n] = extent{first: r.first, pages: r.pages}
		atomic.StoreUint32(&g.nextents, n+1)
	}
	for i := range r.pages {
		atomic.StoreUint32(&arena.owners[r.first+i], g.index)
	}
	return uintptr(r.first) * Size, nil
}

// takeRun finds pages that nobody uses. Pages of closed gates are used again
// only when there are no others, longest closed first, so that a pointer that
// outlived its guard finds no memory rather than that of another guard.
func takeRun(pages uint32) (run, error) {
	if limit := uint32(len(arena.owners)); pages <= limit-arena.fresh {
		r := run{arena.fresh, pages}
		arena.fresh += pages
		return r, nil
	}
	for i, r := range arena.retired {
		if r.pages < pages {
			continue
		}
		if r.pages == pages {
			arena.retired = append(arena.retired[:i], arena.retired[i+1:]...)
		} else {
			arena.retired[i] = run{r.first + pages, r.pages - pages}
		}
		return run{r.first, pages}, nil
	}
	return run{}, fmt.Errorf("no run of %d pages is left in the arena of %d MiB", pages, len(arena.owners)*Size>>20)
}

// Close returns the gate's memory. An access that waits at the gate, or comes
// later, finds memory that belongs to nobody. The caller is the holder.
func (g *Gate) Close() error {
	arena.mu.Lock()
	defer arena.mu.Unlock()
	atomic.OrUint32(&g.word, closed)
	var failed error
	for _, e := range g.extents[:g.nextents] {
		r := run{e.first, e.pages}
		for i := range r.pages {
			atomic.StoreUint32(&arena.owners[r.first+i], 0)
		}
		if err := decommit(r); err != nil {
			failed = err
			continue // its pages are lost, which is better than used twice
		}
		arena.retired = append(arena.retired, r)
		arena.reserved -= uint64(r.pages)
	}
	arena.resting = append(arena.resting, g.index)
	return failed
}

// Reserved is the number of bytes that belong to gates.
func Reserved() uint64 {
	arena.mu.Lock()
	defer arena.mu.Unlock()
	return arena.reserved * Size
}

// Around returns the run of the gate's memory that has an offset into the arena: where it begins in
// the own view, and its size, which is 0 if the offset is not the gate's.
func (g *Gate) Around(offset uintptr) (own, bytes uintptr) {
	for i := range g.extents[:atomic.LoadUint32(&g.nextents)] {
		e := &g.extents[i]
		if first, size := uintptr(e.first)*Size, uintptr(atomic.LoadUint32(&e.pages))*Size; offset-first < size {
			return uintptr(Base) + first | OwnBit, size
		}
	}
	return 0, 0
}

// Owner returns the index of the gate that owns the page at an offset into the
// arena, 0 for none.
func Owner(offset uintptr) uint32 { return arena.owners[offset/Size] }

// Meta is where the allocator above notes what it put into a block of the arena.
func Meta(offset uintptr) *uint32 { return &arena.meta[offset/Block] }

// ClosedGate returns a gate that is closed.
func ClosedGate() *Gate { return &closedForGood }
