package sched

import (
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// steps is a strategy that keeps what another one let happen.
type steps struct {
	Strategy
	ops []event.Op
}

func (s *steps) Begin() {
	s.ops = s.ops[:0]
	s.Strategy.Begin()
}

func (s *steps) Pick(p *Turn) int {
	i := s.Strategy.Pick(p)
	s.ops = append(s.ops, p.Ops[i])
	return i
}

// class names the run up to the order of independent steps: by every pair of steps that
// depend on each other, in their order.
func (s *steps) class() string {
	counts := map[uint32]int{}
	names := make([]string, len(s.ops))
	for i, op := range s.ops {
		counts[op.G]++
		names[i] = fmt.Sprintf("%d.%d@%d", op.G, counts[op.G], op.Site)
	}
	pairs := append([]string(nil), names...)
	for i, a := range s.ops {
		for j, b := range s.ops[i+1:] {
			if a.G != b.G && conflicts(a, b) {
				pairs = append(pairs, names[i]+"<"+names[i+1+j])
			}
		}
	}
	sort.Strings(pairs)
	return strings.Join(pairs, " ")
}

func TestFingerprintsAreTheClassesOfRuns(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	runs, classes := 0, 0
	for range 200 {
		m := randomModel(r, 3, 3, []opcode{load, store, add, load, lock, unlock, post, wait})
		e := &exhaustive{bound: 2}
		watch := &steps{Strategy: e}
		rec := NewRecorder(watch, true)
		prints := map[string]uint64{}
		back := map[uint64]string{}
		for n := 0; !e.done && n < 500; n++ {
			m.run(rec)
			runs++
			c, f := watch.class(), rec.Fingerprint()
			if g, ok := prints[c]; ok && g != f {
				t.Fatalf("one class with two fingerprints:\n%s\n%v", c, m)
			}
			if d, ok := back[f]; ok && d != c {
				t.Fatalf("one fingerprint for two classes:\n%s\n%s\n%v", c, d, m)
			}
			prints[c], back[f] = f, c
		}
		classes += len(back)
	}
	t.Logf("%d runs of %d classes", runs, classes)
}

func TestTableKeepsWordsApartAcrossRuns(t *testing.T) {
	var table table[int]
	r := rand.New(rand.NewSource(4))
	for run := range 50 {
		table.reset()
		want := map[word]int{}
		for range 1 + run*10 {
			w := word(r.Intn(500)) << (r.Intn(3) * 20)
			want[w]++
			*table.at(w)++
		}
		for w, n := range want {
			if got := *table.at(w); got != n {
				t.Fatalf("run %d: word %#x has %d, want %d", run, w, got, n)
			}
		}
	}
}

// conflicts reports whether the order of two operations of different goroutines can
// matter: they touch the same thing and one of them changes it.
func conflicts(o, p event.Op) bool {
	if o.Addr == 0 || p.Addr == 0 || o.Kind.IsRead() && p.Kind.IsRead() {
		return false
	}
	return o.Addr < p.Addr+p.Size && p.Addr < o.Addr+o.Size
}

func TestConflictsNeedsOverlapAndAWrite(t *testing.T) {
	op := func(k event.Kind, addr, size uintptr) event.Op { return event.Op{Kind: k, Addr: addr, Size: size} }
	for _, c := range []struct {
		a, b event.Op
		want bool
	}{
		{op(event.Load, 8, 8), op(event.Load, 8, 8), false},
		{op(event.Load, 8, 8), op(event.Store, 8, 8), true},
		{op(event.Store, 8, 4), op(event.Store, 12, 4), false},
		{op(event.Store, 8, 5), op(event.Load, 12, 4), true},
		{op(event.Lock, 8, 1), op(event.Lock, 8, 1), true},
		{op(event.AtomicLoad, 8, 8), op(event.AtomicUpdate, 8, 8), true},
		{op(event.Go, 0, 0), op(event.Store, 0, 8), false},
	} {
		if got := conflicts(c.a, c.b); got != c.want {
			t.Errorf("%v %v: %v, want %v", c.a, c.b, got, c.want)
		}
		if got := conflicts(c.b, c.a); got != c.want {
			t.Errorf("%v %v: %v, want %v", c.b, c.a, got, c.want)
		}
	}
}
