package sched

import (
	"flag"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// exhaustive is the depth-first search with a bound and nothing left out: the oracle.
type exhaustive struct {
	bound int
	path  []struct{ n, chosen int }
	depth int
	used  int
	fair  fairness
	last  uint32
	yield insistence
	done  bool
}

func (e *exhaustive) Begin() {
	e.depth, e.used, e.last = 0, 0, 0
	e.fair.begin()
}

// choose returns the next of n possibilities.
func (e *exhaustive) choose(n int) int {
	if e.depth == len(e.path) {
		e.path = append(e.path, struct{ n, chosen int }{n: n})
	}
	e.depth++
	return e.path[e.depth-1].chosen
}

func (e *exhaustive) Pick(p *Turn) int {
	if e.last != 0 {
		e.fair.stepped(e.last, e.yield, p)
	}
	var possible []int
	c := p.current()
	free := c < 0 || !e.fair.allows(p.Current, p) || p.Ops[c].Yield
	for i, g := range p.Ready {
		costs := !free && i != c
		if g == Time {
			costs = p.Preempts(i)
		}
		if (g == Time || e.fair.allows(g, p)) && (!costs || e.used < e.bound) {
			possible = append(possible, i)
		}
	}
	i := possible[e.choose(len(possible))]
	if p.Ready[i] == Time {
		if p.Preempts(i) {
			e.used++
		}
		e.last = 0
		return i
	}
	if !free && i != c {
		e.used++
	}
	e.last, e.yield = p.Ready[i], e.fair.insistence(p.Ready[i], &p.Ops[i])
	e.fair.takes(p.Ready[i], &p.Ops[i])
	return i
}

func (e *exhaustive) Branch(c Choice) int {
	if !c.unlikely() {
		return e.choose(c.N)
	}
	if e.used == e.bound {
		return e.choose(1)
	}
	i := e.choose(c.N)
	if i > 0 {
		e.used++
	}
	return i
}

func (e *exhaustive) Chance() uint64 { return 0 }

func (e *exhaustive) End(event.Ending, Used) {
	for len(e.path) > 0 {
		last := &e.path[len(e.path)-1]
		if last.chosen++; last.chosen < last.n {
			return
		}
		e.path = e.path[:len(e.path)-1]
	}
	e.done = true
}

func (e *exhaustive) Watches() bool      { return true }
func (e *exhaustive) Next(uint32) uint64 { return 0 }
func (e *exhaustive) Exhausted() bool    { return e.done }
func (e *exhaustive) Progress() Progress { return Progress{} }

// explore runs m under s to the end, or up to limit runs, and returns the states that
// were reached. The number of runs is negative if the limit was reached.
func explore(t *testing.T, m *model, s Strategy, limit int) (map[string]bool, int) {
	t.Helper()
	states := map[string]bool{}
	runs := 0
	for !s.Exhausted() {
		if runs == limit {
			return states, -1
		}
		res := m.run(s)
		if res.bad != "" {
			t.Fatalf("%s\n%v", res.bad, m)
		}
		runs++
		states[res.outcomeAndState()] = true
	}
	return states, runs
}

func (r *result) outcomeAndState() string { return fmt.Sprint(r.outcome, r.state) }

func missing(want, got map[string]bool) string {
	var lost []string
	for s := range want {
		if !got[s] {
			lost = append(lost, s)
		}
	}
	sort.Strings(lost)
	return strings.Join(lost, "\n")
}

var families = []struct {
	name       string
	goroutines int
	length     int
	programs   int
	ops        []opcode
}{
	{"memory", 3, 3, 200, []opcode{load, store, add, load, store, forbid}},
	{"two goroutines", 2, 6, 160, []opcode{load, store, add, forbid, lock, unlock, branch}},
	{"locks", 3, 3, 160, []opcode{load, store, lock, unlock, lock, forbid}},
	{"read locks", 3, 3, 160, []opcode{load, store, lock, unlock, rlock, runlock, forbid}},
	{"semaphores", 3, 3, 160, []opcode{load, store, post, wait, choose, branch, forbid}},
	{"yields", 3, 3, 120, []opcode{load, store, add, yield, forbid, lock, unlock}},
	{"spinning", 3, 3, 100, []opcode{load, store, add, backUnless, store, forbid}},
	{"selects", 3, 3, 160, []opcode{load, store, post, post, choose, choose}},
	{"four", 4, 2, 120, []opcode{load, store, add, lock, unlock, post, wait}},
	{"sleeping", 3, 3, 80, []opcode{load, store, add, sleep, sleep, forbid}},
	{"timers", 3, 3, 100, []opcode{load, store, sleep, after, wait, choose, post, readClock, forbid}},
	{"clocks", 3, 3, 80, []opcode{store, sleep, after, readClock, readClock, wait}},
	{"chance", 3, 3, 100, []opcode{load, store, add, branch, branch, sleep}},
	{"everything", 3, 3, 100, []opcode{load, store, add, lock, unlock, rlock, runlock, post, wait, choose, branch, yield, backUnless, forbid, sleep, after, readClock}},
}

// seed is where the random programs come from. Another one can be asked for:
//
//	go test -run ReducedSearch -args -seed 7
var seedFlag = flag.Int64("seed", 1, "of the random programs")

func TestReducedSearchReachesWhatTheFullOneReaches(t *testing.T) {
	seed := *seedFlag
	const limit = 1200
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			r := rand.New(rand.NewSource(seed))
			var full, reduced [4]int
			programs, states, failures := 0, 0, 0
			if testing.Short() {
				f.programs /= 5
			}
			for n := range f.programs {
				m := randomModel(r, f.goroutines, f.length, f.ops)
				m.limit = 200
				for bound := range 4 {
					b := bound
					if bound == 3 {
						b = 1000
					}
					want, runs := explore(t, m, &exhaustive{bound: b}, limit)
					if runs < 0 {
						break
					}
					// Only the round with this very bound is of interest.
					d := NewDFS(b)
					d.bound = b
					got, ours := explore(t, m, d, limit)
					if d.cutOff > 0 && m.waitsForTime() {
						// Several goroutines that yield keep time from moving on for ever.
						continue
					}
					if lost := missing(want, got); lost != "" || ours < 0 {
						t.Fatalf("program %d with bound %d: %d runs instead of %d miss\n%s\nof %d states\n%v", n, b, ours, runs, lost, len(want), m)
					}
					if extra := missing(got, want); extra != "" {
						t.Fatalf("program %d with bound %d: only the reduced search reaches\n%s\n%v", n, b, extra, m)
					}
					full[bound] += runs
					reduced[bound] += ours
					if bound == 3 {
						programs++
						states += len(want)
						for s := range want {
							if strings.HasPrefix(s, "1") {
								failures++
							}
						}
					}
				}
			}
			t.Logf("%d programs, %d states, %d of them failures or deadlocks", programs, states, failures)
			for bound := range full {
				t.Logf("bound %d (3: none): %d runs instead of %d, a factor of %.1f", bound, reduced[bound], full[bound], float64(full[bound])/float64(reduced[bound]))
			}
		})
	}
}

