package drive

import (
	"encoding/binary"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// texts collects the strings that a run loads and stores, of which an event has the
// address and length alone. Which values are strings is known when the run is over: to
// read the table of sites before it would do things for the first time in the process
// that the run then does not do. The strings are still there, since nothing is collected
// meanwhile.
type texts struct {
	values map[value]bool
	list   []value // in the order of the run
}

// A value is as large as a string, and was loaded or stored at a site; or is known to be one.
type value struct {
	site         uint32
	isString     bool
	addr, length uint64
}

// A trace has no more texts, and none that are longer.
// Two words whose second is more than maxLength are taken for numbers.
const (
	maxTexts  = 1 << 14
	maxText   = 64
	maxLength = 1 << 16
)

// add takes note of the values of an event.
func (t *texts) add(e *event.Event) {
	if e.Kind == event.MapRead || e.Kind == event.MapWrite {
		for _, memory := range [][]byte{e.Before, e.After} {
			if entry, ok := event.EntryOf(memory); ok {
				if entry.KeyKind == stringKind {
					t.note(e.Site, true, entry.Key)
				}
				if entry.ValueKind == stringKind {
					t.note(e.Site, true, entry.Value)
				}
			}
		}
		return
	}
	if len(e.Before) == 16 {
		t.note(e.Site, false, e.Before)
		t.note(e.Site, false, e.After)
	}
}

// stringKind is the kind of a string, as package reflect numbers it.
const stringKind = 24

func (t *texts) note(site uint32, isString bool, memory []byte) {
	if len(memory) != 16 || len(t.list) == maxTexts {
		return
	}
	v := value{site, isString, binary.LittleEndian.Uint64(memory), binary.LittleEndian.Uint64(memory[8:])}
	if v.addr == 0 || v.length-1 >= maxLength || t.values[v] {
		return
	}
	if t.values == nil {
		t.values = map[value]bool{}
	}
	t.values[v] = true
	t.list = append(t.list, v)
}

// of returns the texts of those values that are strings.
func (t *texts) of(sites []trace.Site) []trace.Text {
	ofStrings := map[uint32]bool{}
	for i := range sites {
		ofStrings[sites[i].ID] = sites[i].Type == "string"
	}
	var all []trace.Text
	known := map[[2]uint64]bool{}
	for _, v := range t.list {
		at := [2]uint64{v.addr, v.length}
		if !v.isString && !ofStrings[v.site] || known[at] {
			continue
		}
		known[at] = true
		text := string(unsafe.Slice(*(**byte)(unsafe.Pointer(&v.addr)), min(v.length, maxText)))
		all = append(all, trace.Text{Addr: v.addr, Length: v.length, Text: text})
	}
	return all
}
