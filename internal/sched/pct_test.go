package sched

import (
	"math"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A bug of a known depth: the fewest orderings between steps that make it show.
type bug struct {
	name  string
	depth int
	model *model
}

// knownBugs have n goroutines, of which those that have nothing to do with the bug work
// on variables of their own.
func knownBugs() []bug {
	work := func(v, n int) []instruction {
		var code []instruction
		for range n {
			code = append(code, instruction{op: store, a: v, b: 1})
		}
		return code
	}
	join := func(parts ...[]instruction) []instruction {
		var code []instruction
		for _, p := range parts {
			code = append(code, p...)
		}
		return code
	}
	spawns := func(n int) []instruction {
		var code []instruction
		for i := 1; i <= n; i++ {
			code = append(code, instruction{op: spawn, a: i})
		}
		return code
	}
	one := func(ins ...instruction) []instruction { return ins }
	return []bug{
		// Goroutine 2 reads before 1 has written.
		{"order", 1, &model{vars: 4, ends: true, code: [][]instruction{
			spawns(2),
			join(work(1, 6), one(instruction{op: store, a: 0, b: 1})),
			join(one(instruction{op: load, a: 0}, instruction{op: forbid, a: 0}), work(2, 6)),
		}}},
		// Goroutine 2 writes between a check and a use in goroutine 1.
		{"atomicity", 2, &model{vars: 4, ends: true, code: [][]instruction{
			spawns(3),
			join(work(1, 3), one(instruction{op: load, a: 0}, instruction{op: store, a: 0, b: 1}), work(1, 3)),
			join(work(2, 3), one(instruction{op: add, a: 0, b: 1}, instruction{op: load, a: 0}, instruction{op: load, a: 3}), work(2, 2)),
			join(work(3, 4)),
		}}},
		// Two locks in two orders.
		{"deadlock", 2, &model{vars: 3, locks: 2, code: [][]instruction{
			spawns(2),
			join(work(1, 3), one(instruction{op: lock, a: 0}, instruction{op: lock, a: 1}, instruction{op: unlock, a: 1}, instruction{op: unlock, a: 0}), work(1, 3)),
			join(work(2, 3), one(instruction{op: lock, a: 1}, instruction{op: lock, a: 0}, instruction{op: unlock, a: 0}, instruction{op: unlock, a: 1}), work(2, 3)),
		}}},
		// Goroutine 2 is seen between two of its writes, by one that is itself in between.
		{"nested", 3, &model{vars: 4, ends: true, code: [][]instruction{
			spawns(2),
			join(work(1, 2), one(instruction{op: store, a: 0, b: 9}, instruction{op: load, a: 0}, instruction{op: forbid, a: 5}), work(1, 2)),
			join(work(2, 2), one(instruction{op: store, a: 0, b: 5}, instruction{op: store, a: 0, b: 7}), work(2, 2)),
		}}},
	}
}

// shows reports whether a run shows the bug.
func (b *bug) shows(res *result) bool {
	if b.name == "atomicity" {
		// The update in between was lost: the variable ends as 1.
		return len(res.state) > 1 && res.state[1] == '1'
	}
	return res.outcome == event.Failed
}

func TestPCTKeepsItsGuarantee(t *testing.T) {
	seeds := uint64(20000)
	if testing.Short() {
		seeds = 5000
	}
	for _, b := range knownBugs() {
		for depth := b.depth; depth <= 3; depth++ {
			found, longest := 0, uint64(0)
			for seed := range seeds {
				s := NewPCT(seed, depth)
				m := b.model
				// k has to be known: it is learnt from two runs.
				m.run(s)
				m.run(s)
				if b.shows(m.run(s)) {
					found++
				}
				longest = max(longest, s.points)
			}
			n, k := float64(len(b.model.code)), float64(longest)
			guarantee := 1 / (n * math.Pow(k, float64(depth-1)))
			rate := float64(found) / float64(seeds)
			// Three standard deviations of what would be seen at the guaranteed rate.
			margin := 3 * math.Sqrt(guarantee*(1-guarantee)/float64(seeds))
			t.Logf("%s (depth %d) with d = %d, n = %.0f, k = %.0f: found in %.4f of the runs, guaranteed is %.4f", b.name, b.depth, depth, n, k, rate, guarantee)
			if rate < guarantee-margin {
				t.Errorf("%s with d = %d: found in %.4f of the runs, guaranteed is %.4f", b.name, depth, rate, guarantee)
			}
		}
	}
}

func TestPCTLearnsTheLength(t *testing.T) {
	s := NewPCT(1, 2)
	m := counters(2, 50)
	for range 20 {
		m.run(s)
	}
	long := s.length
	if long < 90 || long > 250 {
		t.Errorf("length %d for runs of about 100 points", long)
	}
	m = counters(2, 5)
	for range 100 {
		m.run(s)
	}
	if s.length > 40 {
		t.Errorf("length %d after many shorter runs, was %d", s.length, long)
	}
}

func TestRandomFindsBothNearAndFarSwitches(t *testing.T) {
	const tries = 20000
	rate := func(m *model, reluctant uint64) float64 {
		found := 0
		r := NewRandom(7)
		for i := range uint64(tries) {
			r.run = 2*i + reluctant
			if m.run(r).outcome == event.Failed {
				found++
			}
		}
		return float64(found) / tries
	}
	// Each of two goroutines takes what the other wrote last and passes it on, increased;
	// to get as far as 5 they have to take turns.
	pass := func(from, to int) []instruction {
		return []instruction{{op: load, a: from}, {op: store, a: to, b: 1}}
	}
	near := &model{vars: 2, ends: true, code: [][]instruction{{{op: spawn, a: 1}}, nil}}
	for range 3 {
		near.code[0] = append(near.code[0], pass(1, 0)...)
		near.code[1] = append(near.code[1], pass(0, 1)...)
	}
	near.code[1] = append(near.code[1], instruction{op: forbid, a: 5})
	// All of one goroutine's ten steps fall between two of the other's.
	far := &model{vars: 1, ends: true, code: [][]instruction{
		{{op: spawn, a: 1}, {op: store, b: 100}, {op: load}, {op: forbid, a: 110}},
		nil,
	}}
	for range 10 {
		far.code[1] = append(far.code[1], instruction{op: add, b: 1})
	}
	nearUniform, nearReluctant := rate(near, 0), rate(near, 1)
	farUniform, farReluctant := rate(far, 0), rate(far, 1)
	t.Logf("taking turns: %.4f of the uniform runs, %.4f of the reluctant", nearUniform, nearReluctant)
	t.Logf("far ahead:    %.4f of the uniform runs, %.4f of the reluctant", farUniform, farReluctant)
	if nearUniform < 2*nearReluctant {
		t.Error("the uniform walk is not better where goroutines have to take turns")
	}
	if farReluctant < 2*farUniform {
		t.Error("the reluctant walk is not better where one has to run far ahead")
	}
}
