package trace

import (
	"encoding/binary"
	"math/bits"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// Most events are loads and stores of few bytes by the goroutine that ran before. What
// they cost is what recording costs, so there is a form of them that takes few
// instructions to write, and hardly any branches. It begins with these bytes:
//
//	form     the logarithm of the size in two bits, and accessForm with its flags
//	lengths  of the address and of the value before, four bits each
//	length   of the value after, of a store
//
// where a length of sameAsLast says that it is that of the event before: its address, or
// what its memory held in the end.
//
// What follows is, with the lowest byte first,
//
//	frame    in four bytes, if otherFrame; otherwise it is that of the event before
//	site     in four bytes, if farSite; otherwise in one, as the difference to the one before
//	address  as the difference to the last one at the site, see predictor.places
//	values   before and, of a store, after; what is missing at their end is 0
//
// Sequence number and goroutine are those of the event before, the one plus 1.
const (
	accessForm = 56
	isStore    = 1 << 0
	otherFrame = 1 << 1
	farSite    = 1 << 2

	accessSizeShift = 6
	addrLenShift    = 4
	lenMask         = 1<<addrLenShift - 1
	sameAsLast      = 9
)

// maxAccess is more than an event of that form takes, and than is written at its end.
const maxAccess = 64

// accesses adds as many of the accesses to the block as can have the short form and find
// room, and returns how many those are.
func (w *Writer) accesses(all []event.Access) int {
	c := &w.enc
	if c.n == 0 {
		return 0
	}
	// What changes with every event is not stored with every event.
	g, seq, site, frame, buf, addr, value := c.g, c.seq, c.site, c.frame, c.buf, c.addr, c.held
	done, stores := 0, uint32(0)
	for i := range all {
		a := &all[i]
		if len(buf) >= sectionHeader+blockSize || a.Seq != seq+1 || a.G != g || !short(a) {
			break
		}
		seq++
		start := len(buf)
		b := (*[maxAccess]byte)(buf[start : start+maxAccess])
		form := accessForm | bits.TrailingZeros8(a.Size)<<accessSizeShift
		at := 2
		if a.Kind == event.Store {
			form |= isStore
			at = 3
			stores++
		}
		if a.Frame != frame {
			frame = a.Frame
			form |= otherFrame
			binary.LittleEndian.PutUint32(b[at:], frame)
			at += 4
		}
		if diff := a.Site - site; diff+1<<7 < 1<<8 {
			b[at] = byte(diff)
			at++
		} else {
			form |= farSite
			binary.LittleEndian.PutUint32(b[at:], a.Site)
			at += 4
		}
		site = a.Site
		_, near := c.places(a.Kind, site)
		last := *near
		*near = a.Addr

		// Nothing begins beyond the 27th byte: the masks are for the compiler, which need not
		// look for the end of b.
		lengths := sameAsLast << addrLenShift
		if a.Addr != addr {
			addr = a.Addr
			diff := zigzag(int64(addr - last))
			binary.LittleEndian.PutUint64(b[at&31:], diff)
			n := numberLength(diff)
			lengths = n << addrLenShift
			at += n
		}
		held := a.Before
		if held == value {
			lengths |= sameAsLast
		} else {
			binary.LittleEndian.PutUint64(b[at&31:], held)
			n := numberLength(held)
			lengths |= n
			at += n
		}
		b[1] = byte(lengths)
		if form&isStore != 0 {
			held = a.After
			if held == value {
				b[2] = sameAsLast
			} else {
				binary.LittleEndian.PutUint64(b[at&31:], held)
				n := numberLength(held)
				b[2] = byte(n)
				at += n
			}
		}
		value = held
		b[0] = byte(form)
		buf = buf[:start+at]

		w.sum.siteBits[site%siteBits/64] |= 1 << (site % 64)
		// The summary knows a line that an event of the kind has touched in this block.
		if end := a.Addr + uint64(a.Size) - 1; last>>lineShift != a.Addr>>lineShift || end>>lineShift != a.Addr>>lineShift {
			w.sum.addMemory(a.Kind, a.Addr, end)
		}
		done++
	}
	c.seq, c.site, c.frame, c.buf, c.addr, c.held = seq, site, frame, buf, addr, value
	c.n += uint32(done)
	w.sum.last = seq
	w.sum.countedAccesses(uint32(done)-stores, stores)
	return done
}

// short reports whether an access can have the short form. Addresses that memory cannot
// have are not told from those of no event before.
func short(a *event.Access) bool {
	const sizes = 1<<1 | 1<<2 | 1<<4 | 1<<8
	return a.Addr-1<<lineShift < 1<<63-1<<lineShift && 1<<(a.Size&15)&sizes != 0 && a.Size < 16 && (a.Kind == event.Load || a.Kind == event.Store)
}

// numberLength is how many bytes of a number count.
func numberLength(v uint64) int { return int(uint(bits.Len64(v)+7) / 8) }

// access reads the rest of an event in the short form.
func (d *blockDecoder) access(form byte, e *event.Event) {
	if !d.begun {
		d.fail("a block that begins with an event like the one before")
	}
	d.seq++
	*e = event.Event{Seq: d.seq, G: d.g, Kind: event.Load, Size: 1 << (form >> accessSizeShift)}
	lengths, afterLen := d.byte(), byte(0)
	if form&isStore != 0 {
		e.Kind, afterLen = event.Store, d.byte()
	}
	if form&otherFrame != 0 {
		d.frame = uint32(d.number(4, 0))
	}
	if form&farSite != 0 {
		d.site = uint32(d.number(4, 0))
	} else {
		d.site += uint32(int8(d.byte()))
	}
	e.Frame, e.Site = d.frame, d.site
	_, near := d.places(e.Kind, e.Site)
	if n := lengths >> addrLenShift; n != sameAsLast {
		diff := d.number(n, 0)
		d.addr = *near + uint64(int64(diff>>1)^-int64(diff&1))
	}
	*near = d.addr
	e.Addr = d.addr

	last := d.held
	d.held = d.number(lengths&lenMask, last)
	e.Before = d.word(d.held, e.Size)
	if form&isStore != 0 {
		d.held = d.number(afterLen, last)
		e.After = d.word(d.held, e.Size)
	}
}

// number reads a number of n bytes, or returns what sameAsLast stands for.
func (d *blockDecoder) number(n byte, last uint64) uint64 {
	if n == sameAsLast {
		return last
	}
	if n > 8 {
		d.fail("a number that is too long")
		return 0
	}
	var word [8]byte
	copy(word[:], d.bytes(uint64(n)))
	return binary.LittleEndian.Uint64(word[:])
}

// word returns a number as the contents of memory.
func (d *blockDecoder) word(v uint64, size uint32) []byte {
	if v == 0 {
		return zeros[:size:size]
	}
	if size < 8 && v>>(8*size) != 0 {
		d.fail("a value that is too long")
		return nil
	}
	value := d.room(int(size))
	for i := range value {
		value[i] = byte(v >> (8 * i))
	}
	return value
}
