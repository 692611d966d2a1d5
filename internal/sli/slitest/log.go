package slitest

import (
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
)

// A Log is a Trace in memory.
type Log struct {
	Events         []exec.Event
	byGoroutine    map[uint32][]int
	accessesByWord map[uint64][]int // accesses by 8-byte word
	allocations    []int            // by address
	frames         map[uint32][2]uint32
}

// NewLog indexes events, whose numbers are their places counted from 1.
func NewLog(events []exec.Event) *Log {
	l := &Log{Events: events, byGoroutine: map[uint32][]int{}, accessesByWord: map[uint64][]int{}, frames: map[uint32][2]uint32{}}
	for i := range events {
		l.index(i)
	}
	sort.SliceStable(l.allocations, func(i, j int) bool { return events[l.allocations[i]].Addr < events[l.allocations[j]].Addr })
	return l
}

func (l *Log) index(i int) {
	event := &l.Events[i]
	l.byGoroutine[event.G] = append(l.byGoroutine[event.G], i)
	switch {
	case event.IsAccess():
		for w := event.Addr / 8; w <= (event.Addr+uint64(max(event.Size, 1))-1)/8; w++ {
			l.accessesByWord[w] = append(l.accessesByWord[w], i)
		}
	case event.Kind == exec.KindAlloc:
		l.allocations = append(l.allocations, i)
	case event.Kind == exec.KindCall:
		l.frames[event.Frame] = [2]uint32{uint32(event.Arg), event.Site}
	}
}

func (l *Log) Last() uint64 { return uint64(len(l.Events)) }

func (l *Log) Event(seq uint64) (exec.Event, bool) {
	if seq == 0 || seq > l.Last() {
		return exec.Event{}, false
	}
	return l.Events[seq-1], true
}

func (l *Log) All(after uint64, f func(*exec.Event) bool) {
	for i := after; i < l.Last(); i++ {
		if !f(&l.Events[i]) {
			return
		}
	}
}

func (l *Log) Next(g uint32, after uint64) (exec.Event, bool) {
	list := l.byGoroutine[g]
	i := sort.SearchInts(list, int(after))
	if i == len(list) {
		return exec.Event{}, false
	}
	return l.Events[list[i]], true
}

func (l *Log) LastStore(addr uint64, size uint32, before uint64) (exec.Event, bool) {
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
		return exec.Event{}, false
	}
	return l.Events[best], true
}

func (l *Log) Accesses(addr uint64, size uint32, from, to uint64, f func(*exec.Event) bool) {
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
	for i, x := range all {
		if i > 0 && all[i-1] == x {
			continue
		}
		if !f(&l.Events[x]) {
			return
		}
	}
}

func (l *Log) Allocation(addr uint64, before uint64) (exec.Event, uint64, bool) {
	i := sort.Search(len(l.allocations), func(i int) bool { return l.Events[l.allocations[i]].Addr > addr })
	for i--; i >= 0; i-- {
		event := &l.Events[l.allocations[i]]
		if event.Seq < before && event.Touches(addr, 1) {
			return *event, l.Last(), true
		}
		if addr-event.Addr > 1<<20 {
			break
		}
	}
	return exec.Event{}, 0, false
}

func (l *Log) Frame(id uint32) (uint32, uint32, bool) {
	f, ok := l.frames[id]
	return f[0], f[1], ok
}
