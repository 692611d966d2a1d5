package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// smallBlocks writes few events in several blocks.
func smallBlocks(t testing.TB) (file []byte, events []event.Event, ends []int) {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, testHeader)
	if err := w.SetSites(testSites(5)); err != nil {
		t.Fatal(err)
	}
	r := newRun(11, heapStart)
	for i := range 60 {
		e := r.next()
		events = append(events, copyEvent(e))
		put(w, e)
		if i%20 == 19 {
			w.Flush()
			ends = append(ends, b.Len())
		}
	}
	if err := w.Close(Outcome{Result: event.Failed}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), events, ends
}

// TestATraceCutOffAnywhereIsReadUpToTheLastWholeBlock cuts at every byte.
func TestATraceCutOffAnywhereIsReadUpToTheLastWholeBlock(t *testing.T) {
	file, events, _ := smallBlocks(t)
	whole := read(t, file)
	// A block counts once its own section is whole, even if its summary is not.
	var blockEnds []int64
	for i := range whole.index.blocks {
		blockEnds = append(blockEnds, whole.index.blocks[i].block.end())
	}
	headerEnd := whole.index.sites[0].offset
	for n := range len(file) {
		r, err := NewReader(bytes.NewReader(file[:n]), int64(n))
		if int64(n) < headerEnd {
			if err == nil {
				t.Fatalf("cut at %d, within the header: no error", n)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		want := 0
		for _, end := range blockEnds {
			if int64(n) >= end {
				want += 20
			}
		}
		sameEvents(t, collect(t, r, Filter{}), events[:want])
		var cut *TruncatedError
		if !errors.As(r.Truncated(), &cut) || cut.Cause != nil || cut.Events != uint64(want) {
			t.Fatalf("cut at %d: truncated %v", n, r.Truncated())
		}
	}
}

// TestNoDamageGoesUnnoticed changes every byte in three ways: nothing may panic, and
// events that are read without an error must be right.
func TestNoDamageGoesUnnoticed(t *testing.T) {
	file, events, _ := smallBlocks(t)
	for i := range file {
		for _, change := range []byte{0x01, 0x80, 0xff} {
			bad := bytes.Clone(file)
			bad[i] ^= change
			r, err := NewReader(bytes.NewReader(bad), int64(len(bad)))
			if err != nil {
				if text := err.Error(); !strings.Contains(text, "offset") && !errors.Is(err, ErrNotTrace) && !strings.Contains(text, "format") && !strings.Contains(text, "cut off") {
					t.Fatalf("byte %d: the error says too little: %v", i, err)
				}
				continue
			}
			var got []event.Event
			c := r.Cursor(Filter{})
			for c.Next() {
				got = append(got, *c.Event())
			}
			sameEvents(t, got, events[:len(got)])
			if c.Err() == nil && r.Truncated() == nil && len(got) != len(events) {
				t.Fatalf("byte %d: %d events and no word about the others", i, len(got))
			}
			askAll(t, r, events)
		}
	}
}

// askAll asks for things, whose answers may be missing but not wrong.
func askAll(t *testing.T, r *Reader, events []event.Event) {
	t.Helper()
	for i := range events {
		if e, err := r.LastStore(events[i].Addr, 8, 100); err == nil && e != nil && !sameEvent(e, &events[e.Seq-1]) {
			t.Fatalf("last store %+v", e)
		}
		if stack, err := r.Stack(events[i].Frame); err == nil && events[i].Frame != 0 && len(stack) == 0 {
			t.Fatal("an empty stack")
		}
	}
}

func TestIterationGoesOnBehindADamagedBlock(t *testing.T) {
	file, events, ends := smallBlocks(t)
	file[ends[0]+sectionHeader+30] ^= 1
	r := read(t, file)
	c := r.Cursor(Filter{})
	var got []event.Event
	for c.Next() {
		got = append(got, *c.Event())
	}
	var bad *CorruptError
	if !errors.As(c.Err(), &bad) || bad.First != 21 || bad.Last != 40 || bad.Offset != int64(ends[0]) {
		t.Fatalf("error %v, want one about events 21 to 40 at %d", c.Err(), ends[0])
	}
	for c.Seek(bad.Last + 1); c.Next(); {
		got = append(got, *c.Event())
	}
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
	sameEvents(t, got, append(events[:20:20], events[40:]...))
}

// TestADamagedSummaryCostsNothingButTime also in a file without its index.
func TestADamagedSummaryCostsNothingButTime(t *testing.T) {
	file, events, ends := smallBlocks(t)
	at := read(t, file).index.blocks[1].summary
	for _, n := range []int{len(file), ends[2]} {
		bad := bytes.Clone(file[:n])
		bad[at.offset+sectionHeader+5] ^= 1
		r := read(t, bad)
		sameEvents(t, collect(t, r, Filter{}), events)
		for _, e := range events {
			got := collect(t, r, Filter{Goroutines: []uint32{e.G}, Sites: []uint32{e.Site}, First: e.Seq, Last: e.Seq})
			sameEvents(t, got, []event.Event{e})
		}
	}
}

// TestLyingLengthsAllocateNothing has sections with right checksums that claim more
// than there is.
func TestLyingLengthsAllocateNothing(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<40)
	for name, c := range map[string]struct {
		kind    sectionKind
		payload []byte
	}{
		"a block of many events":  {blockSection, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, 1<<31), 1)},
		"a string without end":    {sitesSection, append([]byte{1, 0}, huge...)},
		"an unknown string":       {sitesSection, append([]byte{1}, huge...)},
		"an outcome without form": {outcomeSection, []byte(`{"result": 5}`)},
	} {
		var b bytes.Buffer
		w := NewWriter(&b, Header{})
		placedSection(w, append(make([]byte, sectionHeader), c.payload...), c.kind)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		runtime.ReadMemStats(&after)
		if err == nil {
			err = r.Truncated()
		}
		var bad *CorruptError
		if !errors.As(err, &bad) {
			t.Errorf("%s: error %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
	for name, payload := range map[string][]byte{
		"blocks":  huge,
		"sites":   append([]byte{0}, huge...),
		"regions": append([]byte{0, 0, 0, 0, 0}, huge...),
	} {
		at := section{kind: indexSection, offset: 1 << 40}
		if _, err := parseIndex(at, payload); err == nil || !strings.Contains(err.Error(), "longer than its section") {
			t.Errorf("an index with too many %s: %v", name, err)
		}
	}
	if _, err := readSectionHeader(bytes.NewReader(nil), 8, 1<<50); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that is shorter than it says: %v", err)
	}
}

// exercise uses all of a Reader, and must not panic.
func exercise(r *Reader) {
	objects := r.Objects()
	n := 0
	for c := r.Cursor(Filter{}); c.Next() && n < 200; n++ {
		e := c.Event()
		objects.At(e.Addr, e.Seq)
		r.Stack(e.Frame)
		r.LastStore(e.Addr, uint64(e.Size), e.Seq)
	}
	for c := r.Cursor(Filter{Goroutines: []uint32{1}}); c.Next(); {
	}
	c := r.Cursor(Filter{Kinds: Accesses()})
	for c.SeekEnd(); c.Prev(); {
	}
	Validate(r)
	Compare(r, r)
}

// FuzzReader: whatever the file is, nothing panics. The checksums are put right in
// half of the runs, so that what they protect is reached.
func FuzzReader(f *testing.F) {
	file, _, ends := smallBlocks(f)
	f.Add(file, true)
	f.Add(file[:ends[1]], true)
	f.Add(file[:ends[1]-20], false)
	f.Fuzz(func(t *testing.T, data []byte, mend bool) {
		if mend {
			data = mended(data)
		}
		r, err := NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		exercise(r)
	})
}

// FuzzSections: a file whose sections are framed as they should be can hold anything
// in them, and nothing panics.
func FuzzSections(f *testing.F) {
	file, _, _ := smallBlocks(f)
	r := read(f, file)
	payload := func(s section) []byte { return file[s.offset+sectionHeader : s.end()] }
	first := &r.index.blocks[0]
	at := int64(binary.LittleEndian.Uint64(file[len(file)-trailerSize:]))
	f.Add(payload(first.block), payload(first.summary), payload(r.index.sites[0]), payload(r.index.outcome), file[at+sectionHeader:len(file)-trailerSize])
	f.Fuzz(func(t *testing.T, block, summary, sites, outcome, index []byte) {
		for _, withIndex := range []bool{false, true} {
			var b bytes.Buffer
			w := NewWriter(&b, Header{})
			for _, s := range []struct {
				kind    sectionKind
				payload []byte
			}{{sitesSection, sites}, {blockSection, block}, {summarySection, summary}, {outcomeSection, outcome}, {indexSection, index}} {
				if s.kind == indexSection {
					at = w.offset
				}
				if withIndex || s.kind != indexSection {
					placedSection(w, append(make([]byte, sectionHeader), s.payload...), s.kind)
				}
			}
			data := b.Bytes()
			if withIndex {
				end := binary.LittleEndian.AppendUint64(nil, uint64(at))
				end = binary.LittleEndian.AppendUint32(end, checksum(end, nil))
				data = append(append(data, end...), closingMagic...)
			}
			if r, err := NewReader(bytes.NewReader(data), int64(len(data))); err == nil {
				exercise(r)
			}
		}
	})
}

// mended puts all checksums right.
func mended(data []byte) []byte {
	data = bytes.Clone(data)
	at := len(magic)
	for at+sectionHeader <= len(data) {
		end := at + sectionHeader + int(binary.LittleEndian.Uint32(data[at+8:]))
		if end > len(data) || binary.LittleEndian.Uint32(data[at:]) != marker {
			break
		}
		binary.LittleEndian.PutUint32(data[at+12:], checksum(data[at+4:at+12], data[at+sectionHeader:end]))
		at = end
	}
	if at+trailerSize == len(data) {
		binary.LittleEndian.PutUint32(data[at+8:], checksum(data[at:at+8], nil))
	}
	return data
}

// FuzzBlock: the events of any block that can be decoded are encoded to a block
// with the same events.
func FuzzBlock(f *testing.F) {
	file, _, _ := smallBlocks(f)
	r := read(f, file)
	for i := range r.index.blocks {
		s := r.index.blocks[i].block
		f.Add(file[s.offset+sectionHeader : s.end()])
	}
	decode := func(payload []byte) ([]event.Event, string) {
		d := newBlockDecoder(payload)
		events := make([]event.Event, d.n)
		for i := range events {
			if !d.next(&events[i]) {
				break
			}
		}
		return events, d.err
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		events, bad := decode(payload)
		if bad != "" {
			return
		}
		var enc encoder
		enc.reset()
		for i := range events {
			enc.add(&events[i])
		}
		enc.finish()
		again, bad := decode(enc.buf[sectionHeader:])
		if bad != "" {
			t.Fatal(bad)
		}
		sameEvents(t, again, events)
	})
}

