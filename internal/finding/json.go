package finding

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A line is the JSON form of a finding: the finding with its identity.
type line struct {
	ID ID `json:"id"`
	Finding
}

// WriteJSON writes the findings as JSON lines: one object on one line each, in
// one call of w.Write, so that a file that several processes append to keeps
// whole lines. Fields whose value is zero or unknown are left out, except id,
// kind, op and count.
//
//	id               string   16 hexadecimal digits, see ID
//	kind             string   violation, bypass, data race, panic, fatal error,
//	                          deadlock, partial deadlock, leak, exit, test failed,
//	                          crash, deviation, split section, transaction misuse
//	shape            string   of a deadlock or a leak, why goroutines wait for ever:
//	                          copied lock, lock order, double lock, missing
//	                          unlock, lock held over a wait, missed signal, no
//	                          signal, wait group never done, channel with nobody
//	                          left, nil channel, empty select, wait group held up
//	guard            object
//	  name           string   what it protects
//	  site           frame    where it was made
//	accesses         array    the access that the finding is about first
//	  op             string   read, write, lock, step
//	  goroutine      number
//	  address        number
//	  target         string   type and field
//	  stack          array    of frames, innermost first
//	  shape          string   why this goroutine waits for ever
//	  more           array    the numbers of others that wait in the same way
//	  holds          array    the locks that it holds
//	  held_by        array    the holders of the lock that it waits for
//	explanation      string   why it came to this outcome
//	run              object   the run of a test or program that showed it
//	  package        string   import path
//	  test           string
//	  trace          string   the file that it is recorded in
//	count            number   of occurrences, at least 1
//	outcomes         object   occurrences by outcome: delayed, tolerated,
//	                          resolved, surrendered, refused; together at
//	                          most count
//	waited_ns        number   nanoseconds waited in all occurrences
//	longest_wait_ns  number   nanoseconds waited in one
//	first, last      string   RFC 3339 time of the first and last occurrence
//
// where a lock that is held is
//
//	goroutine        number
//	address          number
//	target           string   the call that took it
//	since            frame    where
//	ended            bool     the goroutine has ended
//
// and a frame is
//
//	function         string   with its package path
//	file             string   as the compiler recorded it
//	line             number
//	column           number   in bytes, from 1
//
// Fields, kinds, ops and outcomes may be added to the schema; none of these is
// ever renamed or given another meaning.
func WriteJSON(w io.Writer, findings []Finding) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // function names and prose are full of < and >
	for i := range findings {
		f := &findings[i]
		err := f.validate() // what ReadJSON would refuse is better refused here
		if err == nil {
			err = enc.Encode(line{f.ID(), *f})
		}
		if err != nil {
			return fmt.Errorf("writing finding %v as JSON: %w", f.ID(), err)
		}
	}
	return nil
}

// ReadJSON reads what WriteJSON wrote. It refuses what it does not know, for
// a finding that was half understood would be told wrongly. At an error it
// returns the findings that precede the offending line, because a file that
// a killed process left behind often ends within a line.
func ReadJSON(r io.Reader) ([]Finding, error) {
	var findings []Finding
	b := bufio.NewReader(r)
	for n := 1; ; n++ {
		// Not a bufio.Scanner, which limits the length of a line.
		text, err := b.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return findings, fmt.Errorf("reading findings: line %d: %w", n, err)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			f, err := parseLine(text)
			if err != nil {
				return findings, fmt.Errorf("reading findings: line %d: %w", n, err)
			}
			findings = append(findings, f)
		}
		if err == io.EOF {
			return findings, nil
		}
	}
}

func parseLine(text []byte) (Finding, error) {
	var l line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return Finding{}, errors.New("the line is cut off")
		}
		return Finding{}, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return Finding{}, errors.New("more than one JSON value")
	}
	if err := l.Finding.validate(); err != nil {
		return Finding{}, err
	}
	if id := l.Finding.ID(); l.ID != id {
		return Finding{}, fmt.Errorf("id is %v but the content makes it %v: the line was edited, or another version of Cofferdam wrote it", l.ID, id)
	}
	return l.Finding, nil
}

// validate checks what the renderers rely on and the Go types cannot express.
func (f *Finding) validate() error {
	if !slices.Contains(Kinds, f.Kind) {
		return fmt.Errorf("unknown kind %q", f.Kind)
	}
	for _, a := range f.Accesses {
		switch a.Op {
		case Read, Write, Lock, Step:
		default:
			return fmt.Errorf("unknown op %q", a.Op)
		}
	}
	if f.Count == 0 {
		return errors.New("count is missing or 0")
	}
	rest := f.Count
	for _, o := range outcomes {
		n := f.Outcomes.Of(o)
		if n > rest {
			return fmt.Errorf("more outcomes than the count of %d", f.Count)
		}
		rest -= n
	}
	return nil
}
