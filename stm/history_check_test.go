package stm_test

// A checker of histories. A history is what the attempts of some transactions read
// and wrote, when each began and ended, and how. The checker decides whether there
// is one serial order of them that
//
//   - explains every read: the variable's value is the one the last writer before
//     it in the order has written, or the initial 0;
//   - agrees with time: who ended before another began comes first;
//   - ends with what memory holds.
//
// With the committed transactions alone that is strict serialisability; with the
// aborted attempts in it, as transactions that write nothing, it is opacity. This
// file also proves that the checker can tell: textbook anomalies are refused, and
// their legal siblings are not.

import (
	"fmt"
	"strings"
	"testing"
)

// An ending is how an attempt ended.
type ending int

const (
	committed ending = iota
	failed           // the function returned an error, and that was passed on
	conflict         // run again
)

func (e ending) String() string { return [...]string{"committed", "failed", "conflict"}[e] }

// An attempt is one run of a transaction's function. Its reads are those from
// memory: what it had written itself is not among them.
type attempt struct {
	begin, end int64 // moments; no two are the same
	reads      []access
	writes     []access
	ending     ending
}

// An access is a variable's value that was read or written. No value is written
// twice in a history, and none is 0.
type access struct {
	variable int
	value    uint64
}

func (a attempt) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d-%d] %v:", a.begin, a.end, a.ending)
	for _, r := range a.reads {
		fmt.Fprintf(&b, " r%d=%#x", r.variable, r.value)
	}
	for _, w := range a.writes {
		fmt.Fprintf(&b, " w%d=%#x", w.variable, w.value)
	}
	return b.String()
}

// A criterion says which attempts a history is judged by.
type criterion int

const (
	serialisable criterion = iota // what the caller has seen: committed and failed
	opaque                        // all
)

// A history is attempts, in any order, and the values at the end.
type history struct {
	attempts []attempt
	final    []uint64
}

func (h history) String() string {
	var b strings.Builder
	for i, a := range h.attempts {
		fmt.Fprintf(&b, "%3d %v\n", i, a)
	}
	fmt.Fprintf(&b, "memory %#x\n", h.final)
	return b.String()
}

// legal reports whether there is a serial order.
func (h history) legal(c criterion) bool {
	s := search{values: make([]uint64, len(h.final)), final: h.final, seen: map[string]bool{}}
	for _, a := range h.attempts {
		if a.ending == conflict && c != opaque {
			continue
		}
		if a.ending != committed {
			a.writes = nil
		}
		s.attempts = append(s.attempts, a)
	}
	if len(s.attempts) > 64 {
		panic("the history is too long for the checker")
	}
	return s.extend()
}

// A search extends a serial order one by one, depth first. Where it stands is told
// by who is placed and what the variables hold: what was tried once is not again.
type search struct {
	attempts []attempt
	final    []uint64
	placed   uint64 // a bit for each attempt
	values   []uint64
	seen     map[string]bool
}

func (s *search) extend() bool {
	before := s.placed
	defer func() { s.placed = before }()
	// Who writes nothing is placed as soon as it can be. That loses no order: it
	// changes nothing for the others, and they have to wait for it no longer.
	for more := true; more; {
		more = false
		for i := range s.attempts {
			if len(s.attempts[i].writes) == 0 && s.fits(i) {
				s.placed |= 1 << i
				more = true
			}
		}
	}
	if s.placed == 1<<len(s.attempts)-1 {
		return fmt.Sprint(s.values) == fmt.Sprint(s.final)
	}
	state := fmt.Sprint(s.placed, s.values)
	if s.seen[state] {
		return false
	}
	s.seen[state] = true
	for i := range s.attempts {
		if !s.fits(i) {
			continue
		}
		old := append([]uint64(nil), s.values...)
		for _, w := range s.attempts[i].writes {
			s.values[w.variable] = w.value
		}
		s.placed |= 1 << i
		if s.extend() {
			return true
		}
		s.placed &^= 1 << i
		s.values = old
	}
	return false
}

// fits reports whether an attempt can be the next.
func (s *search) fits(i int) bool {
	if s.placed&(1<<i) != 0 {
		return false
	}
	for _, r := range s.attempts[i].reads {
		if s.values[r.variable] != r.value {
			return false
		}
	}
	for j := range s.attempts {
		if s.placed&(1<<j) == 0 && s.attempts[j].end < s.attempts[i].begin {
			return false
		}
	}
	return true
}

// r and w are accesses, for histories written by hand.
func r(variable int, value uint64) access { return access{variable, value} }
func w(variable int, value uint64) access { return access{variable, value} }

// on is an attempt that lasts from begin to end.
func on(begin, end int64, e ending, reads, writes []access) attempt {
	return attempt{begin, end, reads, writes, e}
}

