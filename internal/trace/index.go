package trace

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// An index says where everything is, and what is in the whole of it.
type index struct {
	blocks     []core
	sites      []section // in the order of writing; a later site replaces an earlier
	outcome    section   // kind 0 if there is none
	kindCounts [kindMask + 1]uint64
	goroutines map[uint32]uint64
	regions    []uint64
}

// add enters a block.
func (x *index) add(s *summary) {
	x.blocks = append(x.blocks, s.core)
	for k, n := range s.kindCounts {
		x.kindCounts[k] += uint64(n)
	}
	if x.goroutines == nil {
		x.goroutines = map[uint32]uint64{}
	}
	for _, t := range s.goroutines {
		x.goroutines[t.g] += t.n
	}
	for _, r := range s.regions {
		if at, ok := slices.BinarySearch(x.regions, r); !ok && len(x.regions) < 1<<10 {
			x.regions = slices.Insert(x.regions, at, r)
		}
	}
}

// tallies are the goroutines in the order of their numbers.
func (x *index) tallies() []tally {
	list := make([]tally, 0, len(x.goroutines))
	for g, n := range x.goroutines {
		list = append(list, tally{g, n})
	}
	slices.SortFunc(list, func(a, b tally) int { return int(int64(a.g) - int64(b.g)) })
	return list
}

func appendSection(b []byte, s section) []byte {
	if s.kind == 0 {
		return append(b, 0)
	}
	b = append(b, byte(s.kind))
	b = binary.AppendUvarint(b, uint64(s.offset))
	b = binary.AppendUvarint(b, uint64(s.length))
	return binary.LittleEndian.AppendUint32(b, s.sum)
}

// section reads where a section is. It must be of the kind and end before end.
func (d *decoder) section(kind sectionKind, end int64) section {
	k := sectionKind(d.byte())
	if k == 0 {
		return section{}
	}
	offset, length := d.uvarint(), d.uvarint()
	var sum uint32
	if b := d.bytes(4); b != nil {
		sum = binary.LittleEndian.Uint32(b)
	}
	if k != kind || offset < uint64(len(magic)) || offset > uint64(end) || length > uint64(kind.limit()) || offset+sectionHeader+length > uint64(end) {
		d.fail(fmt.Sprintf("a %v that is not in the file", kind))
		return section{}
	}
	return section{kind: k, offset: int64(offset), length: int64(length), sum: sum}
}

// append writes the payload of the index's section.
func (x *index) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(x.blocks)))
	for i := range x.blocks {
		c := &x.blocks[i]
		b = appendSection(b, c.block)
		b = appendSection(b, c.summary)
		b = c.append(b)
	}
	b = binary.AppendUvarint(b, uint64(len(x.sites)))
	for _, s := range x.sites {
		b = appendSection(b, s)
	}
	b = appendSection(b, x.outcome)
	b = appendCounts(b, x.kindCounts[:])
	b = appendTallies(b, x.tallies())
	b = binary.AppendUvarint(b, uint64(len(x.regions)))
	for _, r := range x.regions {
		b = binary.AppendUvarint(b, r)
	}
	return b
}

// parseIndex reads the payload of the section at.
func parseIndex(at section, payload []byte) (*index, error) {
	d := &decoder{b: payload}
	x := &index{goroutines: map[uint32]uint64{}}
	x.blocks = make([]core, 0, d.count(minCore))
	for range cap(x.blocks) {
		block, sum := d.section(blockSection, at.offset), d.section(summarySection, at.offset)
		c := d.core()
		c.block, c.summary = block, sum
		if n := len(x.blocks); block.kind == 0 || n > 0 && c.first <= x.blocks[n-1].last {
			d.fail("blocks out of order")
		}
		if d.err != "" {
			break
		}
		x.blocks = append(x.blocks, c)
	}
	x.sites = make([]section, d.count(1))
	for i := range x.sites {
		x.sites[i] = d.section(sitesSection, at.offset)
	}
	x.outcome = d.section(outcomeSection, at.offset)
	x.kindCounts = d.counts()
	for _, t := range d.tallies() {
		x.goroutines[t.g] = t.n
	}
	x.regions = make([]uint64, d.count(1))
	for i := range x.regions {
		x.regions[i] = d.uvarint()
	}
	if d.err != "" {
		return nil, corrupt(at.offset, "the index: %s", d.err)
	}
	return x, nil
}

// appendEnd writes the index's section and the trailer, for a file that is at
// offset so far.
func (x *index) appendEnd(b []byte, offset int64) []byte {
	start := len(b)
	b = x.append(append(b, make([]byte, sectionHeader)...))
	putSection(b[start:], indexSection)
	at := len(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(offset))
	b = binary.LittleEndian.AppendUint32(b, checksum(b[at:], nil))
	return append(b, closingMagic...)
}
