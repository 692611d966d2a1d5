package mem

import (
	"encoding/binary"
	"fmt"
)

// A Fault is an access that is not allowed.
type Fault struct {
	Addr  uint64
	Write bool
	// Fetch: an instruction was to be read.
	Fetch bool
	// Mapped: there is something, which is protected.
	Mapped bool
}

func (f *Fault) Error() string {
	verb := "reading"
	if f.Write {
		verb = "writing"
	} else if f.Fetch {
		verb = "executing"
	}
	why := "which is not mapped"
	if f.Mapped {
		why = "which is protected"
	}
	return fmt.Sprintf("%s %#x, %s", verb, f.Addr, why)
}

// An Access is a load or store of a watched space.
type Access struct {
	Addr          uint64
	Before, After uint64
	Size          uint8
	Write         bool
}

// Load8, Load16, Load32 and Load64 read a number.
func (s *Space) Load8(addr uint64) uint8 {
	e := &s.view[addr>>pageShift%lines]
	if e.read == addr>>pageShift {
		return e.data[addr&pageMask]
	}
	return uint8(s.load(addr, 1))
}

func (s *Space) Load16(addr uint64) uint16 {
	e := &s.view[addr>>pageShift%lines]
	if off := addr & pageMask; e.read == addr>>pageShift && off <= PageSize-2 {
		return binary.LittleEndian.Uint16(e.data[off : off+2])
	}
	return uint16(s.load(addr, 2))
}

func (s *Space) Load32(addr uint64) uint32 {
	e := &s.view[addr>>pageShift%lines]
	if off := addr & pageMask; e.read == addr>>pageShift && off <= PageSize-4 {
		return binary.LittleEndian.Uint32(e.data[off : off+4])
	}
	return uint32(s.load(addr, 4))
}

func (s *Space) Load64(addr uint64) uint64 {
	e := &s.view[addr>>pageShift%lines]
	if off := addr & pageMask; e.read == addr>>pageShift && off <= PageSize-8 {
		return binary.LittleEndian.Uint64(e.data[off : off+8])
	}
	return s.load(addr, 8)
}

// Store8, Store16, Store32 and Store64 write a number.
func (s *Space) Store8(addr uint64, v uint8) {
	e := &s.view[addr>>pageShift%lines]
	if e.write == addr>>pageShift {
		e.data[addr&pageMask] = v
		return
	}
	s.store(addr, 1, uint64(v))
}

func (s *Space) Store16(addr uint64, v uint16) {
	e := &s.view[addr>>pageShift%lines]
	if off := addr & pageMask; e.write == addr>>pageShift && off <= PageSize-2 {
		binary.LittleEndian.PutUint16(e.data[off:off+2], v)
		return
	}
	s.store(addr, 2, uint64(v))
}

func (s *Space) Store32(addr uint64, v uint32) {
	e := &s.view[addr>>pageShift%lines]
	if off := addr & pageMask; e.write == addr>>pageShift && off <= PageSize-4 {
		binary.LittleEndian.PutUint32(e.data[off:off+4], v)
		return
	}
	s.store(addr, 4, uint64(v))
}

func (s *Space) Store64(addr uint64, v uint64) {
	e := &s.view[addr>>pageShift%lines]
	if off := addr & pageMask; e.write == addr>>pageShift && off <= PageSize-8 {
		binary.LittleEndian.PutUint64(e.data[off:off+8], v)
		return
	}
	s.store(addr, 8, v)
}

// load is a load that the table of recent pages does not answer.
func (s *Space) load(addr uint64, size int) uint64 {
	off := addr & pageMask
	var v uint64
	if off+uint64(size) <= PageSize {
		v = number(s.readable(addr)[off:], size)
	} else {
		// Both pages are looked up before anything is done, for the fault.
		first, second := s.readable(addr), s.readable(addr+uint64(size)-1)
		for i := range size {
			at := off + uint64(i)
			b := first[at&pageMask]
			if at >= PageSize {
				b = second[at&pageMask]
			}
			v |= uint64(b) << (8 * i)
		}
	}
	if s.watched {
		s.log = append(s.log, Access{Addr: addr, Before: v, Size: uint8(size)})
	}
	return v
}

// store is a store that the table of recent pages does not answer.
func (s *Space) store(addr uint64, size int, v uint64) {
	off := addr & pageMask
	if off+uint64(size) <= PageSize {
		data := s.writable(addr)
		if s.watched {
			s.log = append(s.log, Access{Addr: addr, Before: number(data[off:], size), After: v, Size: uint8(size), Write: true})
		}
		for i := range size {
			data[off+uint64(i)] = byte(v >> (8 * i))
		}
		return
	}
	first, second := s.writable(addr), s.writable(addr+uint64(size)-1)
	// Looking up the second may have pushed the first out of the table, no more than that.
	before := uint64(0)
	for i := range size {
		at := off + uint64(i)
		b := &first[at&pageMask]
		if at >= PageSize {
			b = &second[at&pageMask]
		}
		before |= uint64(*b) << (8 * i)
		*b = byte(v >> (8 * i))
	}
	if s.watched {
		s.log = append(s.log, Access{Addr: addr, Before: before, After: v, Size: uint8(size), Write: true})
	}
}

