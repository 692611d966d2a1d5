package aside

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A mirror is a word on a page that holds a pointer, and what the collector sees of it. The
// package comment says why an entry may be taken away, and when.
type mirror struct {
	// The word in both views. They are the same for a word that is not on a page.
	shared, own *uintptr

	// pair has the entry of the last store through the own view, and room for that of the
	// next. A store has both to itself; none waits for them.
	use  atomic.Uint32 // a pairUse
	pair [2]unsafe.Pointer
	// waiting has the entries of all other stores. Most words never have any.
	waiting atomic.Pointer[entries]
}

// How the pair is used.
const (
	pairFree  = iota
	pairTaken // by a store, or to be tidied
	pairStale // the same, and what is in it may not be on the page any more
)

// entries are those of stores that may have to wait at the page.
type entries struct {
	kept atomic.Int32 // those that are not nil
	mu   sync.Mutex   // guards the rest; never held at a page that can be protected
	list []entry
}

// An entry is free if it is nil and not busy.
type entry struct {
	pointer unsafe.Pointer
	busy    bool // its store may still be to come
}

// storeOwn stores through the own view, which never waits.
func (m *mirror) storeOwn(p unsafe.Pointer) {
	if !m.use.CompareAndSwap(pairFree, pairTaken) {
		m.storeWaiting(m.own, p)
		return
	}
	// What the page holds may have its only entry in the pair.
	next := 0
	if m.pair[0] != nil && uintptr(m.pair[0]) == atomic.LoadUintptr(m.own) {
		next = 1
	}
	m.pair[next] = p
	atomic.SwapUintptr(m.own, uintptr(p))
	m.pair[1-next] = nil
	if m.use.Swap(pairFree) == pairStale {
		m.tidyPair()
	}
	if w := m.waiting.Load(); w != nil && w.kept.Load() > 0 {
		w.tidy(m.own)
	}
	runtime.KeepAlive(m)
}

// storeShared stores through the shared view, where it may have to wait.
func (m *mirror) storeShared(p unsafe.Pointer) { m.storeWaiting(m.shared, p) }

// storeWaiting stores with an entry that is nobody else's.
func (m *mirror) storeWaiting(word *uintptr, p unsafe.Pointer) {
	w := m.waiting.Load()
	if w == nil {
		m.waiting.CompareAndSwap(nil, new(entries))
		w = m.waiting.Load()
	}
	place := w.add(p)
	atomic.SwapUintptr(word, uintptr(p))
	w.done(place, m.own)
	m.tidyPair()
	runtime.KeepAlive(m)
}

// add makes an entry, and returns its place.
func (w *entries) add(p unsafe.Pointer) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p != nil {
		w.kept.Add(1)
	}
	for i := range w.list {
		if e := &w.list[i]; e.pointer == nil && !e.busy {
			*e = entry{p, true}
			return i
		}
	}
	w.list = append(w.list, entry{p, true})
	return len(w.list) - 1
}

// done says that the store of an entry has been made.
func (w *entries) done(place int, own *uintptr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list[place].busy = false
	w.tidyLocked(own)
}

// tidy takes away the entries that the page does not hold.
func (w *entries) tidy(own *uintptr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tidyLocked(own)
}

func (w *entries) tidyLocked(own *uintptr) {
	for i := range w.list {
		if e := &w.list[i]; !e.busy && e.pointer != nil && uintptr(e.pointer) != atomic.LoadUintptr(own) {
			e.pointer = nil
			w.kept.Add(-1)
		}
	}
}

// tidyPair takes away what is in the pair and the page does not hold, or has the store do so
// that has the pair.
func (m *mirror) tidyPair() {
	for !m.use.CompareAndSwap(pairFree, pairTaken) {
		if m.use.CompareAndSwap(pairTaken, pairStale) || m.use.Load() == pairStale {
			return
		}
	}
	for {
		for i, p := range m.pair {
			if p != nil && uintptr(p) != atomic.LoadUintptr(m.own) {
				m.pair[i] = nil
			}
		}
		// A store that finds the pair free leaves nothing stale in it.
		if m.use.Swap(pairFree) != pairStale || !m.use.CompareAndSwap(pairFree, pairTaken) {
			return
		}
	}
}