// Each of these programs was missed something of by a reduction that looked right.
func TestReducedSearchOnProgramsThatAreEasyToGetWrong(t *testing.T) {
	for name, m := range map[string]*model{
		// To ask for the lock that goroutine 1 holds is the way back to it without a
		// second preemption.
		"waiting for a lock gives up the turn": {vars: 1, locks: 1, code: [][]instruction{
			{{op: spawn, a: 1}, {op: lock}, {op: store, b: 1}, {op: unlock}, {op: store, b: 3}, {op: lock}, {op: unlock}},
			{{op: load}, {op: lock}, {op: store, b: 1}, {op: lock}, {op: load}, {op: unlock}, {op: unlock}},
		}},
		// Posts to different semaphores do not depend on each other, except that both
		// wake the one who waits for either.
		"two ways of being woken": {vars: 1, sems: 2, code: [][]instruction{
			{{op: spawn, a: 1}, {op: choose, a: 0, b: 1}, {op: load}, {op: load}},
			{{op: spawn, a: 2}, {op: store, b: 3}, {op: post, a: 1}},
			{{op: branch, a: 2}, {op: post, a: 0}},
		}},
		"two ways of being served": {vars: 1, sems: 2, handOver: true, code: [][]instruction{
			{{op: spawn, a: 1}, {op: choose, a: 0, b: 1}, {op: load}, {op: load}},
			{{op: spawn, a: 2}, {op: store, b: 3}, {op: post, a: 1}},
			{{op: branch, a: 2}, {op: post, a: 0}},
		}},
		// A yield in the middle of a turn is a place to go on from for nothing.
		"a yield gives up the turn": {vars: 1, code: [][]instruction{
			{{op: spawn, a: 1}, {op: store, b: 3}, {op: load}},
			{{op: spawn, a: 2}, {op: store, b: 1}, {op: yield}, {op: backUnless, b: 1}, {op: store, b: 3}},
			{{op: yield}, {op: backUnless, b: 1}, {op: load}, {op: forbid, a: 2}},
		}},
		// One who yields twice without a loop is not waiting for anybody.
		"two yields": {vars: 1, code: [][]instruction{
			{{op: spawn, a: 1}, {op: forbid, a: 2}, {op: add, b: 1}},
			{{op: spawn, a: 2}, {op: load}},
			{{op: yield}, {op: yield}, {op: load}},
		}},
	} {
		for bound := range 4 {
			want, _ := explore(t, m, &exhaustive{bound: bound}, -1)
			d := NewDFS(bound)
			got, runs := explore(t, m, d, -1)
			if lost := missing(want, got); lost != "" {
				t.Errorf("%s, bound %d: %d runs miss\n%s", name, bound, runs, lost)
			}
		}
	}
}

