package drive

import (
	"encoding/binary"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// texts collects the strings that a run loads and stores. An event has their address
// and length alone; the text is taken as long as it is there, and not afterwards from
// the program's source, which has few of them.
type texts struct {
	sites map[uint32]bool // where strings are accessed
	known map[[2]uint64]bool
	list  []trace.Text
}

// A trace has no more texts, and none that are longer.
const (
	maxTexts = 1 << 14
	maxText  = 64
)

func newTexts(sites []trace.Site) *texts {
	t := &texts{sites: map[uint32]bool{}, known: map[[2]uint64]bool{}}
	for i := range sites {
		if sites[i].Type == "string" {
			t.sites[sites[i].ID] = true
		}
	}
	return t
}

// add takes note of the strings of an event.
func (t *texts) add(e *event.Event) {
	if len(e.Before) == 16 && t.sites[e.Site] {
		t.text(e.Before)
		t.text(e.After)
	}
}

func (t *texts) text(value []byte) {
	if len(value) != 16 || len(t.list) == maxTexts {
		return
	}
	at := [2]uint64{binary.LittleEndian.Uint64(value), binary.LittleEndian.Uint64(value[8:])}
	if at[0] == 0 || at[1] == 0 || t.known[at] {
		return
	}
	t.known[at] = true
	text := string(unsafe.Slice(*(**byte)(unsafe.Pointer(&at[0])), min(at[1], maxText)))
	t.list = append(t.list, trace.Text{Addr: at[0], Length: at[1], Text: text})
}
