package exec

import (
	"maps"
	"slices"
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A Log is a Trace in memory.
type Log struct {
	Events []Event
	// Unmapped, if it is there, reports whether no memory was ever at an address.
	Unmapped func(addr uint64) bool

	byGoroutine    map[uint32][]int
	accessesByWord map[uint64][]int // accesses by 8-byte word
	allocations    map[uint64][]int // allocations and their ends, by the words they touch
	frames         map[uint32][2]uint32
}

// maxIndexed is how much of an allocation is found by its addresses.
const maxIndexed = 1 << 20

// NewLog indexes events, whose numbers are their places counted from 1.
func NewLog(events []Event) *Log {
	l := &Log{Events: events, byGoroutine: map[uint32][]int{}, accessesByWord: map[uint64][]int{}, frames: map[uint32][2]uint32{}, allocations: map[uint64][]int{}}
	for i := range events {
		l.index(i)
	}
	return l
}

func (l *Log) index(i int) {
	event := &l.Events[i]
	l.byGoroutine[event.G] = append(l.byGoroutine[event.G], i)
	if event.Kind == KindAlloc || event.Kind == KindFree {
		for w := event.Addr / 8; w <= (event.Addr+min(uint64(max(event.Size, 1)), maxIndexed)-1)/8; w++ {
			l.allocations[w] = append(l.allocations[w], i)
		}
	}
	switch {
	case event.IsAccess():
		for w := event.Addr / 8; w <= (event.Addr+uint64(max(event.Size, 1))-1)/8; w++ {
			l.accessesByWord[w] = append(l.accessesByWord[w], i)
		}
	case event.Kind == KindCall:
		l.frames[event.Frame] = [2]uint32{uint32(event.Arg), event.Site}
	}
}

func (l *Log) Last() uint64 { return uint64(len(l.Events)) }

func (l *Log) Event(seq uint64) (Event, bool) {
	if seq == 0 || seq > l.Last() {
		return Event{}, false
	}
	return l.Events[seq-1], true
}

func (l *Log) All(after uint64, f func(*Event) bool) {
	for i := after; i < l.Last(); i++ {
		if !f(&l.Events[i]) {
			return
		}
	}
}

func (l *Log) Goroutines() []uint32 { return slices.Sorted(maps.Keys(l.byGoroutine)) }

func (l *Log) Ordering(f func(*Event) bool) {
	for i := range l.Events {
		if l.Events[i].Orders() && !f(&l.Events[i]) {
			return
		}
	}
}

func (l *Log) AllAccesses(f func(*Event) bool) {
	l.All(0, func(event *Event) bool { return !event.IsAccess() || f(event) })
}

func (l *Log) Next(g uint32, after uint64) (Event, bool) {
	list := l.byGoroutine[g]
	i := sort.SearchInts(list, int(after))
	if i == len(list) {
		return Event{}, false
	}
	return l.Events[list[i]], true
}

func (l *Log) LastStore(addr uint64, size uint32, before uint64) (Event, bool) {
	best := -1
	for w := addr / 8; w <= (addr+uint64(max(size, 1))-1)/8; w++ {
		list := l.accessesByWord[w]
		for i := sort.SearchInts(list, int(before)-1) - 1; i >= 0; i-- {
			event := &l.Events[list[i]]
			if event.Writes() && event.Touches(addr, size) {
				best = max(best, list[i])
				break
			}
		}
	}
	if best < 0 {
		return Event{}, false
	}
	return l.Events[best], true
}

func (l *Log) Accesses(addr uint64, size uint32, from, to uint64, f func(*Event) bool) {
	for _, x := range l.accesses(addr, size, from, to) {
		if !f(&l.Events[x]) {
			return
		}
	}
}

func (l *Log) Shared(addr uint64, size uint32) bool {
	var g uint32
	for _, x := range l.accesses(addr, size, 1, l.Last()) {
		if g != 0 && l.Events[x].G != g {
			return true
		}
		g = l.Events[x].G
	}
	return false
}

func (l *Log) AccessesBefore(addr uint64, size uint32, before uint64, f func(*Event) bool) {
	if before == 0 {
		return
	}
	for _, x := range slices.Backward(l.accesses(addr, size, 1, before-1)) {
		if !f(&l.Events[x]) {
			return
		}
	}
}

// accesses are the places of the events between the numbers, both included, that touched the
// memory.
func (l *Log) accesses(addr uint64, size uint32, from, to uint64) []int {
	var all []int
	for w := addr / 8; w <= (addr+uint64(max(size, 1))-1)/8; w++ {
		list := l.accessesByWord[w]
		for i := sort.SearchInts(list, int(from)-1); i < len(list) && uint64(list[i]) < to; i++ {
			if event := &l.Events[list[i]]; event.Touches(addr, size) {
				all = append(all, list[i])
			}
		}
	}
	sort.Ints(all)
	return slices.Compact(all)
}

func (l *Log) Allocation(addr uint64, before uint64) (Event, uint64, bool) {
	list := l.allocations[addr/8]
	found, until := -1, l.Last()
	for _, i := range list {
		event := &l.Events[i]
		if event.Kind != KindAlloc || !event.Touches(addr, 1) {
			continue
		}
		if event.Seq < before {
			found = i
		} else {
			until = event.Seq - 1
			break
		}
	}
	if found < 0 {
		return Event{}, 0, false
	}
	return l.Events[found], until, true
}

func (l *Log) BadAddress(addr uint64, before uint64) bool {
	if addr < ir.FirstPage {
		return true
	}
	freed := false
	for _, i := range l.allocations[addr/8] {
		if event := &l.Events[i]; event.Seq < before && event.Touches(addr, 1) {
			freed = event.Kind == KindFree
		}
	}
	return freed || l.Unmapped != nil && l.Unmapped(addr)
}

func (l *Log) Frame(id uint32) (uint32, uint32, bool) {
	f, ok := l.frames[id]
	return f[0], f[1], ok
}
