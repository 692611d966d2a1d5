package trace

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A Difference is the first one between two traces.
type Difference struct {
	A, B *event.Event // nil where a trace has no more events
	What string
	How  string // what differs, without which events
}

func (d *Difference) String() string { return d.What }

// Compare compares two traces event by event, up to a renaming of addresses and sites, see
// [Matcher]: of one program, or of one before and after it was edited. It returns nil if they
// are the same run. It needs memory in proportion to the number of addresses, not of events.
func Compare(a, b *Reader) (*Difference, error) {
	m := NewMatcher()
	m.a.learn(a)
	m.b.learn(b)
	m.a.places, m.b.places = a.places(), b.places()
	ca, cb := a.Cursor(Filter{}), b.Cursor(Filter{})
	for {
		moreA, moreB := ca.Next(), cb.Next()
		if err := ca.Err(); err != nil {
			return nil, fmt.Errorf("the first trace: %w", err)
		}
		if err := cb.Err(); err != nil {
			return nil, fmt.Errorf("the second trace: %w", err)
		}
		ea, eb := ca.Event(), cb.Event()
		switch {
		case !moreA && !moreB:
			return nil, nil
		case !moreA:
			return &Difference{B: eb, What: "the first trace has ended, the second goes on with " + b.describe(eb), How: "one run is longer"}, nil
		case !moreB:
			return &Difference{A: ea, What: "the second trace has ended, the first goes on with " + a.describe(ea), How: "one run is longer"}, nil
		}
		if what := m.Match(ea, eb); what != "" {
			return &Difference{ea, eb, fmt.Sprintf("%s differs: %s", a.describe(ea), what), m.how(ea, eb, what)}, nil
		}
	}
}

// how says what differs in two events: that they are not the same step, or a property of it.
func (m *Matcher) how(a, b *event.Event, what string) string {
	if a.G != b.G || a.Kind != b.Kind || !m.site(a.Site, b.Site) {
		return "another step came than the recorded one"
	}
	return what
}

// describe names an event in a few words.
func (r *Reader) describe(e *event.Event) string {
	s := fmt.Sprintf("event %d (goroutine %d, %v", e.Seq, e.G, e.Kind)
	if site, ok := r.sites[e.Site]; ok {
		if site.Expr != "" {
			s += " " + site.Expr
		}
		s += " at " + site.Position()
	}
	return s + ")"
}

// A Matcher tells whether the events of two runs are the same up to addresses, which
// differ between processes. It learns which address of the one is which of the other
// from the events, and holds on to that:
//
//   - memory that an Alloc names is renamed as a whole, so that offsets into it
//     stay the same;
//   - any other address is renamed by itself, to one address and from one address;
//   - a word of a value that differs must be an address in both runs, and is renamed
//     in the same way. Words count as addresses if they were one before, lie in such
//     memory or in the program itself, whose other build lies elsewhere, or lie in a region
//     above 4 GB where the run has touched some, or where the system puts what it is asked
//     for.
//
// The numbers of sites depend on what else was built with the program, and their lines on what
// was edited around them. Two sites are the same if they are at the same place, see place.go.
type Matcher struct {
	a, b    side
	objects uint32
	ab, ba  map[uint64]uint64 // addresses outside of objects
	same    map[uint32]uint32 // sites of b by sites of a
	back    map[uint32]uint32 // and the other way
}

// NewMatcher returns a Matcher that has seen no events.
func NewMatcher() *Matcher {
	return &Matcher{a: newSide(), b: newSide(), ab: map[uint64]uint64{}, ba: map[uint64]uint64{}, same: map[uint32]uint32{}, back: map[uint32]uint32{}}
}

// A side is what a Matcher knows about the addresses of one run.
type side struct {
	regions map[uint64]bool
	// buckets hold the objects that lie at least in part in them. An object is
	// entered at the level at which it takes few buckets.
	buckets map[bucket][]object
	places  map[uint32]place // of sites, as far as they are known
	image   []uint64         // as in a Header
}

type bucket struct {
	level uint8
	n     uint64
}

type object struct {
	id     uint32
	lo, hi uint64
}

// lowest is where regions begin to tell addresses from numbers. Below it lie the
// global variables of programs at fixed addresses, among numbers that values often
// are.
const lowest = 1 << 32

// levels are the sizes of buckets, as shifts.
var levels = [...]uint8{6, 12, 18, 24, 32}

func newSide() side { return side{regions: map[uint64]bool{}, buckets: map[bucket][]object{}} }

// learn takes over the regions of a whole trace, so that pointers to memory that is
// touched only later are known as such.
func (s *side) learn(r *Reader) {
	for _, region := range r.index.regions {
		s.regions[region] = true
	}
	s.image = r.Header.Image
}

func (s *side) add(id uint32, lo, hi uint64) {
	level := levels[len(levels)-1]
	for _, l := range levels {
		if hi>>l-lo>>l < wide {
			level = l
			break
		}
	}
	for n := lo >> level; n <= hi>>level; n++ {
		key := bucket{level, n}
		kept := s.buckets[key][:0]
		for _, o := range s.buckets[key] {
			// Memory that was used before, for something else.
			if o.lo < lo || o.hi > hi {
				kept = append(kept, o)
			}
		}
		s.buckets[key] = append(kept, object{id, lo, hi})
	}
}

// find returns the latest object that has the address.
func (s *side) find(addr uint64) (o object, ok bool) {
	for _, l := range levels {
		for _, c := range s.buckets[bucket{l, addr >> l}] {
			if c.lo <= addr && addr <= c.hi && (!ok || c.id > o.id) {
				o, ok = c, true
			}
		}
	}
	return o, ok
}

