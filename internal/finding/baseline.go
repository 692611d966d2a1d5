package finding

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// A Baseline is a set of findings that are known, and need not be told again. Its zero value
// knows none. It may be used by many goroutines at once.
//
// A finding is known by its identity. Because that has numbers of lines in it, which change
// when anything is written further up in a file, a finding is also known if it differs from
// one in the baseline by numbers of lines alone; but only as many of these as the baseline
// has, so that one more mistake in the same function is new.
type Baseline struct {
	known map[ID]ID  // identities, with their outlines; 0 if the outline is not known
	room  map[ID]int // how many findings of an outline there are

	mu    sync.Mutex
	taken map[ID][]ID // identities that were found, by outline
}

// ReadBaseline reads findings as WriteJSON writes them. A line may also be just an id, with
// words behind it, for a file that is kept by hand, or two as WriteTo writes them. Lines that
// are empty or begin with # say nothing.
func ReadBaseline(r io.Reader) (*Baseline, error) {
	b := &Baseline{known: make(map[ID]ID), room: make(map[ID]int)}
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading a baseline: line %d: %w", n, err)
		}
		if problem := b.read(bytes.TrimSpace(text)); problem != nil {
			return nil, fmt.Errorf("reading a baseline: line %d: %w", n, problem)
		}
		if err == io.EOF {
			return b, nil
		}
	}
}

func (b *Baseline) read(text []byte) error {
	switch {
	case len(text) == 0 || text[0] == '#':
		return nil
	case text[0] == '{':
		f, err := parseLine(text)
		if err == nil {
			b.add(f.ID(), f.Outline())
		}
		return err
	}
	var id, outline ID
	words := strings.Fields(string(text))
	if err := id.UnmarshalText([]byte(words[0])); err != nil {
		return err
	}
	if len(words) > 1 && outline.UnmarshalText([]byte(words[1])) != nil {
		outline = 0 // a word of a person's
	}
	b.add(id, outline)
	return nil
}

// AddIDs adds findings by their ids.
func (b *Baseline) AddIDs(texts ...string) error {
	if b.known == nil {
		b.known, b.room = make(map[ID]ID), make(map[ID]int)
	}
	for _, text := range texts {
		if err := b.read([]byte(text)); err != nil {
			return err
		}
	}
	return nil
}

func (b *Baseline) add(id, outline ID) {
	if _, again := b.known[id]; again {
		return
	}
	b.known[id] = outline
	if outline != 0 {
		b.room[outline]++
	}
}

// WriteTo writes the baseline as short lines of two ids, in an order that is always the same.
func (b *Baseline) WriteTo(w io.Writer) (int64, error) {
	ids := make([]ID, 0, len(b.known))
	for id := range b.known {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var text bytes.Buffer
	for _, id := range ids {
		fmt.Fprintln(&text, id, b.known[id])
	}
	return text.WriteTo(w)
}

// Known reports whether a finding is in the baseline.
func (b *Baseline) Known(f *Finding) bool {
	if b == nil || len(b.known) == 0 {
		return false
	}
	id, outline := f.ID(), f.Outline()
	b.mu.Lock()
	defer b.mu.Unlock()
	_, exact := b.known[id]
	taken := b.taken[outline]
	switch {
	case slices.Contains(taken, id):
		return true
	case !exact && len(taken) >= b.room[outline]:
		return false
	}
	if b.taken == nil {
		b.taken = make(map[ID][]ID)
	}
	b.taken[outline] = append(taken, id)
	return true
}

// New returns the findings that are not in the baseline, in their order.
func (b *Baseline) New(findings []Finding) []Finding {
	if b == nil || len(b.known) == 0 {
		return findings
	}
	for i := range findings { // those that are known exactly take their places first
		if _, exact := b.known[findings[i].ID()]; exact {
			b.Known(&findings[i])
		}
	}
	var fresh []Finding
	for i := range findings {
		if !b.Known(&findings[i]) {
			fresh = append(fresh, findings[i])
		}
	}
	return fresh
}
