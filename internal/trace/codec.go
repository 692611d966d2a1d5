package trace

import (
	"encoding/binary"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// blockSize is the payload at which a block ends. It is what a crash of the program
// can cost, and what a search decodes for one event.
const blockSize = 64 << 10

// A block begins with the number of its events and the Seq of the first, in fixed
// width because they are filled in last.
const blockHeader = 4 + 8

// An event is two bytes, of which the kind takes the low six bits of the first, and
// then the fields that the flags say are there, in the order of the flags.
const (
	kindMask = 1<<6 - 1
	seqNext  = 1 << 6 // else the difference to the one before, less 2
	sameG    = 1 << 7

	sameFrame = 1 << 0
	sameSite  = 1 << 1
	addrShift = 2
	sizeShift = 4
	hasArg    = 1 << 6
	hasValues = 1 << 7
)

// All kinds fit into the first byte beside the forms of access.go, and into a set of 64
// bits.
const _ = accessForm - 1 - uint(event.Random)

// How an address is encoded.
const (
	addrNone = iota
	addrPrev // as the difference to the one before
	addrNear // as the difference to the last one at this site, or one that shares its entry
	addrBad
)

// How a size is encoded.
const (
	sizeNone = iota
	sizeWord
	sizeByte
	sizeOther
)

// How a value is encoded. Before and After have two bits each of one byte.
const (
	valueNone  = iota
	valueWhole // as long as the event's size
	valueLen
	valueSame // After alone: equal to Before
)

// predictor is what an event is encoded as a difference to.
type predictor struct {
	seq   uint64
	g     uint32
	site  uint32
	frame uint32
	addr  uint64
	pc    uint64 // of calls, which are no memory
	held  uint64 // what the memory of the last short form held in the end
	near  [512]uint64
}

// places returns what an address is encoded as a difference to: that of the event before,
// and the last one at the site or one that shares its entry. No entry is for stores and
// other events.
func (p *predictor) places(k event.Kind, site uint32) (prev, near *uint64) {
	if k == event.Call {
		return &p.pc, &p.pc
	}
	i := site * 2
	if k == event.Store {
		i++
	}
	return &p.addr, &p.near[i%uint32(len(p.near))]
}

func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// An encoder collects the events of one block behind a gap for the section's header.
type encoder struct {
	buf  []byte
	n    uint32
	head uint64 // Seq of the first event
	predictor
}

func (c *encoder) reset() {
	if c.buf == nil {
		c.buf = make([]byte, 0, blockSize+64<<10) // more than the last event takes
	}
	c.buf = c.buf[:sectionHeader+blockHeader]
	c.n, c.head = 0, 0
	c.predictor = predictor{seq: c.seq}
}

// finish completes the block's section.
func (c *encoder) finish() {
	binary.LittleEndian.PutUint32(c.buf[sectionHeader:], c.n)
	binary.LittleEndian.PutUint64(c.buf[sectionHeader+4:], c.head)
	putSection(c.buf, blockSection)
}

func (c *encoder) add(e *event.Event) {
	if c.n == 0 {
		c.head = e.Seq
		c.seq = e.Seq - 1
	}
	c.n++
	// A local slice and not c.buf, which would be stored back at each append.
	b := append(c.buf, byte(e.Kind), 0)
	at := len(b) - 2
	var f0, f1 byte

	if e.Seq == c.seq+1 {
		f0 |= seqNext
	} else {
		b = binary.AppendUvarint(b, e.Seq-c.seq-2)
	}
	c.seq = e.Seq
	if e.G == c.g {
		f0 |= sameG
	} else {
		b = binary.AppendUvarint(b, uint64(e.G))
		c.g = e.G
	}
	if e.Frame == c.frame {
		f1 |= sameFrame
	} else {
		b = binary.AppendUvarint(b, zigzag(int64(e.Frame)-int64(c.frame)))
		c.frame = e.Frame
	}
	if e.Site == c.site {
		f1 |= sameSite
	} else {
		b = binary.AppendUvarint(b, zigzag(int64(e.Site)-int64(c.site)))
		c.site = e.Site
	}
	if e.Addr != 0 {
		prev, near := c.places(e.Kind, e.Site)
		prevDiff, nearDiff := zigzag(int64(e.Addr-*prev)), zigzag(int64(e.Addr-*near))
		if prevDiff <= nearDiff {
			f1 |= addrPrev << addrShift
			b = binary.AppendUvarint(b, prevDiff)
		} else {
			f1 |= addrNear << addrShift
			b = binary.AppendUvarint(b, nearDiff)
		}
		*prev, *near = e.Addr, e.Addr
	}
	switch e.Size {
	case 0:
	case 8:
		f1 |= sizeWord << sizeShift
	case 1:
		f1 |= sizeByte << sizeShift
	default:
		f1 |= sizeOther << sizeShift
		b = binary.AppendUvarint(b, uint64(e.Size))
	}
	if e.Arg != 0 {
		f1 |= hasArg
		b = binary.AppendUvarint(b, zigzag(int64(e.Arg-argBase(e.Kind, e.Frame))))
	}
	if len(e.Before)+len(e.After) != 0 {
		f1 |= hasValues
		b = appendValues(b, e)
	}
	b[at] |= f0
	b[at+1] = f1
	c.buf = b
}

// argBase is what an Arg is likely to be close to: a caller's frame to the callee's.
func argBase(k event.Kind, frame uint32) uint64 {
	if k == event.Call {
		return uint64(frame)
	}
	return 0
}

// wholeValue is how long a value of an event of that size is.
func wholeValue(size uint32) int { return int(min(size, event.MaxValue)) }

func appendValues(b []byte, e *event.Event) []byte {
	before, after := cutValue(e.Before), cutValue(e.After)
	whole := wholeValue(e.Size)
	at := len(b)
	b = append(b, 0)
	var flags byte
	if len(before) != 0 {
		var how byte
		how, b = appendValue(b, before, whole)
		flags |= how
	}
	switch {
	case len(after) == 0:
	case string(after) == string(before):
		flags |= valueSame << 2
	default:
		var how byte
		how, b = appendValue(b, after, whole)
		flags |= how << 2
	}
	b[at] = flags
	return b
}

func cutValue(v []byte) []byte { return v[:min(len(v), event.MaxValue)] }

// appendValue leaves out the zeros at the end: small numbers in wide variables are
// what most values are.
func appendValue(b, v []byte, whole int) (how byte, _ []byte) {
	how = valueWhole
	if len(v) != whole {
		how = valueLen
		b = append(b, byte(len(v)))
	}
	n := len(v)
	for n > 0 && v[n-1] == 0 {
		n--
	}
	b = append(b, byte(n))
	return how, append(b, v[:n]...)
}

// minEvent is the least that an event takes in a block.
const minEvent = 2

// zeros is what all values of zeros are, so that decoding them allocates nothing.
var zeros [event.MaxValue]byte

// A blockDecoder takes the events off a block.
type blockDecoder struct {
	decoder
	predictor
	n     uint32 // events that are left
	begun bool   // seq is that of an event
	arena []byte // holds values; replaced when full, as events point into it
}

func newBlockDecoder(payload []byte) *blockDecoder {
	d := &blockDecoder{decoder: decoder{b: payload}}
	if len(payload) < blockHeader {
		d.fail("it is too short for a block")
		return d
	}
	d.n = binary.LittleEndian.Uint32(payload)
	d.seq = binary.LittleEndian.Uint64(payload[4:]) - 1
	d.pos = blockHeader
	if d.n == 0 || int64(d.n) > int64(d.left()/minEvent) {
		d.fail("it cannot hold as many events as it says")
		d.n = 0
	}
	return d
}

// next decodes an event. It must only be called if n is not 0.
func (d *blockDecoder) next(e *event.Event) bool {
	first := d.byte()
	if first&kindMask >= accessForm {
		d.access(first, e)
		return d.ended()
	}
	flags := d.byte()
	e.Kind = event.Kind(first & kindMask)
	if !e.Kind.Valid() {
		d.fail("an event of unknown kind")
	}
	if e.Seq = d.seq + 1; first&seqNext == 0 {
		e.Seq += d.uvarint() + 1
	}
	if e.Seq <= d.seq && d.begun {
		d.fail("a sequence number that does not rise")
	}
	d.seq, d.begun = e.Seq, true
	if first&sameG == 0 {
		d.g = d.uint32()
	}
	e.G = d.g
	if flags&sameFrame == 0 {
		d.frame = d.near32(d.frame)
	}
	e.Frame = d.frame
	if flags&sameSite == 0 {
		d.site = d.near32(d.site)
	}
	e.Site = d.site
	e.Addr = 0
	prev, near := d.places(e.Kind, e.Site)
	switch flags >> addrShift & 3 {
	case addrPrev:
		e.Addr = *prev + uint64(d.varint())
		*prev, *near = e.Addr, e.Addr
	case addrNear:
		e.Addr = *near + uint64(d.varint())
		*prev, *near = e.Addr, e.Addr
	case addrBad:
		d.fail("an address in an unknown form")
	}
	switch flags >> sizeShift & 3 {
	case sizeNone:
		e.Size = 0
	case sizeWord:
		e.Size = 8
	case sizeByte:
		e.Size = 1
	case sizeOther:
		e.Size = d.uint32()
	}
	e.Arg = 0
	if flags&hasArg != 0 {
		e.Arg = argBase(e.Kind, e.Frame) + uint64(d.varint())
	}
	e.Before, e.After = nil, nil
	if flags&hasValues != 0 {
		d.values(e)
	}
	return d.ended()
}

// ended counts an event that was read, and reports whether it is one.
func (d *blockDecoder) ended() bool {
	d.n--
	if d.n == 0 && d.err == "" && d.left() != 0 {
		d.fail("more bytes than its events have")
	}
	return d.err == ""
}

// near32 reads a number that is encoded as the difference to another.
func (d *blockDecoder) near32(base uint32) uint32 {
	v := int64(base) + d.varint()
	if v < 0 || v > 1<<32-1 {
		d.fail("a number is out of range")
		return 0
	}
	return uint32(v)
}

func (d *blockDecoder) values(e *event.Event) {
	flags := d.byte()
	if flags>>4 != 0 || flags&3 == valueSame {
		d.fail("a value in an unknown form")
		return
	}
	e.Before = d.value(flags&3, e.Size)
	if how := flags >> 2; how == valueSame {
		e.After = e.Before
	} else {
		e.After = d.value(how, e.Size)
	}
}

func (d *blockDecoder) value(how byte, size uint32) []byte {
	n := 0
	switch how {
	case valueNone:
		return nil
	case valueWhole:
		n = wholeValue(size)
	case valueLen:
		n = int(d.byte())
	}
	kept := int(d.byte())
	if n > event.MaxValue || kept > n {
		d.fail("a value that is too long")
		return nil
	}
	if n == 0 {
		return nil
	}
	if kept == 0 {
		return zeros[:n:n]
	}
	v := d.room(n)
	copy(v, d.bytes(uint64(kept)))
	return v
}

// room returns n bytes for a value, which are 0.
func (d *blockDecoder) room(n int) []byte {
	if len(d.arena)+n > cap(d.arena) {
		d.arena = make([]byte, 0, 8<<10)
	}
	at := len(d.arena)
	d.arena = d.arena[:at+n]
	return d.arena[at : at+n : at+n]
}
