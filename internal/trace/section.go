package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The magic has a byte that is not text, and line ends that a careless transfer
// would change.
const magic = "\x89CFD\r\n\x1a\n"

// A section begins with the marker, its kind, three zero bytes, the length of its
// payload and a checksum of all that follows the marker.
const (
	marker        = 0x4dda_ffc0
	sectionHeader = 16
)

type sectionKind byte

const (
	headerSection  sectionKind = 'H'
	blockSection   sectionKind = 'B'
	summarySection sectionKind = 'M'
	sitesSection   sectionKind = 'S'
	outcomeSection sectionKind = 'O'
	indexSection   sectionKind = 'I'
)

// limit is how long a section of a kind can be, so that a wrong length is found
// before anything is read.
func (k sectionKind) limit() int64 {
	switch k {
	case blockSection, summarySection:
		return 1 << 20
	case headerSection, sitesSection:
		return 16 << 20
	case outcomeSection:
		return 64 << 20
	case indexSection:
		return 1 << 30
	}
	return -1
}

func (k sectionKind) String() string {
	switch k {
	case headerSection:
		return "header"
	case blockSection:
		return "block of events"
	case summarySection:
		return "summary"
	case sitesSection:
		return "sites"
	case outcomeSection:
		return "outcome"
	case indexSection:
		return "index"
	}
	return fmt.Sprintf("section of unknown kind %#x", byte(k))
}

// The trailer is the offset of the index, the checksum of those eight bytes, and
// the closing magic.
const (
	trailerSize  = 8 + 4 + 8
	closingMagic = "CFDend\r\n"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrNotTrace is what a file that does not begin like a trace is refused with.
var ErrNotTrace = errors.New("not a trace file")

// A CorruptError says that a piece of a trace cannot be read.
type CorruptError struct {
	Offset int64  // in the file
	What   string // is wrong

	// First and Last are the events that cannot be read because of it, if that is
	// known; iteration can go on after them. Otherwise they are 0.
	First, Last uint64
}

func (e *CorruptError) Error() string {
	s := fmt.Sprintf("corrupt trace: at offset %d: %s", e.Offset, e.What)
	if e.Last != 0 {
		s += fmt.Sprintf(" (events %d to %d are lost)", e.First, e.Last)
	}
	return s
}

func corrupt(offset int64, format string, args ...any) *CorruptError {
	return &CorruptError{Offset: offset, What: fmt.Sprintf(format, args...)}
}

// putSection completes the section whose payload is buf[sectionHeader:].
func putSection(buf []byte, k sectionKind) {
	payload := buf[sectionHeader:]
	binary.LittleEndian.PutUint32(buf, marker)
	buf[4], buf[5], buf[6], buf[7] = byte(k), 0, 0, 0
	binary.LittleEndian.PutUint32(buf[8:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(buf[12:], checksum(buf[4:12], payload))
}

func checksum(head, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, payload)
}

// A section is where one lies in the file.
type section struct {
	kind   sectionKind
	offset int64 // of its header
	length int64 // of its payload
	sum    uint32
}

func (s section) end() int64 { return s.offset + sectionHeader + s.length }

// readSectionHeader reads the header of the section at offset in a file of the
// given size. Its error is io.ErrUnexpectedEOF if the file ends before the section
// does.
func readSectionHeader(r io.ReaderAt, offset, size int64) (section, error) {
	if offset < int64(len(magic)) || offset > size-sectionHeader {
		return section{}, io.ErrUnexpectedEOF
	}
	var head [sectionHeader]byte
	if err := readAt(r, head[:], offset); err != nil {
		return section{}, err
	}
	s := section{kind: sectionKind(head[4]), offset: offset, length: int64(binary.LittleEndian.Uint32(head[8:])), sum: binary.LittleEndian.Uint32(head[12:])}
	switch {
	case binary.LittleEndian.Uint32(head[:]) != marker:
		return section{}, corrupt(offset, "no section begins here")
	case s.kind.limit() < 0 || head[5]|head[6]|head[7] != 0:
		return section{}, corrupt(offset, "a %v", s.kind)
	case s.length > s.kind.limit():
		return section{}, corrupt(offset, "a %v of %d bytes, which is more than there can be", s.kind, s.length)
	case s.end() > size:
		return section{}, io.ErrUnexpectedEOF
	}
	return s, nil
}

// readSection reads the payload of a section whose header was read, into buf if
// that is large enough.
func readSection(r io.ReaderAt, s section, buf []byte) ([]byte, error) {
	n := sectionHeader + int(s.length)
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if err := readAt(r, buf, s.offset); err != nil {
		return nil, err
	}
	if got := checksum(buf[4:12], buf[sectionHeader:]); got != s.sum {
		return nil, corrupt(s.offset, "the %v has checksum %#08x, but its contents have %#08x", s.kind, s.sum, got)
	}
	return buf[sectionHeader:], nil
}

func readAt(r io.ReaderAt, buf []byte, offset int64) error {
	n, err := r.ReadAt(buf, offset)
	if n == len(buf) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading %d bytes at offset %d: %w", len(buf), offset, err)
}

// A decoder takes numbers and bytes off a payload. Its first error stays, and
// everything after that is 0.
type decoder struct {
	b   []byte
	pos int
	err string
}

func (d *decoder) fail(what string) {
	if d.err == "" {
		d.err = fmt.Sprintf("%s, %d bytes into the section", what, d.pos)
		d.pos = len(d.b)
	}
}

func (d *decoder) left() int { return len(d.b) - d.pos }

func (d *decoder) byte() byte {
	if d.pos >= len(d.b) {
		d.fail("it ends too early")
		return 0
	}
	d.pos++
	return d.b[d.pos-1]
}

func (d *decoder) uvarint() uint64 {
	if d.pos < len(d.b) && d.b[d.pos] < 0x80 {
		d.pos++
		return uint64(d.b[d.pos-1])
	}
	v, n := binary.Uvarint(d.b[d.pos:])
	if n <= 0 {
		d.fail("a number is cut off or too large")
		return 0
	}
	d.pos += n
	return v
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (d *decoder) uint32() uint32 {
	v := d.uvarint()
	if v > 1<<32-1 {
		d.fail("a number is too large")
		return 0
	}
	return uint32(v)
}

// bytes returns the next n bytes, which are part of the payload.
func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(d.left()) {
		d.fail("it ends too early")
		return nil
	}
	d.pos += int(n)
	return d.b[d.pos-int(n) : d.pos]
}

// count reads the length of a list whose elements take at least min bytes.
func (d *decoder) count(min int) int {
	n := d.uvarint()
	if n > uint64(d.left()/min) {
		d.fail("a list is longer than its section")
		return 0
	}
	return int(n)
}
