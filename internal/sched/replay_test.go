package sched

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// strategies returns one of each, for a seed.
func strategies(seed uint64) []Strategy {
	return []Strategy{NewPCT(seed, 0), NewPCT(seed, 3), NewRandom(seed), NewDFS(-1)}
}

var everything = families[len(families)-1]

// foreseeing is a replay that is held to what Next says.
type foreseeing struct {
	*Replay
	t    *testing.T
	free int // choices that Next said need not be asked for
}

func (f *foreseeing) Pick(p *Turn) int {
	certain := p.current() >= 0 && !yields(&p.Ops[p.current()]) && p.Taken < f.Next(p.Last)
	i := f.Replay.Pick(p)
	if certain {
		f.free++
		if i != p.Default() {
			f.t.Errorf("after step %d of goroutine %d somebody else goes on, although the next time to ask was later", p.Taken, p.Last)
		}
	}
	return i
}

func TestNothingHappensBeforeTheNextTimeToAsk(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	free := 0
	for range 300 {
		m := randomModel(r, 4, 5, everything.ops)
		m.limit = 300
		rec := NewRecorder(NewPCT(r.Uint64(), 3), false)
		first := m.run(rec)
		f := &foreseeing{Replay: NewReplay(rec.Schedule()), t: t}
		if second := m.run(f); first.trace() != second.trace() {
			t.Fatalf("schedule %s:\n%v\n%v", rec.Schedule(), first.steps, second.steps)
		}
		free += f.free
	}
	if free < 1000 {
		t.Errorf("only %d choices were certain", free)
	}
}

func TestReplayOfARecordedRunIsTheSameRun(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	switched := 0
	for range 300 {
		m := randomModel(r, 4, 5, everything.ops)
		m.limit = 300
		for _, s := range strategies(r.Uint64()) {
			rec := NewRecorder(s, true)
			for range 5 {
				if s.Exhausted() {
					break
				}
				first := m.run(rec)
				text := rec.Schedule().String()
				parsed, err := ParseSchedule(text)
				if err != nil {
					t.Fatal(err)
				}
				again := NewRecorder(NewReplay(parsed), true)
				second := m.run(again)
				if first.trace() != second.trace() || first.outcomeAndState() != second.outcomeAndState() {
					t.Fatalf("schedule %s of %T:\n%v %s\n%v %s\n%v", text, s, first.steps, first.state, second.steps, second.state, m)
				}
				if d := again.Strategy.(*Replay).Diverged(); d != (Divergence{}) {
					t.Fatalf("the same run diverged: %s", d)
				}
				if got := again.Schedule(); !got.Equal(parsed) {
					t.Fatalf("the replay of %s was recorded as %s", text, got)
				}
				if again.Fingerprint() != rec.Fingerprint() {
					t.Fatal("the same run has two fingerprints")
				}
				if len(parsed.Switches) > 0 {
					switched++
				}
			}
		}
	}
	if switched < 1000 {
		t.Errorf("only %d schedules with switches", switched)
	}
}

func TestTheSameSeedGivesTheSameRuns(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for range 50 {
		m := randomModel(r, 4, 5, everything.ops)
		m.limit = 300
		seed := r.Uint64()
		a, b := strategies(seed), strategies(seed)
		for i := range a {
			for range 10 {
				if a[i].Exhausted() {
					break
				}
				if x, y := m.run(a[i]), m.run(b[i]); x.trace() != y.trace() {
					t.Fatalf("%T: %s, then %s", a[i], x.trace(), y.trace())
				}
			}
		}
	}
}

func TestDifferentSeedsGiveDifferentRuns(t *testing.T) {
	m := counters(3, 6)
	seen := map[string]bool{}
	for seed := range uint64(50) {
		seen[m.run(NewRandom(seed)).trace()] = true
	}
	if len(seen) < 45 {
		t.Errorf("50 seeds gave %d runs", len(seen))
	}
}

// counters is a model in which n goroutines each change a variable k times.
func counters(n, k int) *model {
	m := &model{vars: 1, code: make([][]instruction, n)}
	for g := range n {
		if g == 0 {
			for c := 1; c < n; c++ {
				m.code[0] = append(m.code[0], instruction{op: spawn, a: c})
			}
		}
		for range k {
			m.code[g] = append(m.code[g], instruction{op: load}, instruction{op: store, b: 1})
		}
	}
	return m
}

