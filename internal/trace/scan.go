package trace

import (
	"errors"
	"fmt"
	"io"
)

// A TruncatedError says that a trace lacks its end.
type TruncatedError struct {
	Offset int64  // where what can be read ends
	Left   int64  // bytes that follow and are of no use
	Events uint64 // that can be read
	Last   uint64 // Seq of the last of them
	Cause  error  // what is wrong there, or nil if the file just ends
}

func (e *TruncatedError) Error() string {
	s := "the trace has no end: "
	if e.Cause == nil {
		s += "the recording process did not close it"
	} else {
		s += e.Cause.Error()
	}
	if e.Events == 0 {
		s += "; it has no events"
	} else {
		s += fmt.Sprintf("; its %d events up to number %d can be read", e.Events, e.Last)
	}
	if e.Left > 0 {
		s += fmt.Sprintf(", the %d bytes from offset %d on cannot", e.Left, e.Offset)
	}
	return s
}

func (e *TruncatedError) Unwrap() error { return e.Cause }

// Truncated returns a [TruncatedError] if the end of the trace is missing, and nil
// if it is whole.
func (r *Reader) Truncated() error { return r.truncated }

// scan makes the index by going from section to section, as far as they are whole.
func (r *Reader) scan(offset int64, why error) error {
	x := &index{}
	var high uint64
	end := offset
	var stop error
	for stop == nil {
		s, err := readSectionHeader(r.r, end, r.size)
		if err != nil {
			stop = err
			break
		}
		// Of a block whose summary had to be made from its events.
		if s.kind == summarySection {
			end = s.end()
			continue
		}
		// What holds no events is only useful whole.
		if s.kind != blockSection {
			if _, stop = readSection(r.r, s, nil); stop != nil {
				break
			}
		}
		switch s.kind {
		case blockSection:
			var sum *summary
			if sum, stop = r.scanBlock(s, high); stop != nil {
				break
			}
			if n := len(x.blocks); n > 0 && sum.first <= x.blocks[n-1].last {
				stop = corrupt(s.offset, "event %d comes after event %d", sum.first, x.blocks[n-1].last)
				break
			}
			if !sum.frames.empty() {
				high = max(high, sum.frames.hi)
			}
			x.add(sum)
			end = s.end()
			if sum.summary.kind != 0 {
				end = sum.summary.end()
			}
		case sitesSection:
			x.sites = append(x.sites, s)
			end = s.end()
		case outcomeSection:
			x.outcome = s
			end = s.end()
		case indexSection:
			// Only the trailer can follow, and it is not whole.
			stop = io.ErrUnexpectedEOF
		default:
			stop = corrupt(s.offset, "a %v that does not belong here", s.kind)
		}
	}
	var c *CorruptError
	if !errors.Is(stop, io.ErrUnexpectedEOF) && !errors.As(stop, &c) {
		return stop
	}
	r.index, r.end = x, end
	cut := &TruncatedError{Offset: end, Left: r.size - end, Cause: cause(why, stop), Events: r.Len()}
	_, cut.Last, _ = r.Bounds()
	r.truncated = cut
	return nil
}

// cause is what made a scan necessary or, if that was the missing trailer alone,
// what ended it.
func cause(why, stop error) error {
	for _, err := range []error{why, stop} {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
	}
	return nil
}

// scanBlock takes a block's summary from the section behind it or, if that is not
// whole, from the events.
func (r *Reader) scanBlock(s section, high uint64) (*summary, error) {
	next, err := readSectionHeader(r.r, s.end(), r.size)
	if err == nil && next.kind == summarySection {
		var payload []byte
		if payload, err = readSection(r.r, next, r.buf); err == nil {
			r.buf = payload[:0]
			var sum *summary
			if sum, err = parseSummary(next, payload); err == nil {
				sum.block, sum.core.summary = s, next
				return sum, nil
			}
		}
	}
	b, err := r.decode(s)
	if err != nil {
		return nil, err
	}
	made := &summarizer{high: high}
	made.reset()
	for i := range b.events {
		made.add(&b.events[i])
	}
	sum := made.finish()
	sum.block = s
	return sum, nil
}