// isAddress reports whether a word of a value is an address; known are those outside
// of objects.
func (s *side) isAddress(word uint64, known map[uint64]uint64) bool {
	if word >= lowest && s.regions[word>>regionShift] || fromSystem(word) {
		return true
	}
	if len(s.image) == 2 && s.image[0] <= word && word < s.image[1] {
		return true
	}
	if _, ok := known[word]; ok {
		return true
	}
	_, ok := s.find(word)
	return ok
}

// fromSystem reports whether a word can be an address that the system has chosen: at the
// top of the address space, where each process has its memory elsewhere. The runtime asks
// for such memory; a program has pointers to it in interfaces, whose tables can be made when
// they are needed.
func fromSystem(word uint64) bool {
	return word>>44 == 0x7 || word>>40 == 0xff // x86-64 and arm64
}

// Match takes the next event of each run. It returns "" if they are the same, and
// otherwise what differs.
func (m *Matcher) Match(a, b *event.Event) string {
	var diffs []string
	diff := func(what string, a, b any) { diffs = append(diffs, fmt.Sprintf("%s %v and %v", what, a, b)) }
	if a.Seq != b.Seq {
		diff("number", a.Seq, b.Seq)
	}
	if a.G != b.G {
		diff("goroutine", a.G, b.G)
	}
	if a.Kind != b.Kind {
		diff("kind", a.Kind, b.Kind)
	}
	if !m.site(a.Site, b.Site) {
		diff("place", m.a.places[a.Site].named(a.Site), m.b.places[b.Site].named(b.Site))
	}
	if a.Frame != b.Frame {
		diff("frame", a.Frame, b.Frame)
	}
	if a.Size != b.Size {
		diff("size", a.Size, b.Size)
	}
	if a.Arg != b.Arg {
		diff("argument", a.Arg, b.Arg)
	}
	if len(diffs) == 0 {
		if a.Kind == event.Alloc && a.Addr != 0 && b.Addr != 0 {
			m.objects++
			m.a.add(m.objects, a.Addr, lastByte(a.Addr, a.Size))
			m.b.add(m.objects, b.Addr, lastByte(b.Addr, b.Size))
		}
		if !m.address(a.Addr, b.Addr) {
			diff("address", m.a.name(a.Addr), m.b.name(b.Addr))
		}
	}
	if len(diffs) == 0 && !byLibrary(a) {
		if !m.value(a.Addr, a.Before, b.Before) {
			diff("value before", HexWords(a.Before), HexWords(b.Before))
		}
		if !m.value(a.Addr, a.After, b.After) {
			diff("value after", HexWords(a.After), HexWords(b.After))
		}
	}
	return strings.Join(diffs, ", ")
}

// byLibrary reports whether an event is an access of the standard library. What that keeps for
// itself are addresses of the runtime, too, which are different ones in each process.
func byLibrary(e *event.Event) bool {
	return e.Kind.IsMemory() && (e.Site == 0 || e.Site >= event.CallSites)
}

// site reports whether a site of a is one of b, and remembers that it is.
func (m *Matcher) site(a, b uint32) bool {
	to, knownA := m.same[a]
	from, knownB := m.back[b]
	if knownA || knownB {
		return knownA && knownB && to == b && from == a
	}
	inA, okA := m.a.places[a]
	inB, okB := m.b.places[b]
	switch {
	case !okA || !okB:
		return a == b
	case inA != inB:
		return false
	}
	m.same[a], m.back[b] = b, a
	return true
}

func (s *side) name(addr uint64) string {
	if o, ok := s.find(addr); ok {
		return fmt.Sprintf("%#x (%d bytes into an object of %d)", addr, addr-o.lo, o.hi-o.lo+1)
	}
	return fmt.Sprintf("%#x", addr)
}

// address reports whether a and b can be the same address, and remembers that they
// are.
func (m *Matcher) address(a, b uint64) bool {
	if a == 0 || b == 0 {
		return a == b
	}
	m.a.regions[a>>regionShift] = true
	m.b.regions[b>>regionShift] = true
	oa, inA := m.a.find(a)
	ob, inB := m.b.find(b)
	if inA || inB {
		return inA && inB && oa.id == ob.id && a-oa.lo == b-ob.lo
	}
	toB, knownA := m.ab[a]
	toA, knownB := m.ba[b]
	if knownA || knownB {
		return knownA && knownB && toB == b && toA == a
	}
	m.ab[a], m.ba[b] = b, a
	return true
}

// value compares what memory at addr held, word by word. The two runs have it at
// the same place in a word, as the compiler aligns what holds pointers.
func (m *Matcher) value(addr uint64, a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	if string(a) == string(b) {
		return true
	}
	for len(a) > 0 {
		n := min(8-int(addr%8), len(a))
		if string(a[:n]) != string(b[:n]) {
			if n < 8 {
				return false
			}
			wa, wb := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
			if !m.a.isAddress(wa, m.ab) || !m.b.isAddress(wb, m.ba) || !m.address(wa, wb) {
				return false
			}
		}
		a, b, addr = a[n:], b[n:], addr+uint64(n)
	}
	return true
}

// HexWords shows memory as words of eight bytes, the last of which may be shorter.
func HexWords(v []byte) string {
	var words []string
	for len(v) > 0 {
		var w [8]byte
		n := copy(w[:], v)
		words = append(words, fmt.Sprintf("%#x", binary.LittleEndian.Uint64(w[:])))
		v = v[n:]
	}
	return "[" + strings.Join(words, " ") + "]"
}