func TestReplayTellsWhereItDiverged(t *testing.T) {
	m := &model{vars: 1, sems: 1, code: [][]instruction{
		{{op: spawn, a: 1}, {op: load}, {op: post}, {op: branch, a: 2}},
		{{op: wait}, {op: store, b: 1}},
	}}
	for text, want := range map[string]string{
		"default":        "",
		"1.1+2":          "",
		"1.1+2,1.2+2":    "after step 2 of goroutine 1, goroutine 2 should have gone on but was not ready",
		"1.3+9":          "after step 3 of goroutine 1, goroutine 9 should have gone on but was not ready",
		"1.77+2":         "did not come by at 1 switch",
		"1.1+2,9999.1+2": "did not come by at 1 switch",
		"1.1~1":          "",
		"1.1~2":          "choice 1 of goroutine 1 did not have",
		"1.9~1,2.1~1":    "did not come by at 2",
	} {
		s, err := ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		r := NewReplay(s)
		for range 2 { // it can be used again
			m.run(r)
			if got := r.Diverged().String(); want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
	}
}

func TestReplayAppliesWhatStillApplies(t *testing.T) {
	m := counters(2, 3)
	s, _ := ParseSchedule("1.2+7,1.3+2")
	res := m.run(NewReplay(s))
	if want := "[1 1 1 2 2 2 2 2 2 2 1 1 1 1 1]"; res.trace() != want {
		t.Errorf("%s, want %s", res.trace(), want)
	}
}

func TestPickDoesNotAllocate(t *testing.T) {
	m := counters(4, 10)
	long := NewRecorder(NewRandom(1), false)
	m.run(long)
	for name, s := range map[string]Strategy{
		"pct": NewPCT(1, 3), "random": NewRandom(1), "replay": NewReplay(long.Schedule()),
		"recorder": NewRecorder(NewRandom(2), false), "fingerprints": NewRecorder(NewPCT(2, 0), true),
	} {
		p := &Turn{Current: 1, Last: 1, Ready: []uint32{1, 2, 3, 4}, Ops: make([]event.Op, 4)}
		for i := range p.Ops {
			p.Ops[i] = event.Op{Kind: event.Store, G: uint32(i + 1), Addr: 4096 + 8*uintptr(i), Size: 8}
		}
		run := func() {
			s.Begin()
			for step := range uint64(1000) {
				p.Step, p.Taken = step, step
				s.Pick(p)
				s.Branch(Choice{G: 2, Site: 1, N: 3, Kind: event.Select})
			}
			s.End(event.Passed, Used{})
		}
		for range 20 {
			run()
		}
		if n := testing.AllocsPerRun(10, run); n > 0 {
			t.Errorf("%s: %v allocations in a run", name, n)
		}
	}
}

func TestDefaultRunEndsWhenSeveralWaitByYielding(t *testing.T) {
	spin := []instruction{{op: yield}, {op: backUnless, a: 0, b: 1}}
	m := &model{vars: 1, limit: 1000, code: [][]instruction{
		append([]instruction{{op: spawn, a: 1}, {op: spawn, a: 2}}, spin...),
		spin, {{op: load}, {op: store, b: 1}},
	}}
	for _, s := range []Strategy{NewReplay(Schedule{}), NewPCT(1, 1), NewPCT(1, 3), NewRandom(1)} {
		for range 100 {
			if res := m.run(s); res.outcome != event.Passed {
				t.Fatalf("%T: outcome %d", s, res.outcome)
			}
		}
	}
	d := NewDFS(1)
	_, runs := explore(t, m, d, 200000)
	if runs < 0 || d.cutOff > 0 {
		t.Errorf("depth-first search does not end: %s", d.Progress().String())
	}
	t.Log(d.Progress().String())
}

// TestReplayWaitsForAChoice: a goroutine that is alone and cannot go on comes by at the
// same point again, and only then is there somebody to switch to.
func TestReplayWaitsForAChoice(t *testing.T) {
	s, err := ParseSchedule("3.8_3")
	if err != nil {
		t.Fatal(err)
	}
	r := NewReplay(s)
	r.Begin()
	ops := []event.Op{{G: 2}, {G: 3}}
	if i := r.Pick(&Turn{Current: 3, Last: 3, Taken: 8, Ready: []uint32{3}, Ops: ops[1:]}); i != 0 {
		t.Errorf("picked %d of one", i)
	}
	if i := r.Pick(&Turn{Last: 3, Taken: 8, Ready: []uint32{2, 3}, Ops: ops}); i != 1 {
		t.Errorf("picked %d, want goroutine 3", i)
	}
	r.End(event.Passed, Used{})
	if d := r.Diverged(); d != (Divergence{}) {
		t.Error(d)
	}
}
