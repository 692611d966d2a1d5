package sched

import (
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

func TestPairsAreNeighboursOfDifferentGoroutinesThatDependOnEachOther(t *testing.T) {
	p := &Pairs{}
	run := func(ops ...event.Op) {
		p.begin()
		for i := range ops {
			p.step(ops[i].G, &ops[i])
		}
	}
	load := func(g, site uint32, addr uintptr) event.Op {
		return event.Op{Kind: event.Load, G: g, Site: site, Addr: addr, Size: 8}
	}
	store := func(g, site uint32, addr uintptr) event.Op {
		return event.Op{Kind: event.Store, G: g, Site: site, Addr: addr, Size: 8}
	}
	pair := func(first, second uint64) uint64 { return first<<32 | second }
	run(store(1, 1, 64), load(2, 2, 64), load(1, 3, 64), store(2, 4, 64), store(2, 5, 64), load(1, 6, 128))
	// 1 before 2; 3, the last reading, and 1 before 4; nothing between the readings, on another
	// word, or within a goroutine.
	if got, want := p.Fresh(), []uint64{pair(1, 2), pair(1, 4), pair(3, 4)}; !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	run(load(2, 2, 64), store(1, 1, 64), load(2, 2, 64))
	if got, want := p.Fresh(), []uint64{pair(2, 1)}; !slices.Equal(got, want) {
		t.Errorf("in the other order: %x, want %x", got, want)
	}
	run(store(1, event.CallSites, 64), load(2, 2, 64), event.Op{Kind: event.Store, G: 1, Site: 9, Addr: 64, Size: 64}, load(2, 2, 64))
	if got := p.Fresh(); got != nil {
		t.Errorf("of what has no site of its own, or is of many words: %x", got)
	}
}

func TestAPairSetKnowsWhatWasAdded(t *testing.T) {
	var s pairSet
	for round := range 2 {
		for i := range uint64(5000) {
			if s.add(i*i+1) != (round == 0) {
				t.Fatalf("%d in round %d", i*i+1, round)
			}
		}
	}
}
