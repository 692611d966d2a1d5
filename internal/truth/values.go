package truth

import (
	"bytes"
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// wrongValue follows a recorded run, and says which access did not find what the last one
// before it left in its memory; "" if there is none.
func wrongValue(file string) (what string, err error) {
	r, err := trace.Open(file)
	if err != nil {
		return "", err
	}
	defer r.Close()
	memory := map[uint64]byte{} // what is known of it
	c := r.Cursor(trace.Filter{})
	for c.Next() {
		e := c.Event()
		if e.Kind == event.Alloc {
			for a := range uint64(e.Size) {
				delete(memory, e.Addr+a)
			}
			continue
		}
		if !e.Kind.IsMemory() && !e.Kind.IsAtomic() || len(e.Before) == 0 {
			continue
		}
		known := bytes.Clone(e.Before)
		for i := range known {
			if b, ok := memory[e.Addr+uint64(i)]; ok {
				known[i] = b
			}
		}
		if !bytes.Equal(known, e.Before) {
			site, _ := r.Site(e.Site)
			return fmt.Sprintf("event %d, %s of %s at line %d: % x was there, and % x is recorded", e.Seq, e.Kind, site.Expr, site.Line, known, e.Before), nil
		}
		after := e.Before
		if len(e.After) > 0 {
			after = e.After
		}
		for i, b := range after {
			memory[e.Addr+uint64(i)] = b
		}
		// Of a wide value only the beginning is recorded.
		for i := uint64(len(after)); i < uint64(e.Size); i++ {
			delete(memory, e.Addr+i)
		}
	}
	return "", c.Err()
}
