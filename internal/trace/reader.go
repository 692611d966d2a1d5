package trace

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// What a Reader keeps decoded: some 15 MB of events, and filters of as many blocks
// as a search is likely to come back to.
const (
	cachedBlocks    = 16
	cachedSummaries = 512
)

// A Reader reads a trace in pieces.
type Reader struct {
	Header Header
	// Outcome is nil if the recording did not come to its end.
	Outcome *Outcome

	r         io.ReaderAt
	file      *os.File
	size      int64
	end       int64 // of the last section before the index
	index     *index
	truncated error
	sites     map[uint32]Site

	blocks    cache[*block]
	summaries cache[*summary]
	defs      map[uint32]Frame
	// freshBlocks are the blocks with frames that are higher than all before them; nil until
	// they are asked for.
	freshBlocks []int
	buf         []byte
}

// A block is a decoded one.
type block struct {
	events []event.Event
	allocs []*event.Event // by address; see Reader.allocation
	sorted bool           // allocs is filled
	widest uint64         // the size of the largest of allocs
}

// Open opens a trace file, whole or cut off; see [Reader.Truncated].
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening a trace: %w", err)
	}
	r, err := open(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening trace %s: %w", path, err)
	}
	r.file = f
	return r, nil
}

func open(f *os.File) (*Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// Pieces of the file are read in any order, which pipes do not allow.
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return NewReader(f, info.Size())
}

// NewReader reads a trace of size bytes.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	t := &Reader{r: r, size: size, sites: map[uint32]Site{}, defs: map[uint32]Frame{}}
	t.blocks.most, t.summaries.most = cachedBlocks, cachedSummaries
	after, err := t.readHeader()
	if err != nil {
		return nil, err
	}
	if err := t.readIndex(); err != nil {
		if err := t.scan(after, err); err != nil {
			return nil, err
		}
	}
	if err := t.readOthers(); err != nil {
		return nil, err
	}
	return t, nil
}

// Close closes the file if Open opened it.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// readHeader returns the offset of what follows the header.
func (r *Reader) readHeader() (int64, error) {
	var start [len(magic)]byte
	if r.size == 0 {
		return 0, fmt.Errorf("%w: it is empty", ErrNotTrace)
	}
	if r.size < int64(len(start)) {
		return 0, ErrNotTrace
	}
	if err := readAt(r.r, start[:], 0); err != nil {
		return 0, err
	}
	if string(start[:]) != magic {
		return 0, ErrNotTrace
	}
	s, err := readSectionHeader(r.r, int64(len(magic)), r.size)
	if err == nil && s.kind != headerSection {
		err = corrupt(s.offset, "it begins with a %v and not with the header", s.kind)
	}
	var data []byte
	if err == nil {
		data, err = readSection(r.r, s, nil)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, fmt.Errorf("it is cut off within its header, at %d bytes", r.size)
	}
	if err != nil {
		return 0, err
	}
	// The version comes first: a later one may have fields of other types.
	var v struct{ Format int }
	if err := json.Unmarshal(data, &v); err != nil {
		return 0, corrupt(s.offset, "the header: %v", err)
	}
	if v.Format != Version {
		return 0, fmt.Errorf("it has format %d, and this program reads format %d: find the failure again with cofferdam explore, which records it, or read the file with the version of cofferdam that wrote it", v.Format, Version)
	}
	if err := json.Unmarshal(data, &r.Header); err != nil {
		return 0, corrupt(s.offset, "the header: %v", err)
	}
	if r.Header.Kinds != kindsID() {
		return 0, errors.New("it has other kinds of events than this program knows: find the failure again with cofferdam explore, which records it, or read the file with the version of cofferdam that wrote it")
	}
	return s.end(), nil
}

// readIndex finds the index by the trailer. Its error is io.ErrUnexpectedEOF if
// there is no trailer.
func (r *Reader) readIndex() error {
	if r.size < trailerSize {
		return io.ErrUnexpectedEOF
	}
	var t [trailerSize]byte
	at := r.size - trailerSize
	if err := readAt(r.r, t[:], at); err != nil {
		return err
	}
	if string(t[12:]) != closingMagic {
		return io.ErrUnexpectedEOF
	}
	if checksum(t[:8], nil) != binary.LittleEndian.Uint32(t[8:]) {
		return corrupt(at, "the trailer has a wrong checksum")
	}
	offset := binary.LittleEndian.Uint64(t[:])
	if offset > uint64(at) {
		return corrupt(at, "the trailer says that the index is at %d, behind the end", offset)
	}
	s, err := readSectionHeader(r.r, int64(offset), at)
	if errors.Is(err, io.ErrUnexpectedEOF) || err == nil && s.end() != at {
		return corrupt(int64(offset), "the index does not reach to the trailer")
	}
	if err != nil {
		return err
	}
	if s.kind != indexSection {
		return corrupt(s.offset, "a %v where the index should be", s.kind)
	}
	payload, err := readSection(r.r, s, nil)
	if err != nil {
		return err
	}
	r.index, err = parseIndex(s, payload)
	r.end = s.offset
	return err
}