// FuzzRoundTrip writes an event of any contents between two others.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint64(7), uint32(1), byte(event.Store), uint32(3), uint32(4), uint64(0xc000001000), uint32(8), uint64(0), []byte("before"), []byte("after"))
	f.Add(uint64(1<<64-1), uint32(1<<32-1), byte(event.Call), uint32(1<<32-1), uint32(0), uint64(1<<64-1), uint32(1<<32-1), uint64(1<<64-1), []byte{0}, make([]byte, 64))
	f.Add(uint64(2), uint32(3), byte(event.Store-1), uint32(1<<20), uint32(4), uint64(0xc000001039), uint32(8), uint64(0), []byte("8 before"), []byte("8 after\x00"))
	f.Add(uint64(2), uint32(3), byte(event.Load-1), uint32(0), uint32(1<<32-1), uint64(1<<63-8), uint32(4), uint64(0), []byte("\xff\xff\xff\xff"), []byte{})
	f.Fuzz(func(t *testing.T, seq uint64, g uint32, kind byte, site, frame uint32, addr uint64, size uint32, arg uint64, before, after []byte) {
		all := event.Kinds()
		e := event.Event{Seq: seq, G: g, Kind: all[int(kind)%len(all)], Site: site, Frame: frame, Addr: addr, Size: size, Arg: arg, Before: cutValue(before), After: cutValue(after)}
		events := []event.Event{e}
		if seq > 0 {
			events = append([]event.Event{{Seq: seq / 2, G: g, Kind: event.Load, Addr: addr + 8, Site: site}}, e)
		}
		if seq < 1<<64-1 {
			events = append(events, event.Event{Seq: seq + 1, G: g, Kind: event.Alloc, Addr: addr, Site: site, Arg: 1})
		}
		var b bytes.Buffer
		w := NewWriter(&b, Header{})
		for i := range events {
			if err := put(w, &events[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(Outcome{}); err != nil {
			t.Fatal(err)
		}
		r := read(t, b.Bytes())
		sameEvents(t, collect(t, r, Filter{}), events)
		if hasMemory(&e) && seq != 0 { // for which a filter has no bound
			sameEvents(t, collect(t, r, Filter{Addr: addr, Goroutines: []uint32{g}, Sites: []uint32{site}, Kinds: []event.Kind{e.Kind}, First: seq, Last: seq}), []event.Event{e})
		}
		exercise(r)
	})
}
