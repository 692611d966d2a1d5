package trace

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A Writer writes a trace as the run goes on. Its first error stays: all calls
// after it return the same one.
type Writer struct {
	w      io.Writer
	file   *os.File // to be closed, or nil
	err    error
	offset int64
	index  index

	enc encoder
	sum summarizer
	any bool // there was an event
}

// Create makes or overwrites a file and starts a trace in it.
func Create(path string, h Header) (*Writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("creating a trace: %w", err)
	}
	w := NewWriter(f, h)
	w.file = f
	if w.err != nil {
		f.Close()
		return nil, w.err
	}
	return w, nil
}

// NewWriter starts a trace. If it cannot, the first use of the Writer says so.
func NewWriter(w io.Writer, h Header) *Writer {
	t := &Writer{w: w}
	t.enc.reset()
	t.sum.reset()
	t.write([]byte(magic))
	h.Format, h.Kinds = Version, kindsID()
	t.writeJSON(headerSection, h)
	return t
}

// kindsID is a checksum of the names of all kinds in their order, so that a trace is
// not misread after a kind was added.
func kindsID() string {
	sum := uint32(0)
	for _, k := range event.Kinds() {
		sum = crc32.Update(sum, castagnoli, []byte(k.String()+"\n"))
	}
	return fmt.Sprintf("%08x", sum)
}

// Event appends an event, which the Writer does not keep. Its Seq must be higher
// than that of the one before.
func (w *Writer) Event(e *event.Event) error {
	if w.err != nil {
		return w.err
	}
	if !e.Kind.Valid() || w.any && e.Seq <= w.enc.seq {
		return w.refuse(e)
	}
	w.any = true
	w.enc.add(e)
	w.sum.add(e)
	// The process may be about to end.
	if len(w.enc.buf) >= sectionHeader+blockSize || e.Kind == event.Panic || e.Kind == event.Exit {
		return w.Flush()
	}
	return nil
}

// Accesses is Event for what can be told as accesses.
func (w *Writer) Accesses(all []event.Access) error {
	for len(all) > 0 && w.err == nil {
		all = all[w.accesses(all):]
		if len(w.enc.buf) >= sectionHeader+blockSize {
			w.Flush()
		} else if len(all) > 0 {
			w.long(&all[0])
			all = all[1:]
		}
	}
	return w.err
}

// long writes an access that cannot have the short form.
func (w *Writer) long(a *event.Access) error {
	var before, after [8]byte
	binary.LittleEndian.PutUint64(before[:], a.Before)
	binary.LittleEndian.PutUint64(after[:], a.After)
	size := min(a.Size, 8)
	e := event.Event{Seq: a.Seq, G: a.G, Kind: a.Kind, Site: a.Site, Frame: a.Frame, Addr: a.Addr, Size: uint32(a.Size), Before: before[:size]}
	if a.Kind != event.Load {
		e.After = after[:size]
	}
	return w.Event(&e)
}

// refuse is apart from Event to keep that small.
func (w *Writer) refuse(e *event.Event) error {
	if !e.Kind.Valid() {
		w.err = fmt.Errorf("writing a trace: event %d has the unknown kind %d", e.Seq, e.Kind)
	} else {
		w.err = fmt.Errorf("writing a trace: event %d comes after event %d", e.Seq, w.enc.seq)
	}
	return w.err
}

// Flush ends the block, so that all events up to now are in the file whatever
// becomes of the process. It costs some space: blocks end by themselves when they
// are full, and after a Panic or Exit.
func (w *Writer) Flush() error {
	if w.err != nil || w.enc.n == 0 {
		return w.err
	}
	w.enc.finish()
	block := w.enc.buf
	s := w.sum.finish()
	s.block = placed(block, blockSection, w.offset)

	// In one call, so that hardly any crash comes between the two.
	buf := s.append(append(block, make([]byte, sectionHeader)...))
	putSection(buf[len(block):], summarySection)
	s.summary = placed(buf[len(block):], summarySection, w.offset+int64(len(block)))
	w.write(buf)
	w.index.add(s)

	w.enc.buf = buf
	w.enc.reset()
	w.sum.reset()
	return w.err
}

// placed describes a finished section that is about to be written at offset.
func placed(buf []byte, k sectionKind, offset int64) section {
	return section{kind: k, offset: offset, length: int64(len(buf) - sectionHeader), sum: binary.LittleEndian.Uint32(buf[12:])}
}

// SetSites writes the table of sites. It can be called at any time, and again: what
// is said of a site last counts.
func (w *Writer) SetSites(sites []Site) error {
	if err := w.Flush(); err != nil {
		return err
	}
	for len(sites) > 0 && w.err == nil {
		var payload []byte
		payload, sites = appendSites(make([]byte, sectionHeader), sites)
		w.index.sites = append(w.index.sites, placedSection(w, payload, sitesSection))
	}
	return w.err
}

// placedSection writes a section whose payload is buf[sectionHeader:].
func placedSection(w *Writer, buf []byte, k sectionKind) section {
	putSection(buf, k)
	s := placed(buf, k, w.offset)
	if s.length > k.limit() && w.err == nil {
		w.err = fmt.Errorf("writing a trace: the %v is %d bytes long, of at most %d", k, s.length, k.limit())
	}
	w.write(buf)
	return s
}

// Close writes the outcome and the index, and closes the file if Create opened it.
func (w *Writer) Close(o Outcome) error {
	w.Flush()
	w.index.outcome = w.writeJSON(outcomeSection, o)
	w.write(w.index.appendEnd(nil, w.offset))
	if w.file != nil {
		if err := w.file.Close(); err != nil && w.err == nil {
			w.err = fmt.Errorf("writing a trace: %w", err)
		}
		w.file = nil
	}
	if w.err != nil {
		return w.err
	}
	w.err = fmt.Errorf("writing a trace: it is closed")
	return nil
}

// Abandon ends a trace without an outcome, which says that there may have been more events,
// and closes the file if Create opened it.
func (w *Writer) Abandon() error {
	w.Flush()
	err := w.err
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
		w.file = nil
	}
	w.err = errors.Join(w.err, errors.New("writing a trace: it is closed"))
	return err
}

func (w *Writer) writeJSON(k sectionKind, v any) section {
	data, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("writing a trace: %v: %w", k, err)
	}
	return placedSection(w, append(make([]byte, sectionHeader), data...), k)
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.w.Write(b)
	w.offset += int64(n)
	if err != nil {
		w.err = fmt.Errorf("writing a trace: %w", err)
	}
}
