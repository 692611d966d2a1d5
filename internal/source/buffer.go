package source

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Buffer collects changes of a text by byte offset. All offsets are of the original text.
// It is not for use by several goroutines at once.
type Buffer struct {
	// KeepLines has every line of the original stay where it is: a replacement with fewer
	// line breaks than what it replaces gets the others at its end. A replacement with more,
	// and an insertion with any, is refused. What is appended is not concerned.
	KeepLines bool

	text     []byte
	changes  []change
	appended []string
}

// A change puts text in the place of original[from:to].
type change struct {
	from, to int
	side     side
	text     string
}

// A side says what a change at an offset belongs to.
type side uint8

const (
	ending    side = iota // what ends there
	beginning             // what begins there
)

// NewBuffer returns a buffer for changes of a text, which must not be modified any more.
func NewBuffer(text []byte) *Buffer { return &Buffer{text: text} }

// InsertAfter inserts text behind what ends at an offset.
func (b *Buffer) InsertAfter(at int, text string) {
	b.changes = append(b.changes, change{at, at, ending, text})
}

// InsertBefore inserts text in front of what begins at an offset, behind all that is
// inserted there with InsertAfter.
func (b *Buffer) InsertBefore(at int, text string) {
	b.changes = append(b.changes, change{at, at, beginning, text})
}

// Replace puts text in the place of what is between two offsets.
func (b *Buffer) Replace(from, to int, text string) {
	b.changes = append(b.changes, change{from, to, beginning, text})
}

// Supersede puts text in the place of what is between two offsets and of the changes inside it,
// which Inside has.
func (b *Buffer) Supersede(from, to int, text string) {
	b.changes = slices.DeleteFunc(b.changes, func(c change) bool { return c.inside(from, to) })
	b.Replace(from, to, text)
}

// Inside returns what is between two offsets with the changes inside it made: not those that insert
// something at its ends, as Range does.
func (b *Buffer) Inside(from, to int) (string, error) {
	inner := &Buffer{text: b.text}
	for _, c := range b.changes {
		if c.inside(from, to) {
			inner.changes = append(inner.changes, c)
		}
	}
	return inner.Range(from, to)
}

// inside reports whether a change is one of what is between two offsets, and inserts nothing at its
// ends.
func (c change) inside(from, to int) bool {
	if c.from == c.to {
		return from < c.from && c.from < to
	}
	return from <= c.from && c.to <= to
}

// Delete removes what is between two offsets.
func (b *Buffer) Delete(from, to int) { b.Replace(from, to, "") }

// Append adds text at the end of the whole, on lines of its own.
func (b *Buffer) Append(text string) { b.appended = append(b.appended, text) }

// Changed reports whether there are any changes.
func (b *Buffer) Changed() bool { return len(b.changes)+len(b.appended) > 0 }

// Replaced reports whether what is between two offsets is, as a whole, within something that
// is replaced. If the two are equal, it reports whether that place is inside of something
// that is replaced.
func (b *Buffer) Replaced(from, to int) bool {
	return slices.ContainsFunc(b.changes, func(c change) bool {
		if from == to {
			return c.from < from && to < c.to
		}
		return c.from < c.to && c.from <= from && to <= c.to
	})
}

// An OverlapError says that two changes are of the same piece of a text.
type OverlapError struct {
	// First and Second are the two pieces, from an offset to another.
	First, Second [2]int
}

func (e *OverlapError) Error() string {
	return fmt.Sprintf("two changes overlap: of bytes %d to %d and of bytes %d to %d", e.First[0], e.First[1], e.Second[0], e.Second[1])
}

// A LineError says that a change would move lines in a buffer that keeps them.
type LineError struct {
	Offset int
	Text   string // the new one
}

func (e *LineError) Error() string {
	return fmt.Sprintf("the change of byte %d to %q moves lines", e.Offset, e.Text)
}

// Bytes returns the text with all changes made.
func (b *Buffer) Bytes() ([]byte, error) {
	text, err := b.Range(0, len(b.text))
	if err != nil {
		return nil, err
	}
	out := []byte(text)
	for _, a := range b.appended {
		out = append(append(append(out, '\n'), a...), '\n')
	}
	return out, nil
}

// Range returns what is between two offsets with the changes of it made, those that insert
// something at its two ends included. A change that is only in part between them is refused.
func (b *Buffer) Range(from, to int) (string, error) {
	text, _, err := b.apply(from, to)
	return text, err
}

// apply returns a piece of the text with its changes made, and where in the result they are.
func (b *Buffer) apply(from, to int) (text string, at []int, err error) {
	slices.SortStableFunc(b.changes, func(x, y change) int {
		return cmp.Or(x.from-y.from, cmp.Compare(x.side, y.side), x.to-y.to)
	})
	var out strings.Builder
	done := [2]int{from, from} // the last change so far
	for _, c := range b.changes {
		if c.outside(from, to) {
			continue
		}
		if c.from < from || c.to > to {
			return "", nil, &OverlapError{First: [2]int{c.from, c.to}, Second: [2]int{from, to}}
		}
		if c.from < done[1] {
			return "", nil, &OverlapError{First: done, Second: [2]int{c.from, c.to}}
		}
		replacement, err := b.lines(c)
		if err != nil {
			return "", nil, err
		}
		out.Write(b.text[done[1]:c.from])
		at = append(at, out.Len())
		out.WriteString(replacement)
		done = [2]int{c.from, c.to}
	}
	out.Write(b.text[done[1]:to])
	return out.String(), at, nil
}

// outside reports whether a change is of nothing that is between two offsets.
func (c change) outside(from, to int) bool {
	if c.from == c.to {
		return c.from < from || to < c.from
	}
	return c.to <= from || to <= c.from
}

// lines returns the text of a change with as many line breaks as the buffer needs.
func (b *Buffer) lines(c change) (string, error) {
	if !b.KeepLines {
		return c.text, nil
	}
	missing := bytes.Count(b.text[c.from:c.to], []byte("\n")) - strings.Count(c.text, "\n")
	if missing < 0 {
		return "", &LineError{Offset: c.from, Text: c.text}
	}
	return c.text + strings.Repeat("\n", missing), nil
}
