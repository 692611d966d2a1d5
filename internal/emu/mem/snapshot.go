package mem

import "maps"

// A change is a page that became another one, nil if there was none.
type change struct {
	number   uint64
	old, new *page
}

// set makes p the page of that number, and writes it down.
func (s *Space) set(number uint64, p *page) {
	s.journal = append(s.journal, change{number, s.pages[number], p})
	if p == nil {
		delete(s.pages, number)
	} else {
		s.pages[number] = p
	}
}

// drop forgets a page.
func (s *Space) drop(number uint64) {
	if s.pages[number] != nil {
		s.set(number, nil)
	}
}

// A Snapshot is a state of a space that it can go back to.
type Snapshot struct {
	areas      []Area
	mark       int
	executable uint64
}

// Snapshot returns the present state. Restoring an older snapshot invalidates it.
func (s *Space) Snapshot() Snapshot {
	s.next()
	return Snapshot{areas: s.areas, mark: len(s.journal), executable: executable(s.areas)}
}

// next starts a new generation: all pages there are become read-only.
func (s *Space) next() {
	s.generation = generations.Add(1)
	s.recent.clear()
}

// Restore makes the state that of a snapshot, which stays valid.
func (s *Space) Restore(to Snapshot) {
	for i := len(s.journal) - 1; i >= to.mark; i-- {
		c := s.journal[i]
		if c.old == nil {
			delete(s.pages, c.number)
		} else {
			s.pages[c.number] = c.old
		}
		// A page that was made after the snapshot, and after the last clone, is known to
		// this journal alone.
		if c.new != nil && c.new.generation > s.cloned && len(s.free) < 1024 {
			s.free = append(s.free, c.new)
		}
		s.journal[i] = change{}
	}
	s.journal = s.journal[:to.mark]
	if executable(s.areas) != to.executable {
		s.codeVersion++
		clear(s.code)
	}
	s.areas = to.areas
	s.next()
}

// Clone returns an independent space with the same contents. Snapshots of the one are
// not snapshots of the other.
func (s *Space) Clone() *Space {
	s.cloned = s.generation
	s.next()
	c := NewSpace()
	c.areas = s.areas
	c.pages = maps.Clone(s.pages)
	return c
}

// fresh returns a page of this generation, with any contents.
func (s *Space) fresh() *page {
	if n := len(s.free); n > 0 {
		p := s.free[n-1]
		s.free = s.free[:n-1]
		p.generation = s.generation
		return p
	}
	return &page{generation: s.generation}
}