// number is a little-endian number of size bytes.
func number(b []byte, size int) uint64 {
	switch size {
	case 8:
		return binary.LittleEndian.Uint64(b)
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	}
	v := uint64(0)
	for i := range size {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

// readable returns the page of an address that is to be read, or panics with a Fault.
func (s *Space) readable(addr uint64) *[PageSize]byte {
	n := addr >> pageShift
	e := &s.recent[n%lines]
	if e.read == n {
		return e.data
	}
	p := s.pages[n]
	a := s.allowed(addr, Read)
	if p == nil {
		p = s.initial(a, n)
	}
	if e.data != &p.data {
		e.write = impossible
	}
	e.read, e.data = n, &p.data
	return e.data
}

// writable returns the page of an address that is to be written, or panics with a Fault.
func (s *Space) writable(addr uint64) *[PageSize]byte {
	n := addr >> pageShift
	e := &s.recent[n%lines]
	if e.write == n {
		return e.data
	}
	a := s.allowed(addr, Write)
	p := s.pages[n]
	if p == nil {
		p = s.initial(a, n)
	}
	if p.generation != s.generation {
		own := s.fresh()
		own.data = p.data
		s.set(n, own)
		p = own
	}
	if e.data != &p.data {
		e.read = impossible
	}
	if e.data = &p.data; a.Prot&Read != 0 {
		e.read = n
	}
	e.write = n
	if s.code[n] {
		// Every store has to be seen.
		e.write = impossible
		s.codeVersion++
	}
	return &p.data
}

// initial is the page of an area that was not written yet.
func (s *Space) initial(a *Area, number uint64) *page {
	if a.File == nil {
		return zeroes
	}
	return a.File.page(a.Offset + int64(number<<pageShift-a.Start))
}

// stackRoom is how far below the stack pointer's area an access extends it.
const stackRoom = 1 << 20

// allowed returns the area of an address at which prot is allowed, or panics.
func (s *Space) allowed(addr uint64, prot uint8) *Area {
	i := s.find(addr)
	if i < len(s.areas) {
		a := &s.areas[i]
		if a.Start > addr && a.Grows && a.Start-addr <= stackRoom && a.Prot&prot != 0 && (i == 0 || s.areas[i-1].End+stackRoom <= addr) {
			s.replace(func(areas []Area) []Area {
				areas[i].Start = addr &^ pageMask
				return areas
			})
			return &s.areas[i]
		}
		if a.Start <= addr {
			// What can be written can be read, as on the machine.
			if a.Prot&prot != 0 || prot == Read && a.Prot&(Write|Exec) != 0 {
				return a
			}
			s.fail(Fault{Addr: addr, Write: prot == Write, Fetch: prot == Exec, Mapped: true})
		}
	}
	s.fail(Fault{Addr: addr, Write: prot == Write, Fetch: prot == Exec})
	return nil
}

func (s *Space) fail(f Fault) {
	s.fault = f
	panic(&s.fault)
}

// Fetch reads instructions: as many bytes as fit into code and may be executed. It
// panics with a Fault if none may.
func (s *Space) Fetch(addr uint64, code []byte) int {
	got := 0
	for got < len(code) {
		at := addr + uint64(got)
		i := s.find(at)
		if i >= len(s.areas) || s.areas[i].Start > at || s.areas[i].Prot&Exec == 0 {
			if got == 0 {
				s.allowed(addr, Exec)
			}
			return got
		}
		n := at >> pageShift
		if !s.code[n] {
			s.code[n] = true
			s.recent[n%lines].write = impossible
		}
		p := s.pages[n]
		if p == nil {
			p = s.initial(&s.areas[i], n)
		}
		got += copy(code[got:], p.data[at&pageMask:])
	}
	return got
}

// FileCode returns the file and the offset that the instruction at addr comes from, if nothing
// was written to its page since. A store to the page is noticed from then on.
func (s *Space) FileCode(addr uint64) (file *File, offset int64) {
	i, n := s.find(addr), addr>>pageShift
	if i >= len(s.areas) || s.areas[i].Start > addr || s.areas[i].Prot&Exec == 0 || s.areas[i].File == nil || s.pages[n] != nil {
		return nil, 0
	}
	s.code[n] = true
	s.recent[n%lines].write = impossible
	return s.areas[i].File, s.areas[i].Offset + int64(addr-s.areas[i].Start)
}

// Watch has every access from now on written down, or no longer.
func (s *Space) Watch(on bool) {
	s.watched = on
	if s.view = &s.recent; on {
		s.view = never
	}
}

// Log returns the accesses since the last call of Forget. They are valid until then.
func (s *Space) Log() []Access { return s.log }

// Forget empties the log.
func (s *Space) Forget() { s.log = s.log[:0] }
