package isolate

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/page"
)

// A door is how a lock finds its guard. Both pointers are nil until the first
// use of the lock, and are set together.
type door struct {
	latch page.Latch                // first: see latches
	gate  atomic.Pointer[page.Gate] // what a section needs: one load away
	guard atomic.Pointer[guard]
}

// A guard is the data that belongs to a lock.
type guard struct {
	gate *page.Gate
	lock Guard         // kept alive, and on the heap, for the gate to look at
	site finding.Frame // of the first use
	name atomic.Pointer[string]
	at   atomic.Pointer[finding.Frame] // of the lock, if the program has named it

	mu      sync.Mutex // guards the rest
	closed  bool
	classes []*class
	spans   []*span
	runs    []blocks // free blocks
	pages   int
	names   map[uintptr]string // of objects, by their offset
	// namesake is the name of all other objects; "" for the names of their types.
	namesake string
}

// guards finds the guard of a fault by the index of its gate.
var guards sync.Map // uint32 -> *guard

// open returns the guard of a lock, which it makes on the first use.
func open(l Guard) *guard {
	d, _ := l.door()
	if g := d.guard.Load(); g != nil {
		return g
	}
	return makeGuard(l)
}

var making sync.Mutex // so that only one guard is made for a lock

func makeGuard(l Guard) *guard {
	making.Lock()
	defer making.Unlock()
	d, locked := l.door()
	if g := d.guard.Load(); g != nil {
		return g
	}
	if _, quiet := l.(*Foreign); !quiet {
		startReporter()
	}
	gate, err := page.NewGate(&d.latch, locked)
	if err != nil {
		panic("isolate: making a guard: " + err.Error())
	}
	g := &guard{gate: gate, lock: l, site: callerSite()}
	guards.Store(gate.Index(), g)
	d.gate.Store(gate)
	d.guard.Store(g)
	if locked {
		d.latch.Arm(gate)
	}
	return g
}

// callerSite is the first frame outside this package.
func callerSite() finding.Frame {
	pcs := make([]uintptr, 16)
	for _, f := range finding.Frames(pcs[:runtime.Callers(2, pcs)]) {
		if !internalFrame(f) {
			return f
		}
	}
	return finding.Frame{}
}

// settle makes the running goroutine the holder of the gate, whatever it takes.
// False: the guard is closed.
//
//go:noinline
func (d *door) settle(l Guard) bool {
	gate := d.gate.Load()
	if gate == nil {
		gate = open(l).gate
		if page.Enter(gate) {
			return true
		}
	}
	return settled(gate)
}

// enter is settle for a section whose site is known.
func (d *door) enter(l Guard, site [2]uintptr) bool {
	gate := d.gate.Load()
	if gate == nil {
		gate = open(l).gate
	}
	return gate.EnterAt(site) || settled(gate)
}

func settled(gate *page.Gate) bool {
	if !gate.Settle() {
		return false
	}
	if feed.Records() && page.Recorded() {
		// Before the section looks at what careless code has left: the program may
		// crash of it.
		page.Drain(collect)
	}
	return true
}

// close retires the guard. The caller holds the lock, so no section is running.
func (d *door) close() error {
	making.Lock()
	defer making.Unlock()
	g := d.guard.Load()
	if g == nil {
		g = &guard{}
	} else if g.closedNow() {
		return nil
	}
	d.latch.Forget()
	d.gate.Store(page.ClosedGate())
	d.guard.Store(g)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.gate == nil {
		return nil
	}
	guards.Delete(g.gate.Index())
	g.classes, g.spans, g.runs = nil, nil, nil
	if err := g.gate.Close(); err != nil {
		return fmt.Errorf("isolate: returning the memory of a guard: %w", err)
	}
	return nil
}

func (g *guard) closedNow() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// describe is the guard in a finding.
func (g *guard) describe() finding.Guard {
	name := reflect.TypeOf(g.lock).Elem().String()
	if given := g.name.Load(); given != nil {
		name = *given
	}
	site := g.site
	if at := g.at.Load(); at != nil {
		site = *at
	}
	return finding.Guard{Name: name, Site: site}
}
