package trace

import (
	"encoding/binary"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A kindSet is a set of kinds.
type kindSet uint64

func (s kindSet) has(k event.Kind) bool { return s>>k&1 != 0 }

func setOf(kinds ...event.Kind) kindSet {
	var s kindSet
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// writes are the kinds that change memory, though a compare and swap need not.
var writes = setOf(event.Store, event.MapWrite, event.AtomicStore, event.AtomicUpdate, event.AtomicCompare)

// A span is a range of numbers, from lo to hi, both included; lo > hi is an empty
// one.
type span struct{ lo, hi uint64 }

var noSpan = span{lo: 1<<64 - 1}

func (s *span) add(lo, hi uint64)          { s.lo, s.hi = min(s.lo, lo), max(s.hi, hi) }
func (s span) overlaps(lo, hi uint64) bool { return s.lo <= hi && lo <= s.hi }
func (s span) has(v uint64) bool           { return s.lo <= v && v <= s.hi }
func (s span) empty() bool                 { return s.lo > s.hi }

// lastByte is the last byte of the memory at addr; operations on locks and the like
// have no size, and count as one byte.
func lastByte(addr uint64, size uint32) uint64 {
	last := addr + max(uint64(size), 1) - 1
	if last < addr {
		return 1<<64 - 1
	}
	return last
}

// hasMemory reports whether the event's address is one of memory, and not of code.
func hasMemory(e *event.Event) bool { return e.Addr != 0 && e.Kind != event.Call }

// A core is the part of a summary that a Reader holds for each block.
type core struct {
	block   section
	summary section // absent, with kind 0, if it was cut off

	first, last uint64 // Seq
	count       uint32
	kinds       kindSet
	gs          uint64 // goroutines, modulo 64
	addrs       span   // all memory touched
	allocs      span   // all memory allocated
	// frames is all that Call events define; fresh those among them that are higher
	// than every frame before, which tells where a frame was defined first as long
	// as they are numbered in that order.
	frames, fresh span
}

// minCore is the least that a core takes in an index.
const minCore = 16

func appendSpan(b []byte, s span) []byte {
	if s.empty() {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, s.hi-s.lo+1)
	return binary.AppendUvarint(b, s.lo)
}

func (d *decoder) span() span {
	n := d.uvarint()
	if n == 0 {
		return noSpan
	}
	s := span{lo: d.uvarint()}
	if s.hi = s.lo + n - 1; s.hi < s.lo {
		d.fail("a range that ends before it begins")
	}
	return s
}

// append writes all but where the block is.
func (c *core) append(b []byte) []byte {
	b = binary.AppendUvarint(b, c.first)
	b = binary.AppendUvarint(b, c.last-c.first)
	b = binary.AppendUvarint(b, uint64(c.count))
	b = binary.AppendUvarint(b, uint64(c.kinds))
	b = binary.LittleEndian.AppendUint64(b, c.gs)
	for _, s := range []span{c.addrs, c.allocs, c.frames, c.fresh} {
		b = appendSpan(b, s)
	}
	return b
}

func (d *decoder) core() core {
	var c core
	c.first = d.uvarint()
	c.last = c.first + d.uvarint()
	c.count = d.uint32()
	c.kinds = kindSet(d.uvarint())
	if g := d.bytes(8); g != nil {
		c.gs = binary.LittleEndian.Uint64(g)
	}
	c.addrs, c.allocs, c.frames, c.fresh = d.span(), d.span(), d.span(), d.span()
	if c.count == 0 || c.last-c.first < uint64(c.count)-1 {
		d.fail("a block with more events than sequence numbers")
	}
	return c
}

// A summary says what is in a block.
type summary struct {
	core
	kindCounts [kindMask + 1]uint32
	goroutines []tally // by goroutine
	regions    []uint64
	touched    filter
	written    filter
	allocated  filter
	sites      bitmap // of the numbers' low bits
}

// A tally is how many events a goroutine has.
type tally struct {
	g uint32
	n uint64
}

// append writes the payload of a summary's section.
func (s *summary) append(b []byte) []byte {
	b = s.core.append(b)
	b = appendCounts(b, s.kindCounts[:])
	b = appendTallies(b, s.goroutines)
	b = binary.AppendUvarint(b, uint64(len(s.regions)))
	for _, r := range s.regions {
		b = binary.AppendUvarint(b, r)
	}
	for _, f := range []*filter{&s.touched, &s.written, &s.allocated} {
		b = appendSpan(b, f.wide)
		b = appendBitmap(b, f.bits)
	}
	return appendBitmap(b, s.sites)
}

func parseSummary(at section, payload []byte) (*summary, error) {
	d := &decoder{b: payload}
	s := &summary{core: d.core()}
	for i, n := range d.counts() {
		s.kindCounts[i] = uint32(n)
	}
	s.goroutines = d.tallies()
	s.regions = make([]uint64, d.count(1))
	for i := range s.regions {
		s.regions[i] = d.uvarint()
	}
	for _, f := range []*filter{&s.touched, &s.written, &s.allocated} {
		f.wide = d.span()
		f.bits = d.bitmap()
	}
	s.sites = d.bitmap()
	if d.err != "" {
		return nil, corrupt(at.offset, "the summary of a block: %s", d.err)
	}
	return s, nil
}

// appendCounts writes how many events there are of each kind, without the zeros.
func appendCounts[T uint32 | uint64](b []byte, counts []T) []byte {
	for k, n := range counts {
		if n != 0 {
			b = append(b, byte(k))
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	return append(b, 0)
}

func (d *decoder) counts() (counts [kindMask + 1]uint64) {
	for {
		k := d.byte()
		if k == 0 {
			return counts
		}
		if k > kindMask {
			d.fail("an unknown kind of event")
			return counts
		}
		counts[k] = d.uvarint()
	}
}

func appendTallies(b []byte, tallies []tally) []byte {
	b = binary.AppendUvarint(b, uint64(len(tallies)))
	var prev uint32
	for _, t := range tallies {
		b = binary.AppendUvarint(b, uint64(t.g-prev))
		b = binary.AppendUvarint(b, t.n)
		prev = t.g
	}
	return b
}

func (d *decoder) tallies() []tally {
	list := make([]tally, d.count(2))
	var prev uint32
	for i := range list {
		diff := d.uint32()
		if g := prev + diff; g < prev || i > 0 && diff == 0 {
			d.fail("goroutines out of order")
			return nil
		}
		prev += diff
		list[i] = tally{prev, d.uvarint()}
	}
	return list
}

// filterBits is for a block whose every event touches another line, of which a
// filter then has a wrong answer in ten.
const filterBits = 1 << 15

// siteBits is more than most blocks have sites.
const siteBits = 1 << 10

// A summarizer makes the summary of a block from its events.
type summarizer struct {
	summary
	touchedBits, writtenBits, allocatedBits [filterBits / 64]uint64
	siteBits                                [siteBits / 64]uint64

	counts map[uint32]uint64
	g      uint32 // the goroutine of the last events
	began  uint32 // the count at the first of them, which are not yet in counts

	line   uint64 // the last line that was touched
	region uint64 // the last region
	high   uint64 // the highest frame of all blocks
}

func (s *summarizer) reset() {
	if s.counts == nil {
		s.counts = map[uint32]uint64{}
	}
	clear(s.counts)
	clear(s.touchedBits[:])
	clear(s.writtenBits[:])
	clear(s.allocatedBits[:])
	clear(s.siteBits[:])
	s.summary = summary{
		core:       core{addrs: noSpan, allocs: noSpan, frames: noSpan, fresh: noSpan},
		goroutines: s.goroutines[:0],
		regions:    s.regions[:0],
		touched:    filter{noSpan, s.touchedBits[:]},
		written:    filter{noSpan, s.writtenBits[:]},
		allocated:  filter{noSpan, s.allocatedBits[:]},
		sites:      s.siteBits[:],
	}
	s.g, s.began = 0, 0
	s.line, s.region = 1<<64-1, 1<<64-1
}

func (s *summarizer) add(e *event.Event) {
	if s.count == 0 {
		s.first = e.Seq
	}
	if e.G != s.g {
		s.endRun()
		s.g = e.G
	}
	s.last = e.Seq
	s.counted(e.Kind, e.Site)
	if e.Kind == event.Call {
		f := uint64(e.Frame)
		s.frames.add(f, f)
		if f > s.high {
			s.fresh.add(f, f)
			s.high = f
		}
	}
	if hasMemory(e) {
		s.addMemory(e.Kind, e.Addr, lastByte(e.Addr, e.Size))
	}
}

// counted takes note of an event by the goroutine of the one before.
func (s *summarizer) counted(k event.Kind, site uint32) {
	s.count++
	s.kindCounts[k%(kindMask+1)]++
	s.siteBits[site%siteBits/64] |= 1 << (site % 64)
}

// countedAccesses is counted for so many loads and stores, whose sites are noted.
func (s *summarizer) countedAccesses(loads, stores uint32) {
	s.count += loads + stores
	s.kindCounts[event.Load] += loads
	s.kindCounts[event.Store] += stores
}

func (s *summarizer) addMemory(k event.Kind, first, last uint64) {
	// Whole lines, so that what follows in the same line need not be looked at. Nothing
	// has the address 0.
	s.addrs.add(max(first&^(1<<lineShift-1), 1), last|(1<<lineShift-1))
	if l := first >> lineShift; l != s.line || last>>lineShift != l {
		s.line = l
		s.touched.add(first, last)
	}
	if writes.has(k) {
		s.written.add(first, last)
	}
	if k == event.Alloc {
		s.allocs.add(first, last)
		s.allocated.add(first, last)
	}
	if r := first >> regionShift; r != s.region {
		s.region = r
		if len(s.regions) < maxRegions && !slices.Contains(s.regions, r) {
			s.regions = append(s.regions, r)
		}
	}
}

func (s *summarizer) endRun() {
	if n := s.count - s.began; n != 0 {
		s.counts[s.g] += uint64(n)
		s.gs |= 1 << (s.g % 64)
		s.began = s.count
	}
}

// finish completes the summary. Its slices are the summarizer's until the next
// reset.
func (s *summarizer) finish() *summary {
	s.endRun()
	for k, n := range s.kindCounts {
		if n != 0 {
			s.kinds |= 1 << k
		}
	}
	for g, n := range s.counts {
		s.goroutines = append(s.goroutines, tally{g, n})
	}
	slices.SortFunc(s.goroutines, func(a, b tally) int { return int(int64(a.g) - int64(b.g)) })
	slices.Sort(s.regions)
	s.touched.bits = s.touched.bits.folded()
	s.written.bits = s.written.bits.folded()
	s.allocated.bits = s.allocated.bits.folded()
	s.sites = s.sites.folded()
	return &s.summary
}
