package lanes

import (
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// heldLocks follow which locks each goroutine holds. A set of locks has a number, which the steps
// carry: there are few of them, and they come again and again.
type heldLocks struct {
	r   *trace.Reader
	run *Run
	// holds are the locks of each goroutine in the order in which they were taken.
	holds  map[uint32][]hold
	sets   map[string]int
	lockOf map[heldLock]int
}

// A heldLock is a lock as it is shown: the variable, or a name where it is none of the program's.
type heldLock struct {
	variable int
	name     string
	read     bool
}

// A hold is a lock that a goroutine has.
type hold struct {
	addr uint64
	read bool
	lock int // in Run.Locks
	step int // that took it
}

func (h *heldLocks) init(r *trace.Reader, run *Run) {
	*h = heldLocks{r: r, run: run, holds: map[uint32][]hold{}, sets: map[string]int{"[]": 0}, lockOf: map[heldLock]int{}}
	run.Held = append(run.Held, []int{})
}

// before takes away what an event releases: the step itself is the first without it.
func (h *heldLocks) before(e *event.Event) {
	if e.Kind != event.Unlock && e.Kind != event.RUnlock {
		return
	}
	// A lock may be released by another goroutine than the one that took it.
	read := e.Kind == event.RUnlock
	if !h.release(e.G, e.Addr, read) {
		for g := range h.holds {
			if h.release(g, e.Addr, read) {
				break
			}
		}
	}
}

func (h *heldLocks) release(g uint32, addr uint64, read bool) bool {
	list := h.holds[g]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].addr == addr && list[i].read == read {
			h.holds[g] = slices.Delete(slices.Clone(list), i, i+1)
			return true
		}
	}
	return false
}

// after adds what an event has taken; variable is that of the lock, -1 for none.
func (h *heldLocks) after(number int, e *event.Event, variable int) {
	one := heldLock{variable: variable, read: e.Kind == event.RLock || e.Kind == event.TryRLock}
	switch e.Kind {
	case event.Lock, event.RLock:
	case event.TryLock, event.TryRLock:
		if e.Arg == 0 {
			return
		}
	default:
		return
	}
	if variable < 0 {
		one.name = h.name(e.Site)
	}
	lock, ok := h.lockOf[one]
	if !ok {
		lock = len(h.lockOf)
		h.lockOf[one] = lock
	}
	h.holds[e.G] = append(slices.Clone(h.holds[e.G]), hold{e.Addr, one.read, lock, number})
}

// name is what a lock is called that no expression of the program names.
func (h *heldLocks) name(site uint32) string {
	if name, ok := show.LockName(h.r, site); ok {
		return name
	}
	if s, ok := h.r.Site(site); ok && s.Function != "" {
		return "a lock of " + s.Function
	}
	return "a lock"
}

// finish names the locks, when the names of variables are what they stay.
func (h *heldLocks) finish() {
	h.run.Locks = make([]string, len(h.lockOf))
	for one, at := range h.lockOf {
		name := one.name
		if one.variable >= 0 {
			name = h.run.Variables[one.variable]
		}
		if one.read {
			name += " for reading"
		}
		h.run.Locks[at] = name
	}
}

// taken is the step by which a goroutine took a lock that it still has.
func (h *heldLocks) taken(g uint32, addr uint64) (step int, ok bool) {
	for _, one := range h.holds[g] {
		if one.addr == addr {
			return one.step, true
		}
	}
	return 0, false
}

// set is the number of the set of locks that a goroutine holds.
func (h *heldLocks) set(g uint32) int {
	list := h.holds[g]
	if len(list) == 0 {
		return 0
	}
	set := make([]int, len(list))
	for i := range list {
		set[i] = list[i].lock
	}
	key := fmt.Sprint(set)
	at, ok := h.sets[key]
	if !ok {
		at = len(h.run.Held)
		h.sets[key] = at
		h.run.Held = append(h.run.Held, set)
	}
	return at
}
