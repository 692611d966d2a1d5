package truth

import (
	"bytes"
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// wrongValue follows a recorded run, and says which access did not find what the last one
// before it left in its memory, or in the map for its key; "" if there is none.
func wrongValue(file string) (what string, err error) {
	r, err := trace.Open(file)
	if err != nil {
		return "", err
	}
	defer r.Close()
	k := knowledge{memory: map[uint64]byte{}, maps: map[uint64]map[string][]byte{}}
	c := r.Cursor(trace.Filter{})
	for c.Next() {
		e := c.Event()
		known := k.expected(e)
		if !bytes.Equal(known, e.Before) {
			site, _ := r.Site(e.Site)
			return fmt.Sprintf("event %d, %s of %s at line %d: % x was there, and % x is recorded", e.Seq, e.Kind, site.Expr, site.Line, known, e.Before), nil
		}
		k.learn(e)
	}
	return "", c.Err()
}

// A knowledge is what is known of the memory of a run, and of its maps, by address and key.
type knowledge struct {
	memory map[uint64]byte
	maps   map[uint64]map[string][]byte
}

// expected is what an access must find; as far as nothing is known, that is what it found.
func (k *knowledge) expected(e *event.Event) []byte {
	if isMapAccess(e) {
		if entry, ok := event.EntryOf(e.Before); ok {
			if known, ok := k.maps[e.Addr][string(entry.Key)]; ok {
				return known
			}
		}
		return e.Before
	}
	if !e.Kind.IsMemory() && !e.Kind.IsAtomic() || len(e.Before) == 0 {
		return e.Before
	}
	known := bytes.Clone(e.Before)
	for i := range known {
		if b, ok := k.memory[e.Addr+uint64(i)]; ok {
			known[i] = b
		}
	}
	return known
}

func isMapAccess(e *event.Event) bool { return e.Kind == event.MapRead || e.Kind == event.MapWrite }

// learn takes note of what an event leaves.
func (k *knowledge) learn(e *event.Event) {
	switch {
	case e.Kind == event.Alloc:
		for a := range uint64(e.Size) {
			delete(k.memory, e.Addr+a)
			delete(k.maps, e.Addr+a)
		}
		return
	case isMapAccess(e):
		k.learnEntry(e)
		return
	case !e.Kind.IsMemory() && !e.Kind.IsAtomic() || len(e.Before) == 0:
		return
	}
	after := e.Before
	if len(e.After) > 0 {
		after = e.After
	}
	for i, b := range after {
		k.memory[e.Addr+uint64(i)] = b
	}
	// Of a wide value only the beginning is recorded.
	for i := uint64(len(after)); i < uint64(e.Size); i++ {
		delete(k.memory, e.Addr+i)
	}
}

// learnEntry takes note of what an access to a map leaves for its key. One that writes without a key
// may have changed all entries.
func (k *knowledge) learnEntry(e *event.Event) {
	before, ok := event.EntryOf(e.Before)
	if !ok || len(before.Key) >= event.MaxKey { // of a longer key only the beginning is recorded
		if e.Kind == event.MapWrite {
			delete(k.maps, e.Addr)
		}
		return
	}
	left := e.Before
	if e.Kind == event.MapWrite {
		left = e.After
		if after, ok := event.EntryOf(left); !ok || after.Held && len(after.Value) == 0 {
			delete(k.maps[e.Addr], string(before.Key)) // what it was set to is not known
			return
		}
	}
	if k.maps[e.Addr] == nil {
		k.maps[e.Addr] = map[string][]byte{}
	}
	k.maps[e.Addr][string(before.Key)] = bytes.Clone(left)
}