// readOthers reads the sites and the outcome.
func (r *Reader) readOthers() error {
	for _, s := range r.index.sites {
		payload, err := readSection(r.r, s, nil)
		if err != nil {
			return err
		}
		if err := parseSites(s, payload, func(site Site) { r.sites[site.ID] = site }); err != nil {
			return err
		}
	}
	if s := r.index.outcome; s.kind != 0 {
		data, err := readSection(r.r, s, nil)
		if err != nil {
			return err
		}
		r.Outcome = new(Outcome)
		if err := json.Unmarshal(data, r.Outcome); err != nil {
			return corrupt(s.offset, "the outcome: %v", err)
		}
	}
	return nil
}

// KeepBlocks has the Reader keep so many blocks decoded, each of which takes up to 1 MB: for an
// analysis that comes back to the same blocks again and again.
func (r *Reader) KeepBlocks(n int) { r.blocks.most = n }

// Size is the length of the file.
func (r *Reader) Size() int64 { return r.size }

// Blocks is the number of blocks that the events are in.
func (r *Reader) Blocks() int { return len(r.index.blocks) }

// Len is the number of events.
func (r *Reader) Len() uint64 {
	var n uint64
	for i := range r.index.blocks {
		n += uint64(r.index.blocks[i].count)
	}
	return n
}

// Bounds returns the Seq of the first and last event; ok is false if there is none.
func (r *Reader) Bounds() (first, last uint64, ok bool) {
	b := r.index.blocks
	if len(b) == 0 {
		return 0, 0, false
	}
	return b[0].first, b[len(b)-1].last, true
}

// Site returns what is known about a site.
func (r *Reader) Site(id uint32) (Site, bool) {
	s, ok := r.sites[id]
	return s, ok
}

// Sites returns all sites, in the order of their numbers.
func (r *Reader) Sites() []Site {
	list := make([]Site, 0, len(r.sites))
	for _, s := range r.sites {
		list = append(list, s)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// Goroutines returns the goroutines that have events, in the order of their
// numbers, and how many.
func (r *Reader) Goroutines() (gs []uint32, events []uint64) {
	for _, t := range r.index.tallies() {
		gs, events = append(gs, t.g), append(events, t.n)
	}
	return gs, events
}

// Count is how many events of a kind there are.
func (r *Reader) Count(k event.Kind) uint64 {
	if !k.Valid() {
		return 0
	}
	return r.index.kindCounts[k]
}

// find returns the first block that ends at seq or later.
func (r *Reader) find(seq uint64) int {
	b := r.index.blocks
	return sort.Search(len(b), func(i int) bool { return b[i].last >= seq })
}

// block returns a decoded block.
func (r *Reader) block(i int) (*block, error) {
	if b, ok := r.blocks.get(i); ok {
		return b, nil
	}
	c := &r.index.blocks[i]
	b, err := r.decode(c.block)
	if err == nil {
		if e := b.events; e[0].Seq != c.first || e[len(e)-1].Seq != c.last || len(e) != int(c.count) {
			err = corrupt(c.block.offset, "the block has events %d to %d where its summary says %d to %d", e[0].Seq, e[len(e)-1].Seq, c.first, c.last)
		}
	}
	if err != nil {
		var bad *CorruptError
		if errors.As(err, &bad) {
			bad.First, bad.Last = c.first, c.last
		}
		return nil, err
	}
	r.blocks.put(i, b)
	return b, nil
}

func (r *Reader) decode(s section) (*block, error) {
	payload, err := readSection(r.r, s, r.buf)
	if err != nil {
		return nil, err
	}
	r.buf = payload[:0]
	d := newBlockDecoder(payload)
	b := &block{events: make([]event.Event, d.n)}
	for i := range b.events {
		if !d.next(&b.events[i]) {
			break
		}
	}
	if d.err != "" {
		return nil, corrupt(s.offset, "the block of events: %s", d.err)
	}
	return b, nil
}

// summary returns what is in a block; nil if the file does not say.
func (r *Reader) summary(i int) (*summary, error) {
	if s, ok := r.summaries.get(i); ok {
		return s, nil
	}
	at := r.index.blocks[i].summary
	if at.kind == 0 {
		return nil, nil
	}
	payload, err := readSection(r.r, at, r.buf)
	if err != nil {
		return nil, err
	}
	r.buf = payload[:0]
	s, err := parseSummary(at, payload)
	if err != nil {
		return nil, err
	}
	r.summaries.put(i, s)
	return s, nil
}