func TestCheckerTellsLegalHistoriesFromIllegalOnes(t *testing.T) {
	type list = []access
	for name, c := range map[string]struct {
		history
		serialisable, opaque bool
	}{
		"nothing happened": {history{nil, []uint64{0}}, true, true},
		"two increments, one after the other": {history{[]attempt{
			on(1, 2, committed, list{r(0, 0)}, list{w(0, 1)}),
			on(3, 4, committed, list{r(0, 1)}, list{w(0, 2)}),
		}, []uint64{2}}, true, true},
		"two increments at the same time, against the order of their ends": {history{[]attempt{
			on(1, 3, committed, list{r(0, 7)}, list{w(0, 8)}),
			on(2, 4, committed, list{r(0, 0)}, list{w(0, 7)}),
		}, []uint64{8}}, true, true},
		"lost update": {history{[]attempt{
			on(1, 3, committed, list{r(0, 0)}, list{w(0, 1)}),
			on(2, 4, committed, list{r(0, 0)}, list{w(0, 2)}),
		}, []uint64{2}}, false, false},
		"lost update, found in memory alone": {history{[]attempt{
			on(1, 2, committed, nil, list{w(0, 1)}),
			on(3, 4, committed, list{r(0, 1)}, list{w(1, 2)}),
		}, []uint64{0, 2}}, false, false},
		"write skew": {history{[]attempt{
			on(1, 3, committed, list{r(0, 0), r(1, 0)}, list{w(0, 1)}),
			on(2, 4, committed, list{r(0, 0), r(1, 0)}, list{w(1, 2)}),
		}, []uint64{1, 2}}, false, false},
		"no write skew: the second has seen the first": {history{[]attempt{
			on(1, 3, committed, list{r(0, 0), r(1, 0)}, list{w(0, 1)}),
			on(2, 4, committed, list{r(0, 1), r(1, 0)}, list{w(1, 2)}),
		}, []uint64{1, 2}}, true, true},
		"dirty read of what failed": {history{[]attempt{
			on(1, 3, failed, nil, list{w(0, 1)}),
			on(2, 4, committed, list{r(0, 1)}, nil),
		}, []uint64{0}}, false, false},
		"dirty read of half a commit": {history{[]attempt{
			on(1, 3, committed, nil, list{w(0, 1), w(1, 2)}),
			on(2, 4, committed, list{r(0, 1), r(1, 0)}, nil),
		}, []uint64{1, 2}}, false, false},
		"value from nowhere": {history{[]attempt{
			on(1, 2, committed, list{r(0, 99)}, nil),
		}, []uint64{0}}, false, false},
		"real-time inversion": {history{[]attempt{
			on(1, 2, committed, nil, list{w(0, 1)}),
			on(3, 4, committed, list{r(0, 0)}, nil),
		}, []uint64{1}}, false, false},
		"the same at the same time": {history{[]attempt{
			on(1, 3, committed, nil, list{w(0, 1)}),
			on(2, 4, committed, list{r(0, 0)}, nil),
		}, []uint64{1}}, true, true},
		"two readers that disagree about the order of two writers": {history{[]attempt{
			on(1, 10, committed, nil, list{w(0, 1)}),
			on(2, 11, committed, nil, list{w(1, 2)}),
			on(3, 12, committed, list{r(0, 1), r(1, 0)}, nil),
			on(4, 13, committed, list{r(0, 0), r(1, 2)}, nil),
		}, []uint64{1, 2}}, false, false},
		"inconsistent prefix of a conflict": {history{[]attempt{
			on(1, 3, committed, nil, list{w(0, 1), w(1, 2)}),
			on(2, 4, conflict, list{r(0, 0), r(1, 2)}, nil),
		}, []uint64{1, 2}}, true, false},
		"inconsistent prefix of a failure": {history{[]attempt{
			on(1, 3, committed, nil, list{w(0, 1), w(1, 2)}),
			on(2, 4, failed, list{r(0, 0), r(1, 2)}, nil),
		}, []uint64{1, 2}}, false, false},
		"consistent prefix of a conflict": {history{[]attempt{
			on(1, 3, committed, nil, list{w(0, 1), w(1, 2)}),
			on(2, 4, conflict, list{r(0, 0), r(1, 0)}, list{w(0, 9)}),
		}, []uint64{1, 2}}, true, true},
		"conflict that saw a state from before it began": {history{[]attempt{
			on(1, 2, committed, nil, list{w(0, 1)}),
			on(3, 4, conflict, list{r(0, 0)}, nil),
		}, []uint64{1}}, true, false},
		"two conflicts that no one order explains": {history{[]attempt{
			on(1, 10, committed, nil, list{w(0, 1)}),
			on(2, 11, committed, nil, list{w(1, 2)}),
			on(3, 12, conflict, list{r(0, 1), r(1, 0)}, nil),
			on(4, 13, conflict, list{r(0, 0), r(1, 2)}, nil),
		}, []uint64{1, 2}}, true, false},
	} {
		if got := c.legal(serialisable); got != c.serialisable {
			t.Errorf("%s: serialisable is %v, want %v\n%v", name, got, c.serialisable, c.history)
		}
		if got := c.legal(opaque); got != c.opaque {
			t.Errorf("%s: opaque is %v, want %v\n%v", name, got, c.opaque, c.history)
		}
	}
}
