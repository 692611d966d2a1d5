package tolerate

import (
	"errors"
	"slices"
	"sync"

	"github.com/cofferdam-go/cofferdam/internal/goroutine"
)

var errIdle = errors.New("tolerate: use of a guarded variable outside a section: call Lock first, and before that Guard")

// An overlap is a variable that several locks guard.
type overlap struct {
	mu    sync.Mutex
	live  []*span
	spare []*span
	fresh func() *span
}

// A span is the time from the first Lock to the last Unlock in which a goroutine
// holds any of the locks, with the copies for it.
type span struct {
	cell      *cell
	goroutine uint64
	sections  int
}

// enter begins a section of one of the locks. Its cell finds the copies in the
// span's.
func (o *overlap) enter(c *cell) {
	id := goroutine.ID()
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.live, func(s *span) bool { return s.goroutine == id })
	if i < 0 {
		s := o.unused()
		s.goroutine = id
		s.cell.take()
		i = len(o.live)
		o.live = append(o.live, s)
	}
	o.live[i].sections++
	c.host = o.live[i].cell
}

func (o *overlap) unused() *span {
	if n := len(o.spare); n > 0 {
		s := o.spare[n-1]
		o.spare = o.spare[:n-1]
		return s
	}
	return o.fresh()
}

// leave ends the section. It goes by the cell and not by the goroutine, because a
// lock may be released by another than took it.
func (o *overlap) leave(c *cell) *race {
	if c.host == nil { // shared since the section began
		return c.settle()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.live, func(s *span) bool { return s.cell == c.host })
	c.host = nil
	s := o.live[i]
	if s.sections--; s.sections > 0 {
		return nil
	}
	o.live = slices.Delete(o.live, i, i+1)
	o.spare = append(o.spare, s)
	return s.cell.settle()
}

// overlapOf returns the overlap of a variable, or nil. The caller holds g.mu.
func (g *guard) overlapOf(c *cell) *overlap {
	for _, v := range *g.vars.Load() {
		if v.cell == c {
			return v.shared
		}
	}
	return nil
}

// touch notes that the copy is going to be used.
func (v guarded) touch() {
	c := v.cell
	if c.host != nil {
		c = c.host
	}
	if c.state == untouched {
		c.state = touched
	}
}