func TestProgressSaysWhatWasTried(t *testing.T) {
	m := counters(2, 2)
	d := NewDFS(1)
	want := func(text string) {
		t.Helper()
		if got := d.Progress().String(); got != text {
			t.Errorf("progress %q, want %q", got, text)
		}
	}
	want("0 schedules without preemption tried")
	m.run(d)
	want("all schedules without preemption tried (1)")
	m.run(d)
	want("all schedules without preemption tried (1), 1 of those with at most 1")
	for !d.Exhausted() {
		m.run(d)
	}
	want("all schedules with at most 1 preemption tried (5)")

	m = &model{vars: 1, code: [][]instruction{{{op: spawn, a: 1}, {op: store, b: 1}}, {{op: store, b: 2}}}}
	d = NewDFS(-1)
	for !d.Exhausted() {
		m.run(d)
	}
	want("all schedules tried (2)")
	if res := m.run(d); res.outcome != event.Passed {
		t.Error("a run after the end failed")
	}
}

func TestRunsThatWereCutOffAreCounted(t *testing.T) {
	m := counters(2, 5)
	m.limit = 8
	d := NewDFS(0)
	for !d.Exhausted() {
		m.run(d)
	}
	if want := "all schedules without preemption tried (1); but 1 run was cut off, and what it would have led to was not tried"; d.Progress().String() != want {
		t.Errorf("progress %q, want %q", d.Progress().String(), want)
	}
}

func TestSearchGoesOnWhenTheProgramIsNotDeterministic(t *testing.T) {
	// Every third run is of another program.
	a, b := counters(3, 2), randomModel(rand.New(rand.NewSource(2)), 3, 4, everything.ops)
	d := NewDFS(2)
	runs := 0
	for ; !d.Exhausted() && runs < 100000; runs++ {
		m := a
		if runs%3 == 2 {
			m = b
		}
		if res := m.run(d); res.bad != "" {
			t.Fatal(res.bad)
		}
	}
	if !d.Exhausted() {
		t.Errorf("not done after %d runs: %s", runs, d.Progress().String())
	}
	if !strings.Contains(d.Progress().String(), "not deterministic") {
		t.Errorf("progress %q does not mention it", d.Progress().String())
	}
}

func TestALargeAccessConflictsWithWhatItCovers(t *testing.T) {
	large := event.Op{Kind: event.Store, G: 1, Site: 1, Addr: 1 << 20, Size: 1 << 16}
	for _, c := range []struct {
		addr uintptr
		want bool
	}{{1<<20 - 8, false}, {1 << 20, true}, {1<<20 + 1<<16 - 1, true}, {1<<20 + 1<<16, false}} {
		small := event.Op{Kind: event.Load, G: 2, Site: 2, Addr: c.addr, Size: 1}
		for _, ops := range [][2]event.Op{{large, small}, {small, large}} {
			// Two goroutines with one step each, the second of them seen after the first.
			var r races
			r.begin()
			p := &Turn{Ready: []uint32{1, 2}, Ops: []event.Op{ops[0], {Kind: event.Start}}}
			found := false
			race := func(step int, g uint32) { found = true }
			r.arrive(p, race)
			r.take(1, race) // goroutine 2 starts
			p = &Turn{Last: 2, Current: 2, Taken: 1, Ready: []uint32{1, 2}, Ops: []event.Op{ops[0], {Kind: event.Call}}}
			r.arrive(p, race)
			r.take(0, race)
			p = &Turn{Last: 1, Taken: 1, Ready: []uint32{2}, Ops: []event.Op{{Kind: event.Call}}}
			r.arrive(p, race)
			r.take(0, race)
			p = &Turn{Last: 2, Current: 2, Taken: 2, Ready: []uint32{2}, Ops: []event.Op{ops[1]}}
			r.arrive(p, race)
			if found != c.want {
				t.Errorf("store of 64 kB at 1<<20 and load at %#x: race %v, want %v", c.addr, found, c.want)
			}
		}
	}
}

func BenchmarkDFS(b *testing.B) {
	m := counters(3, 4)
	d := NewDFS(2)
	for b.Loop() {
		if d.Exhausted() {
			d = NewDFS(2)
		}
		m.run(d)
	}
}

func BenchmarkPCT(b *testing.B) {
	m := counters(3, 4)
	s := NewPCT(1, 0)
	for b.Loop() {
		m.run(s)
	}
}
