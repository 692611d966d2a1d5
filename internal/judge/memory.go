package judge

import (
	"fmt"
	"maps"
)

// next splits the first index from the path of an address.
func next(path string) (i int, rest string) {
	return int(path[0])<<16 | int(path[1])<<8 | int(path[2]), path[3:]
}

// object returns what an object holds.
func (s *state) object(o int) value {
	if o >= s.m.initial() {
		return s.heap[o-s.m.initial()]
	}
	if v, ok := s.dirty[o]; ok {
		return v
	}
	return s.m.base[o]
}

// setObject changes what an object holds.
func (s *state) setObject(o int, v value) {
	if o >= s.m.initial() {
		s.heap[o-s.m.initial()] = v
		return
	}
	dirty := maps.Clone(s.dirty)
	if dirty == nil {
		dirty = map[int]value{}
	}
	dirty[o] = v
	s.dirty = dirty
}

// allocate makes a new object.
func (s *state) allocate(v value) int {
	s.heap = append(s.heap, v)
	return s.m.initial() + len(s.heap) - 1
}

// load returns what is at an address that is not nil.
func (s *state) load(a address) value {
	v := s.object(a.object)
	for path := a.path; path != ""; {
		var i int
		i, path = next(path)
		v = v.(aggregate)[i]
	}
	return v
}

// store puts v at an address that is not nil.
func (s *state) store(a address, v value) {
	s.setObject(a.object, replaced(s.object(a.object), a.path, v))
}

// replaced returns a whole with one part of it replaced. Only what leads to the part is
// made anew.
func replaced(whole value, path string, part value) value {
	if path == "" {
		return part
	}
	i, rest := next(path)
	old := whole.(aggregate)
	all := make(aggregate, len(old))
	copy(all, old)
	all[i] = replaced(old[i], rest, part)
	return all
}

// elements returns the elements of a slice.
func (s *state) elements(x slice) []value {
	if x.n == 0 {
		return nil
	}
	return s.load(x.array).(aggregate)[x.from : x.from+x.n]
}

// element returns the address of an element of a slice, by its index in the slice.
func (x slice) element(i int) address { return x.array.part(x.from + i) }

// A mapping is what an object of a map holds: entries in the order of their insertion.
type mapping []entry

type entry struct{ key, held value }

func (m mapping) find(key value) int {
	for i := range m {
		if equal(m[i].key, key) {
			return i
		}
	}
	return -1
}

func (m mapping) set(key, held value) mapping {
	all := make(mapping, len(m), len(m)+1)
	copy(all, m)
	if i := m.find(key); i >= 0 {
		all[i].held = held
		return all
	}
	return append(all, entry{key, held})
}

func (m mapping) without(key value) mapping {
	i := m.find(key)
	if i < 0 {
		return m
	}
	all := make(mapping, 0, len(m)-1)
	return append(append(all, m[:i]...), m[i+1:]...)
}

// An iteration is what an object of an iterator holds.
type iteration struct {
	over mapRef  // 0: a string
	keys []value // that are still to come
	text string
	at   int
}

// hashable panics as the program would if a key cannot be one.
func hashable(key value) {
	if i, ok := key.(iface); ok && i.dynamic != nil {
		if _, isSlice := i.held.(slice); isSlice {
			panic(runtimeError("hash of unhashable type " + i.dynamic.String()))
		}
	}
}

// checked returns an address as one that can be used.
func checked(v value) address {
	a, ok := v.(address)
	if !ok {
		panic(fmt.Sprintf("judge: %T is no address", v))
	}
	if a.object == 0 {
		panic(runtimeError("invalid memory address or nil pointer dereference"))
	}
	return a
}
