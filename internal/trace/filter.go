package trace

import (
	"encoding/binary"
	"math/bits"
)

// A region is what the Go heap grows by on most platforms. The regions of a trace
// tell pointers from other numbers; a span from the lowest to the highest address
// would not, as data segments and stacks lie far from the heap.
const (
	regionShift = 26
	maxRegions  = 64
)

// A line is the unit of the filters.
const lineShift = 6

// wide is the number of lines from which on a range is not entered line by line.
const wide = 64

// A filter says which memory a block may have touched in some way.
type filter struct {
	wide span // of all the wide ranges
	bits bitmap
}

// add enters the lines of a range of bytes.
func (f *filter) add(lo, hi uint64) {
	lo, hi = lo>>lineShift, hi>>lineShift
	if hi-lo >= wide {
		f.wide.add(lo, hi)
		return
	}
	for l := lo; l <= hi; l++ {
		a, b := hashes(l)
		f.bits.set(a)
		f.bits.set(b)
	}
}

// mayOverlap reports false only if no range that was entered shares a byte with this
// one.
func (f *filter) mayOverlap(lo, hi uint64) bool {
	lo, hi = lo>>lineShift, hi>>lineShift
	if f.wide.overlaps(lo, hi) || hi-lo >= 4*wide {
		return true
	}
	for l := lo; l <= hi; l++ {
		if a, b := hashes(l); f.bits.has(a) && f.bits.has(b) {
			return true
		}
	}
	return false
}

func hashes(line uint64) (a, b uint64) {
	h := line * 0x9e3779b97f4a7c15
	return h >> 48, h >> 32
}

// A bitmap is a power of two of bits, at least 64, addressed by the low bits of a
// hash, so that it can be folded to half its length.
type bitmap []uint64

func (m bitmap) set(h uint64) { h &= uint64(len(m))*64 - 1; m[h/64] |= 1 << (h % 64) }
func (m bitmap) has(h uint64) bool {
	if len(m) == 0 {
		return false
	}
	h &= uint64(len(m))*64 - 1
	return m[h/64]>>(h%64)&1 != 0
}

// folded halves m, in place, as long as at most a quarter of the bits is then set:
// with two hashes that is one wrong answer in sixteen.
func (m bitmap) folded() bitmap {
	set := 0
	for _, w := range m {
		set += bits.OnesCount64(w)
	}
	if set == 0 {
		return nil
	}
	for len(m) > 1 && set*4 <= len(m)*32 {
		half := len(m) / 2
		set = 0
		for i := range half {
			m[i] |= m[half+i]
			set += bits.OnesCount64(m[i])
		}
		m = m[:half]
	}
	return m
}

func appendBitmap(b []byte, m bitmap) []byte {
	b = binary.AppendUvarint(b, uint64(len(m)))
	for _, w := range m {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func (d *decoder) bitmap() bitmap {
	n := d.count(8)
	if n&(n-1) != 0 {
		d.fail("a filter whose length is not a power of two")
		return nil
	}
	if n == 0 {
		return nil
	}
	m := make(bitmap, n)
	for i := range m {
		if w := d.bytes(8); w != nil {
			m[i] = binary.LittleEndian.Uint64(w)
		}
	}
	return m
}
