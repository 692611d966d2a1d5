package exec

import (
	"maps"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// unrecordedMemory is memory whose accesses make no events. It is one for all goroutines: a
// variable that is never changed once another goroutine can reach it makes none either.
//
// What a goroutine changes in it while it is followed for the first time is kept for each of
// its checkpoints, so that the goroutine can be followed again from there with the memory that
// it had then.
type unrecordedMemory struct {
	words map[uint64]memoryWord // by address, in units of words
	// journal, if there is one, gets each word before it changes.
	journal *memoryJournal
}

// A memoryWord is eight bytes, some of which are known.
type memoryWord struct {
	bytes uint64
	known uint64 // a mask
}

// A memoryJournal is what one goroutine has changed.
type memoryJournal struct {
	// initial are the words before the goroutine changed them first, with nothing known where
	// they were not there.
	initial map[uint64]memoryWord
	// changed are the words that were changed since the last checkpoint.
	changed map[uint64]bool
}

const (
	wordSize = 8
	// maxUnrecorded bounds the words that are kept beside the trace. The rest is unknown.
	maxUnrecorded = 1 << 20
)

func newUnrecordedMemory() *unrecordedMemory {
	return &unrecordedMemory{words: map[uint64]memoryWord{}}
}

// clone is memory with the same contents, without a journal.
func (m *unrecordedMemory) clone() *unrecordedMemory {
	return &unrecordedMemory{words: maps.Clone(m.words)}
}

func newMemoryJournal() *memoryJournal {
	return &memoryJournal{initial: map[uint64]memoryWord{}, changed: map[uint64]bool{}}
}

// part is how many of size bytes at addr lie in its word, how far the word has to be shifted for
// them, and the mask for them then.
func part(addr uint64, size int) (n int, shift uint, mask uint64) {
	offset := int(addr % wordSize)
	n = min(size, wordSize-offset)
	mask = ^uint64(0)
	if n < wordSize {
		mask = 1<<(8*uint(n)) - 1
	}
	return n, 8 * uint(offset), mask
}

// load reads memory; it reports false if a byte is not known.
func (m *unrecordedMemory) load(addr uint64, size int) (ir.Value, bool) {
	if size <= wordSize && addr%wordSize+uint64(size) <= wordSize { // most are
		_, shift, mask := part(addr, size)
		word := m.words[addr/wordSize]
		return ir.Word(size, word.bytes>>shift), word.known>>shift&mask == mask
	}
	all := make([]byte, 0, size)
	for left := size; left > 0; {
		n, shift, mask := part(addr, left)
		word := m.words[addr/wordSize]
		if word.known>>shift&mask != mask {
			return ir.Unknown(size), false
		}
		all = ir.Word(n, word.bytes>>shift).Append(all)
		addr, left = addr+uint64(n), left-n
	}
	return ir.Bytes(all), true
}

// store writes a value; one that is not known is forgotten.
func (m *unrecordedMemory) store(addr uint64, value ir.Value) {
	for offset := 0; offset < value.Size; {
		n, shift, mask := part(addr, value.Size-offset)
		at := addr / wordSize
		word, there := m.words[at]
		m.note(at, word)
		word.bytes &^= mask << shift
		word.known &^= mask << shift
		if value.Known && (there || len(m.words) < maxUnrecorded) {
			word.bytes |= value.Slice(offset, n).Uint() & mask << shift
			word.known |= mask << shift
		}
		m.set(at, word)
		addr, offset = addr+uint64(n), offset+n
	}
}

// set makes a word what it is to be.
func (m *unrecordedMemory) set(at uint64, word memoryWord) {
	if word.known == 0 {
		delete(m.words, at)
	} else {
		m.words[at] = word
	}
}

// note tells the journal of a word that is about to change.
func (m *unrecordedMemory) note(at uint64, word memoryWord) {
	if m.journal == nil {
		return
	}
	if _, again := m.journal.initial[at]; !again {
		m.journal.initial[at] = word
	}
	m.journal.changed[at] = true
}

// changes are the words that were changed since they were asked for last, as they are now.
func (m *unrecordedMemory) changes() map[uint64]memoryWord {
	all := make(map[uint64]memoryWord, len(m.journal.changed))
	for at := range m.journal.changed {
		all[at] = m.words[at]
	}
	clear(m.journal.changed)
	return all
}
