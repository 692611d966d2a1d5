package tolerate

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// Entries are the copies that a straight section has of entries of maps, as a [Batch] has of memory. An entry
// that is not there has a copy, too, which says so.
//
//	x.m[k]              s.Get(x.m, k)
//	v, ok := x.m[k]     v, ok := s.Find(x.m, k)
//	x.m[k] = v          s.Put(x.m, k, v)
//	x.m[k] += 2         s.Update(x.m, k, func(e int) int { return e + 2 })
//	delete(x.m, k)      s.Delete(x.m, k)
//	x.mu.Unlock()       s.Publish(&label); x.mu.Unlock()
//
// What is done elsewhere to the map must find all published. Careless code that uses the map while the
// section publishes, or takes a copy, may end the program, as it may without copies. Keys must have no
// interface in them: where one cannot be a key, what a map panics with depends on what is done.
type Entries[K comparable, V any] struct {
	N           int
	in          [Room]map[K]V
	key         [Room]K
	own, before [Room]V
	has, had    [Room]bool
	written     [Room]bool
}

// of returns the number of the copy of an entry. A key that is not equal to itself has a new entry each time.
func (e *Entries[K, V]) of(m map[K]V, k K) int {
	for i := range e.N {
		if SamePointer(e.in[i], m) && e.key[i] == k {
			return i
		}
	}
	v, ok := m[k]
	i := e.N
	e.in[i], e.key[i], e.own[i], e.before[i] = m, k, v, v
	e.has[i], e.had[i], e.written[i] = ok, ok, false
	e.N++
	return i
}

// Get is m[k].
func (e *Entries[K, V]) Get(m map[K]V, k K) V { return e.own[e.of(m, k)] }

// Find is m[k] with whether there is such an entry.
func (e *Entries[K, V]) Find(m map[K]V, k K) (V, bool) {
	i := e.of(m, k)
	return e.own[i], e.has[i]
}

// Put is m[k] = v.
func (e *Entries[K, V]) Put(m map[K]V, k K, v V) {
	if m == nil {
		m[k] = v // panics
	}
	e.put(e.of(m, k), k, v)
}

// put has a copy be what the section writes. Of keys that are equal, such as 0 and -0, the last one stays in the map.
func (e *Entries[K, V]) put(i int, k K, v V) {
	e.key[i], e.own[i], e.has[i], e.written[i] = k, v, true, true
}

// Update is m[k] = change(m[k]).
func (e *Entries[K, V]) Update(m map[K]V, k K, change func(V) V) {
	i := e.of(m, k)
	v := change(e.own[i])
	if m == nil {
		m[k] = v // panics
	}
	e.put(i, k, v)
}

// Delete is delete(m, k).
func (e *Entries[K, V]) Delete(m map[K]V, k K) {
	i := e.of(m, k)
	var zero V
	e.own[i], e.has[i], e.written[i] = zero, false, true
}

// Publish makes the maps have what the section has made of their entries.
func (e *Entries[K, V]) Publish(l *Label) {
	t := typeOf[V]()
	for i := range e.N {
		e.publish(i, t, l)
	}
	e.N = 0
}

func (e *Entries[K, V]) publish(i int, t *typed, l *Label) {
	m, k := e.in[i], e.key[i]
	now, there := m[k]
	ours := e.has[i] != e.had[i] || !t.equal(unsafe.Pointer(&e.own[i]), unsafe.Pointer(&e.before[i]))
	theirs := there != e.had[i] || !t.equal(unsafe.Pointer(&now), unsafe.Pointer(&e.before[i]))
	value := e.own[i]
	if theirs {
		value = e.settle(i, now, ours, t, l)
	}
	switch {
	case !e.written[i] || theirs && !ours:
	case e.has[i]:
		m[k] = value
	case there:
		delete(m, k)
	}
}

// settle returns what becomes of an entry that careless code has changed, if the section publishes anything.
// Where one of the two has made the entry or removed it, the section's stands.
func (e *Entries[K, V]) settle(i int, now V, ours bool, t *typed, l *Label) V {
	if ours && e.has[i] && e.had[i] {
		theirs := new(V)
		*theirs = now
		if r := settled(theirs, e.own[i], e.before[i], l.Blind, l.policy(t), t); r != nil {
			record("", []*race{r})
		}
		return *theirs
	}
	outcome := finding.Tolerated
	if ours {
		outcome = finding.Resolved
	}
	record("", []*race{{policy: l.policy(t), typed: t, classes: classify(ours, true, false), outcome: outcome}})
	return e.own[i]
}

// equal compares two copies of a variable.
func (t *typed) equal(a, b unsafe.Pointer) bool {
	if t.bulk {
		return unsafe.String((*byte)(a), t.size) == unsafe.String((*byte)(b), t.size)
	}
	for _, u := range t.units {
		if !u.kind.equal(unsafe.Add(a, u.offset), unsafe.Add(b, u.offset)) {
			return false
		}
	}
	return true
}
