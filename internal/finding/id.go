package finding

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// An ID is the identity of a finding: equal for the repeats of one defect,
// within a run and from run to run, also on another machine. It covers
//
//   - the kind,
//   - the guard, by name and by the place where it was made,
//   - each access, by its op and its site, in order; one whose place is not
//     known by its target, if that is: a lock guards several variables.
//
// A place counts as function, base name of the file, and line. Directories are
// left out because they differ between checkouts; the function's package path
// tells apart two files of one name.
//
// Left out because they differ between repeats: goroutines, addresses, times,
// and the callers of a site, of which the first seen are kept as an example.
// Also left out:
//
//   - The outcome. Whether a careless access is delayed or surrendered depends
//     on how long the section happened to last. The defect and its remedy are
//     the same, so the outcomes are tallied within one finding.
//   - The column: it is not known of what runs.
//   - The target of an access whose place is known. The target is not always,
//     and a finding must not split in two on the day that it becomes known.
//   - The explanation, which is prose and may be reworded.
//   - The run: two tests can show the same defect.
//
// The order of the accesses counts where it tells their roles: a careless
// access at A that met a section's access at B has another remedy than the
// reverse. The accesses of a race have no roles, and neither have goroutines
// that wait for ever: which comes first, and how many wait at one place, is a
// matter of the schedule. There the places count alone, in no order and once
// each: two goroutines at "n++" are one race, whether a load meets a store
// there or a store meets another one.
type ID uint64

// ID returns the identity of the finding.
//
// It is 64-bit FNV-1a. A log keeps a few thousand findings at most, for which
// the chance of a collision is below one in a trillion, and nobody gains by
// forging one; a cryptographic hash would buy nothing, and would link
// crypto/sha256 into users' programs.
func (f *Finding) ID() ID { return f.identity(func(line int) int { return line }) }

// Outline returns the identity of the finding without the numbers of lines, which stays the
// same when other parts of a file are changed. Findings of one outline may be several.
func (f *Finding) Outline() ID { return f.identity(func(int) int { return 0 }) }

func (f *Finding) identity(line func(int) int) ID {
	h := newHash()
	h.text(string(f.Kind))
	h.text(f.Guard.Name)
	h.place(f.Guard.Site, line)
	if f.Kind.alike() {
		var few [8]hash // more of them are rare
		for _, place := range f.places(few[:0], line) {
			h.number(place)
		}
		return ID(h)
	}
	for i := range f.Accesses {
		h.text(string(f.Accesses[i].Op))
		h.place(f.Accesses[i].Site(), line)
		if target := f.Accesses[i].Target; target != "" && len(f.Accesses[i].Stack) == 0 {
			h.text(target)
		}
	}
	return ID(h)
}

// places are the hashes of the accesses' sites, sorted and each of them once.
func (f *Finding) places(into []hash, line func(int) int) []hash {
	for i := range f.Accesses {
		one := newHash()
		one.place(f.Accesses[i].Site(), line)
		into = append(into, one)
	}
	slices.Sort(into)
	return slices.Compact(into)
}

// String returns the ID as 16 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// MarshalText makes an ID a string in JSON, where a number would lose its low
// bits in the many readers that hold numbers as floating point.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText accepts what String returns.
func (id *ID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || ID(n).String() != string(text) {
		return fmt.Errorf("id %q is not 16 hexadecimal digits", text)
	}
	*id = ID(n)
	return nil
}

type hash uint64

func newHash() hash { return 14695981039346656037 }

func (h *hash) number(n hash) {
	for range 8 {
		h.byte(byte(n))
		n >>= 8
	}
}

func (h *hash) byte(b byte) { *h = (*h ^ hash(b)) * 1099511628211 }

// text hashes s and an end mark that no UTF-8 contains. It goes rune by rune
// so that a stray byte in a file's name counts as U+FFFD, which is all that is
// left of it after a trip through JSON.
func (h *hash) text(s string) {
	var buf [utf8.UTFMax]byte
	for _, r := range s {
		for _, b := range utf8.AppendRune(buf[:0], r) {
			h.byte(b)
		}
	}
	h.byte(0xff)
}

func (h *hash) place(f Frame, line func(int) int) {
	h.text(f.Function)
	h.text(f.base())
	var buf [20]byte
	for _, b := range strconv.AppendInt(buf[:0], int64(line(f.Line)), 10) {
		h.byte(b)
	}
	h.byte(0xff)
}
