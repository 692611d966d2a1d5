package trace

import (
	"fmt"
	"slices"
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// Streams are the events of each goroutine by themselves, and those of some kinds of all
// goroutines together: what is read one after the other, again and again, when the run is
// followed goroutine by goroutine. In the file, the events of all goroutines lie mixed, and
// each block would be decoded once for every goroutine.
//
// They are made in one pass over the trace and kept in memory in the form that they have in
// the file, some ten bytes for an event. With them comes an index of accesses by word, four
// bytes for each.
type Streams struct {
	byGoroutine map[uint32]*stream
	chosen      *stream
	frames      []streamFrame // by number, for the numbers that are dense
	chunks      cache[chunkEvents]
	reader      *Reader
	words       wordAccesses
}

// A streamFrame is what a Call event says of the frame that it defines.
type streamFrame struct {
	parent, site uint32
}

// A stream is a list of chunks, each encoded like a block.
type stream struct {
	chunks []chunk
	// at is the place of the event that was read last, so that the next one is at hand.
	at streamPlace
	// open collects the events of the last chunk while the stream is made.
	open *encoder
}

type streamPlace struct {
	chunk, index int
	seq          uint64
	events       []event.Event // of the chunk
}

// A chunk is a piece of a stream.
type chunk struct {
	number      int // among all chunks of all streams
	first, last uint64
	payload     []byte
}

type chunkEvents []event.Event

const (
	// chunkSize is the payload at which a chunk ends.
	chunkSize = 16 << 10
	// cachedChunks is how many chunks are kept decoded: some 200 KB each.
	cachedChunks = 256
	// densest is how many frames there may be for each event, so that a corrupt number does
	// not make the table of frames too large.
	densest = 4
)

// Streams makes the streams of a trace. The kinds are those of the events that are to be had
// together. Interrupted is asked now and then, and ends the work with its error.
func (r *Reader) Streams(kinds []event.Kind, interrupted func() error) (*Streams, error) {
	if _, last, _ := r.Bounds(); last > lastNumber {
		return nil, fmt.Errorf("the trace has events up to number %d, and at most %d can be followed", last, uint64(lastNumber))
	}
	s := &Streams{byGoroutine: map[uint32]*stream{}, chosen: newStream(), reader: r, words: wordAccesses{byWord: map[uint64]*wordList{}}}
	accesses := setOf(Accesses()...)
	s.chunks.most = cachedChunks
	wanted := setOf(kinds...)
	frames := r.Len()*densest + 1
	number := 0
	c := r.Cursor(Filter{})
	for n := 0; c.Next(); n++ {
		if n%(1<<16) == 0 && interrupted != nil {
			if err := interrupted(); err != nil {
				return nil, err
			}
		}
		e := c.Event()
		own := s.byGoroutine[e.G]
		if own == nil {
			own = newStream()
			s.byGoroutine[e.G] = own
		}
		own.add(e, &number)
		if wanted.has(e.Kind) {
			s.chosen.add(e, &number)
		}
		if e.Kind == event.Call && uint64(e.Frame) < frames {
			s.define(e)
		}
		if accesses.has(e.Kind) && hasMemory(e) {
			s.words.add(e)
		}
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	s.chosen.close(&number)
	for _, own := range s.byGoroutine {
		own.close(&number)
	}
	return s, nil
}

// define notes a frame.
func (s *Streams) define(e *event.Event) {
	if int(e.Frame) >= len(s.frames) {
		s.frames = append(s.frames, make([]streamFrame, int(e.Frame)+1-len(s.frames))...)
	}
	s.frames[e.Frame] = streamFrame{parent: uint32(e.Arg), site: e.Site}
}

// Frame returns the caller of a frame, and the site of the event that entered it; false if
// the table does not have it.
func (s *Streams) Frame(id uint32) (parent, site uint32, ok bool) {
	if int(id) >= len(s.frames) || s.frames[id].site == 0 {
		return 0, 0, false
	}
	return s.frames[id].parent, s.frames[id].site, true
}

// Goroutines returns the numbers of the goroutines, in order.
func (s *Streams) Goroutines() []uint32 {
	all := make([]uint32, 0, len(s.byGoroutine))
	for g := range s.byGoroutine {
		all = append(all, g)
	}
	slices.Sort(all)
	return all
}

// Next returns the first event of a goroutine after a number; nil if there is none.
func (s *Streams) Next(g uint32, after uint64) *event.Event {
	own := s.byGoroutine[g]
	if own == nil {
		return nil
	}
	return s.next(own, after)
}

// NextChosen returns the first event of the chosen kinds after a number; nil if there is none.
func (s *Streams) NextChosen(after uint64) *event.Event { return s.next(s.chosen, after) }

// Shared reports whether more than one goroutine accesses words of the memory.
func (s *Streams) Shared(addr, size uint64) bool {
	var g uint32
	for i, list := range s.words.lists(addr, addr+max(size, 1)-1) {
		if i == 0 {
			g = list.g
		}
		if list.shared || list.g != g {
			return true
		}
	}
	return false
}

// Forward calls f with the accesses to memory from one number to another, both included, until
// f returns false.
func (s *Streams) Forward(addr, size, from, to uint64, f func(*event.Event) bool) error {
	var err error
	hi := addr + max(size, 1) - 1
	s.words.forward(addr, hi, from, func(seq uint64) bool {
		if seq > to {
			return false
		}
		var e *event.Event
		e, err = s.reader.At(seq)
		return err == nil && (!touches(e, addr, hi) || f(e))
	})
	return err
}

// Backward calls f with the accesses to memory before a number, the last first.
func (s *Streams) Backward(addr, size, before uint64, f func(*event.Event) bool) error {
	return s.backward(addr, size, before, false, f)
}

// LastStore is [Reader.LastStore] by the index of accesses.
func (s *Streams) LastStore(addr, size, before uint64) (last *event.Event, err error) {
	err = s.backward(addr, size, before, true, func(e *event.Event) bool {
		if e.Kind == event.AtomicCompare && e.Arg == 0 {
			return true
		}
		last = e
		return false
	})
	return last, err
}

func (s *Streams) backward(addr, size, before uint64, onlyWrites bool, f func(*event.Event) bool) error {
	var err error
	hi := addr + max(size, 1) - 1
	s.words.backward(addr, hi, before, onlyWrites, func(seq uint64) bool {
		var e *event.Event
		e, err = s.reader.At(seq)
		return err == nil && (!touches(e, addr, hi) || f(e))
	})
	return err
}

// touches reports whether an event, nil for none, touches a byte from lo to hi.
func touches(e *event.Event, lo, hi uint64) bool {
	return e != nil && e.Addr <= hi && lastByte(e.Addr, e.Size) >= lo
}

// next returns the first event of a stream after a number.
func (s *Streams) next(own *stream, after uint64) *event.Event {
	at := &own.at
	if at.events == nil || at.seq != after {
		at.chunk = sort.Search(len(own.chunks), func(i int) bool { return own.chunks[i].last > after })
		if at.chunk == len(own.chunks) {
			at.events = nil
			return nil
		}
		at.events = s.decode(&own.chunks[at.chunk])
		at.index = sort.Search(len(at.events), func(i int) bool { return at.events[i].Seq > after })
	} else if at.index++; at.index == len(at.events) {
		if at.chunk++; at.chunk == len(own.chunks) {
			at.events = nil
			return nil
		}
		at.events, at.index = s.decode(&own.chunks[at.chunk]), 0
	}
	e := &at.events[at.index]
	at.seq = e.Seq
	return e
}

// decode returns the events of a chunk. They were encoded here, so that decoding them does not
// fail.
func (s *Streams) decode(c *chunk) []event.Event {
	if events, ok := s.chunks.get(c.number); ok {
		return events
	}
	d := newBlockDecoder(c.payload)
	events := make([]event.Event, d.n)
	for i := range events {
		if !d.next(&events[i]) {
			panic("trace: a chunk of a stream: " + d.err)
		}
	}
	s.chunks.put(c.number, events)
	return events
}

func newStream() *stream {
	s := &stream{open: &encoder{buf: make([]byte, sectionHeader+blockHeader, 256)}}
	s.open.reset()
	return s
}

// add appends an event.
func (s *stream) add(e *event.Event, number *int) {
	s.open.add(e)
	if len(s.open.buf) >= sectionHeader+chunkSize {
		s.flush(number)
	}
}

// flush ends a chunk.
func (s *stream) flush(number *int) {
	if s.open.n == 0 {
		return
	}
	s.open.finish()
	s.chunks = append(s.chunks, chunk{number: *number, first: s.open.head, last: s.open.seq, payload: slices.Clone(s.open.buf[sectionHeader:])})
	*number++
	s.open.reset()
}

// close ends the last chunk.
func (s *stream) close(number *int) {
	s.flush(number)
	s.open = nil
}
