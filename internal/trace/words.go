package trace

import (
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// wordAccesses are the accesses of a trace by the words of memory that they touch. The
// summaries of blocks only say what a block may have: of a variable that is stored once, beside
// one that is stored all the time, every block may.
type wordAccesses struct {
	byWord map[uint64]*wordList
	// wide are the accesses that touch so many words that they are kept apart.
	wide wordList
}

// A wordList is the numbers of accesses in their order, those that write once more: what a
// variable held that is stored once and loaded all the time is found by them.
type wordList struct {
	numbers, writes []uint32
	g               uint32 // the goroutine of the first
	shared          bool   // there are several
}

const (
	wordBytes = 8
	maxWords  = 512
	// lastNumber is the highest that a wordList can hold.
	lastNumber = 1<<32 - 1
)

func (l *wordList) add(e *event.Event) {
	if len(l.numbers) == 0 {
		l.g = e.G
	}
	l.shared = l.shared || l.g != e.G
	l.numbers = append(l.numbers, uint32(e.Seq))
	if writes.has(e.Kind) {
		l.writes = append(l.writes, uint32(e.Seq))
	}
}

// add enters an access.
func (w *wordAccesses) add(e *event.Event) {
	first, last := e.Addr/wordBytes, lastByte(e.Addr, e.Size)/wordBytes
	if last-first >= maxWords {
		w.wide.add(e)
		return
	}
	for at := first; at <= last; at++ {
		list := w.byWord[at]
		if list == nil {
			list = new(wordList)
			w.byWord[at] = list
		}
		list.add(e)
	}
}

// lists are those of the words from lo to hi.
func (w *wordAccesses) lists(lo, hi uint64) []*wordList {
	var all []*wordList
	if len(w.wide.numbers) > 0 {
		all = append(all, &w.wide)
	}
	for at := lo / wordBytes; at <= hi/wordBytes; at++ {
		if list := w.byWord[at]; list != nil {
			all = append(all, list)
		}
	}
	return all
}

// backward calls f with the numbers of the accesses before a number to words from lo to hi, the
// last first, until f returns false; only of those that write, if that is asked for.
func (w *wordAccesses) backward(lo, hi, before uint64, onlyWrites bool, f func(seq uint64) bool) {
	var left [][]uint32 // of each list, what comes before
	for _, list := range w.lists(lo, hi) {
		numbers := list.numbers
		if onlyWrites {
			numbers = list.writes
		}
		left = append(left, numbers[:sort.Search(len(numbers), func(i int) bool { return uint64(numbers[i]) >= before })])
	}
	for {
		last := uint32(0)
		for _, numbers := range left {
			if n := len(numbers); n > 0 {
				last = max(last, numbers[n-1])
			}
		}
		if last == 0 || !f(uint64(last)) {
			return
		}
		for i, numbers := range left {
			if n := len(numbers); n > 0 && numbers[n-1] == last {
				left[i] = numbers[:n-1]
			}
		}
	}
}

// forward is backward in the other direction, from a number on.
func (w *wordAccesses) forward(lo, hi, from uint64, f func(seq uint64) bool) {
	var left [][]uint32 // of each list, what follows
	for _, list := range w.lists(lo, hi) {
		numbers := list.numbers
		left = append(left, numbers[sort.Search(len(numbers), func(i int) bool { return uint64(numbers[i]) >= from }):])
	}
	for {
		first := uint64(1 << 63)
		for _, numbers := range left {
			if len(numbers) > 0 {
				first = min(first, uint64(numbers[0]))
			}
		}
		if first == 1<<63 || !f(first) {
			return
		}
		for i, numbers := range left {
			if len(numbers) > 0 && uint64(numbers[0]) == first {
				left[i] = numbers[1:]
			}
		}
	}
}
