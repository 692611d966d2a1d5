package mem

// ReadAt fills b from memory. It reports whether all of it may be read; what is not
// mapped leaves the rest of b as it was.
func (s *Space) ReadAt(b []byte, addr uint64) (ok bool) {
	return s.each(addr, len(b), s.readable, func(page []byte, done int) { copy(b[done:], page) })
}

// WriteAt writes b to memory. It reports whether all of it may be written.
func (s *Space) WriteAt(b []byte, addr uint64) (ok bool) {
	return s.each(addr, len(b), s.writable, func(page []byte, done int) { copy(page, b[done:]) })
}

// Poke writes b whatever the protection is: into memory that is being prepared.
func (s *Space) Poke(b []byte, addr uint64) (ok bool) {
	poke := func(addr uint64) *[PageSize]byte {
		i, n := s.find(addr), addr>>pageShift
		if i >= len(s.areas) || s.areas[i].Start > addr {
			s.fail(Fault{Addr: addr, Write: true})
		}
		p := s.pages[n]
		if p == nil {
			p = s.initial(&s.areas[i], n)
		}
		if p.generation != s.generation {
			own := s.fresh()
			own.data = p.data
			s.set(n, own)
			p = own
			s.recent[n%lines] = line{read: impossible, write: impossible}
		}
		if s.code[n] {
			s.codeVersion++
		}
		return &p.data
	}
	return s.each(addr, len(b), poke, func(page []byte, done int) { copy(page, b[done:]) })
}

// each calls f with the pieces of a range, page by page.
func (s *Space) each(addr uint64, size int, look func(uint64) *[PageSize]byte, f func(page []byte, done int)) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, isFault := r.(*Fault); !isFault {
				panic(r)
			}
			ok = false
		}
	}()
	for done := 0; done < size; {
		at := addr + uint64(done)
		off := at & pageMask
		piece := look(at)[off:]
		piece = piece[:min(len(piece), size-done)]
		f(piece, done)
		done += len(piece)
	}
	return true
}

// String reads a string that ends in a zero byte, of at most max bytes.
func (s *Space) String(addr uint64, max int) (string, bool) {
	var b []byte
	for len(b) < max {
		room := min(PageSize-int(addr&pageMask), max-len(b))
		piece := make([]byte, room)
		if !s.ReadAt(piece, addr) {
			return "", false
		}
		for i, c := range piece {
			if c == 0 {
				return string(append(b, piece[:i]...)), true
			}
		}
		b = append(b, piece...)
		addr += uint64(room)
	}
	return string(b), true
}

// Word reads a number of 8 bytes outside of any instruction.
func (s *Space) Word(addr uint64) (uint64, bool) {
	var b [8]byte
	ok := s.ReadAt(b[:], addr)
	return number(b[:], 8), ok
}

// Probe panics with a Fault unless size bytes at addr, of at most a page, may be written:
// before an instruction that reads first changes anything.
func (s *Space) Probe(addr uint64, size uint8) {
	s.writable(addr)
	if end := addr + uint64(size) - 1; end>>pageShift != addr>>pageShift {
		s.writable(end)
	}
}

// Peek fills b from memory whatever the protection is.
func (s *Space) Peek(b []byte, addr uint64) (ok bool) {
	peek := func(addr uint64) *[PageSize]byte {
		i, n := s.find(addr), addr>>pageShift
		if i >= len(s.areas) || s.areas[i].Start > addr {
			s.fail(Fault{Addr: addr})
		}
		if p := s.pages[n]; p != nil {
			return &p.data
		}
		return &s.initial(&s.areas[i], n).data
	}
	return s.each(addr, len(b), peek, func(page []byte, done int) { copy(b[done:], page) })
}
