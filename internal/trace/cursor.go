package trace

import (
	"slices"
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A Filter chooses events: those that meet every condition that is set.
type Filter struct {
	Goroutines []uint32
	Kinds      []event.Kind
	Sites      []uint32
	// Addr and Size are memory that the event must share a byte with; Size 0 counts
	// as 1 if Addr is set. Operations on locks, channels and so on are at the one
	// byte of their address. The address of a Call is none of memory.
	Addr, Size uint64
	// First and Last bound Seq, both included; Last 0 is no bound.
	First, Last uint64
}

// match is a Filter made quick to ask.
type match struct {
	gs          []uint32
	gBits       uint64
	kinds       kindSet
	anySite     bool
	sites       map[uint32]bool
	lo, hi      uint64 // of memory, if hasAddr
	hasAddr     bool
	first, last uint64
}

func (f *Filter) compile() match {
	m := match{gs: f.Goroutines, kinds: setOf(f.Kinds...), anySite: len(f.Sites) == 0, first: f.First, last: f.Last}
	for _, g := range m.gs {
		m.gBits |= 1 << (g % 64)
	}
	if len(f.Kinds) == 0 {
		m.kinds = 1<<64 - 1
	}
	if !m.anySite {
		m.sites = make(map[uint32]bool, len(f.Sites))
		for _, s := range f.Sites {
			m.sites[s] = true
		}
	}
	if f.Addr != 0 || f.Size != 0 {
		m.hasAddr, m.lo, m.hi = true, f.Addr, f.Addr+max(f.Size, 1)-1
		if m.hi < m.lo {
			m.hi = 1<<64 - 1
		}
	}
	if m.last == 0 {
		m.last = 1<<64 - 1
	}
	return m
}

func (m *match) event(e *event.Event) bool {
	switch {
	case !m.kinds.has(e.Kind), e.Seq < m.first, e.Seq > m.last:
		return false
	case len(m.gs) > 0 && !slices.Contains(m.gs, e.G):
		return false
	case !m.anySite && !m.sites[e.Site]:
		return false
	case m.hasAddr && (!hasMemory(e) || e.Addr > m.hi || lastByte(e.Addr, e.Size) < m.lo):
		return false
	}
	return true
}

// core reports false if no event of the block matches.
func (m *match) core(c *core) bool {
	return c.kinds&m.kinds != 0 && c.first <= m.last && c.last >= m.first &&
		(len(m.gs) == 0 || c.gs&m.gBits != 0) &&
		(!m.hasAddr || c.addrs.overlaps(m.lo, m.hi))
}

// summary reports false if no event of the block matches.
func (m *match) summary(s *summary) bool {
	if len(m.gs) > 0 {
		there := false
		for _, g := range m.gs {
			_, ok := slices.BinarySearchFunc(s.goroutines, g, func(t tally, g uint32) int { return int(int64(t.g) - int64(g)) })
			there = there || ok
		}
		if !there {
			return false
		}
	}
	if !m.anySite {
		there := false
		for id := range m.sites {
			there = there || s.sites.has(uint64(id))
		}
		if !there {
			return false
		}
	}
	if m.hasAddr {
		switch kinds := m.kinds & s.kinds; {
		case kinds&^writes == 0:
			return s.written.mayOverlap(m.lo, m.hi)
		case kinds&^setOf(event.Alloc) == 0:
			return s.allocated.mayOverlap(m.lo, m.hi)
		}
		return s.touched.mayOverlap(m.lo, m.hi)
	}
	return true
}

// mayHave reports false only if no event of block i matches. Where the summary
// cannot be read, the events themselves may still be.
func (r *Reader) mayHave(i int, m *match) bool {
	if !m.core(&r.index.blocks[i]) {
		return false
	}
	if len(m.gs) == 0 && m.anySite && !m.hasAddr {
		return true
	}
	s, err := r.summary(i)
	return err != nil || s == nil || m.summary(s)
}

// A Cursor stands between two events of a trace, and moves over those that match
// its filter.
//
//	c := r.Cursor(trace.Filter{Goroutines: []uint32{3}})
//	for c.Next() {
//		use(c.Event())
//	}
//	if err := c.Err(); err != nil { ... }
type Cursor struct {
	r     *Reader
	m     match
	block int // the block of the event after the cursor
	at    int // its index in the block, or the block's length
	e     *event.Event
	err   error

	// open is the block numbered opened, so that events of one block are had without
	// asking for it again.
	open   *block
	opened int
}

// Cursor returns a Cursor before the first event.
func (r *Reader) Cursor(f Filter) *Cursor {
	c := &Cursor{r: r, m: f.compile()}
	c.Seek(c.m.first)
	return c
}

// Seek moves before the first event whose Seq is seq or higher, and forgets an
// error.
func (c *Cursor) Seek(seq uint64) {
	c.e, c.err = nil, nil
	c.block, c.at = c.r.find(seq), 0
	if c.block == len(c.r.index.blocks) || c.r.index.blocks[c.block].first >= seq {
		return
	}
	b, err := c.r.block(c.block)
	if err != nil {
		c.err = err
		return
	}
	c.at = sort.Search(len(b.events), func(i int) bool { return b.events[i].Seq >= seq })
}

// SeekEnd moves behind the last event, and forgets an error.
func (c *Cursor) SeekEnd() {
	c.e, c.err = nil, nil
	c.block, c.at = len(c.r.index.blocks), 0
}

// Next moves over the next event that matches. It returns false if there is none,
// or at an error.
func (c *Cursor) Next() bool {
	c.e = nil
	for c.err == nil && c.block < len(c.r.index.blocks) {
		if c.at < int(c.r.index.blocks[c.block].count) && c.enter() {
			for c.at < len(c.open.events) {
				e := &c.open.events[c.at]
				c.at++
				if c.m.event(e) {
					c.e = e
					return true
				}
			}
		}
		if c.err != nil || c.r.index.blocks[c.block].last >= c.m.last {
			return false
		}
		c.block, c.at = c.block+1, 0
	}
	return false
}

// Prev moves back over the nearest event that matches. It returns false if there is
// none, or at an error.
func (c *Cursor) Prev() bool {
	c.e = nil
	for c.err == nil {
		if c.at > 0 && c.enter() {
			for c.at > 0 {
				c.at--
				if e := &c.open.events[c.at]; c.m.event(e) {
					c.e = e
					return true
				}
			}
		}
		if c.err != nil || c.block == 0 || c.block < len(c.r.index.blocks) && c.r.index.blocks[c.block].first <= c.m.first {
			return false
		}
		c.block--
		c.at = int(c.r.index.blocks[c.block].count)
	}
	return false
}

// enter opens the block the cursor is in. It returns false if no event of it can
// match, or at an error.
func (c *Cursor) enter() bool {
	if c.open != nil && c.opened == c.block {
		return true
	}
	if !c.r.mayHave(c.block, &c.m) {
		return false
	}
	b, err := c.r.block(c.block)
	if err != nil {
		c.err = err
		return false
	}
	c.open, c.opened = b, c.block
	return true
}

// Event returns the event that Next or Prev moved over last. It stays valid, and
// must not be modified.
func (c *Cursor) Event() *event.Event { return c.e }

// Err returns what ended the iteration, or nil if that was the end of the trace.
// After a [CorruptError] that names the events that are lost, Seek can move beyond
// them and the iteration can go on.
func (c *Cursor) Err() error { return c.err }
