package sli

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

func blocks(s *Section) string {
	var b strings.Builder
	for _, in := range s.Instrs {
		if in.Op == ir.Load {
			b.WriteByte(byte('0' + in.Block.Index))
		}
	}
	return b.String()
}

// TestFragmentsOfLoops: loads in a loop make a section of their part of a round, not of
// the loop; a range over the back edge keeps it.
func TestFragmentsOfLoops(t *testing.T) {
	// 0 -> 1 -> 2 -> 3 -> (1, 4)
	f := slitest.Graph([]int{1}, []int{2}, []int{3}, []int{1, 4}, nil)
	at := func(i int) *ir.Instr { return f.Blocks[i].Instrs[0] }
	if got := blocks(loadsFragment(f, at(1), []*ir.Instr{at(1), at(2)})); got != "12" {
		t.Errorf("loads in 1 and 2: section of blocks %s, want 12", got)
	}
	steps := []*ir.Instr{at(3), f.Blocks[3].Instrs[1], at(1)}
	if got := blocks(rangeFragment(f, at(3), at(1), steps)); got != "13" {
		t.Errorf("range from 3 over the back edge to 1: section of blocks %s, want 13", got)
	}
}

// TestFragmentKeepsBranchesThatReturn: a side that comes back to the loads is part of
// the section, one that does not is not.
func TestFragmentKeepsBranchesThatReturn(t *testing.T) {
	// 0 -> (1, 2); 1 -> 3; 2 -> (3, 4); 3 and 4 return
	f := slitest.Graph([]int{1, 2}, []int{3}, []int{3, 4}, nil, nil)
	at := func(i int) *ir.Instr { return f.Blocks[i].Instrs[0] }
	if got := blocks(loadsFragment(f, at(0), []*ir.Instr{at(0), at(3)})); got != "0123" {
		t.Errorf("section of blocks %s, want 0123", got)
	}
}

func TestOrderKnowsTheProgramsSynchronisation(t *testing.T) {
	events := []exec.Event{
		1:  {G: 1, Kind: exec.KindStore, Addr: 64, Size: 8},
		2:  {G: 1, Kind: exec.KindSpawn, Arg: 2},
		3:  {G: 2, Kind: exec.KindLoad, Addr: 64, Size: 8},
		4:  {G: 1, Kind: exec.KindStore, Addr: 64, Size: 8},
		5:  {G: 2, Kind: exec.KindSend, Addr: 100},
		6:  {G: 1, Kind: exec.KindRecv, Addr: 100},
		7:  {G: 1, Kind: exec.KindStore, Addr: 64, Size: 8},
		8:  {G: 2, Kind: exec.KindLock, Addr: 200},
		9:  {G: 2, Kind: exec.KindLoad, Addr: 64, Size: 8},
		10: {G: 2, Kind: exec.KindUnlock, Addr: 200},
		11: {G: 1, Kind: exec.KindLock, Addr: 200},
		12: {G: 1, Kind: exec.KindStore, Addr: 64, Size: 8},
	}[1:]
	wanted := map[uint64]bool{}
	for i := range events {
		events[i].Seq = uint64(i + 1)
		wanted[uint64(i+1)] = true
	}
	o := newHappensBefore(exec.NewLog(events), wanted)
	for _, test := range []struct {
		a, b uint64
		want bool
	}{{1, 3, true}, {3, 4, false}, {4, 3, false}, {3, 7, true}, {7, 9, false}, {9, 12, false}} {
		if got := o.stamps[test.a].isBefore(o.stamps[test.b]); got != test.want {
			t.Errorf("%d before %d: %v, want %v", test.a, test.b, got, test.want)
		}
	}
	if !shareLock(o.stamps[9], o.stamps[9], o.stamps[12], o.stamps[12]) {
		t.Error("the lock that 9 and 12 hold was not seen")
	}
	if shareLock(o.stamps[7], o.stamps[7], o.stamps[12], o.stamps[12]) {
		t.Error("7 holds no lock")
	}
}

// figure is the machine of figure 2(f) over two loads.
func figure() *Machine {
	f := slitest.Graph([]int{1}, nil)
	c := ir.NewContexts().Get(nil, nil, f)
	p := ir.Point{Context: c, Instr: f.Blocks[0].Instrs[0]}
	q := ir.Point{Context: c, Instr: f.Blocks[1].Instrs[0]}
	p.Instr.Data, q.Instr.Data = "global", "inner"
	l := ir.LoadExpr(&ir.Label{Point: p}, 8, ir.Symbol("global"))
	m := ir.LoadExpr(&ir.Label{Point: q}, 8, l)
	e := branchOn(ir.Unary(ir.OpBadAddress, ir.Unsigned, m), Edge{To: crashState}, Edge{To: noCrashState})
	return &Machine{At: p, Start: branchOn(ir.Binary(ir.OpNe, ir.Unsigned, l, ir.Number(8, 0)), e, Edge{To: noCrashState})}
}

func TestMachineEvaluates(t *testing.T) {
	r := exec.NewReplay(&ir.Program{}, exec.NewLog(nil), exec.Failure{})
	s := &specialisation{machine: figure()}
	for _, test := range []struct {
		global, inner uint64
		want          Verdict
	}{{0, 0, Safe}, {8192, 0, WillCrash}, {8192, 9000, Safe}} {
		got := s.evaluate(r, 0, func(addr uint64, size int) ir.Value {
			if addr == 8192 {
				return ir.Word(8, test.inner)
			}
			return ir.Word(8, test.global)
		})
		if got != test.want {
			t.Errorf("global %d, inner %d: verdict %d, want %d", test.global, test.inner, got, test.want)
		}
	}
	if got := s.evaluate(r, 0, func(uint64, int) ir.Value { return ir.Unknown(8) }); got != CannotTell {
		t.Errorf("unknown memory: verdict %d", got)
	}
}

// TestLoopsAreBrokenWhereNothingRan: of two ways round, the one that was executed stays.
func TestLoopsAreBrokenWhereNothingRan(t *testing.T) {
	// 0 -> 1 -> 2 -> (1, 3)
	f := slitest.Graph([]int{1}, []int{2}, []int{1, 3}, nil)
	r := exec.NewReplay(&ir.Program{Funcs: []*ir.Func{f}}, exec.NewLog(nil), exec.Failure{})
	c := r.Contexts.Get(nil, nil, f)
	d := (&analyser{replay: r}).newDeriver([]exec.Step{{Point: ir.Point{Context: c, Instr: f.Blocks[3].Instrs[0]}}})
	d.derived[ir.Point{Context: c, Instr: f.Blocks[3].Instrs[0]}] = Edge{To: crashState}
	e, ok := d.untakenSide(c, f.Blocks[0], 0)
	if !ok || e.To != crashState {
		t.Errorf("the machine is %v %v, want crash: the way out of the loop must stay", e, ok)
	}
}

func TestCost(t *testing.T) {
	f := &Fix{Discarded: 1, Sections: []*Section{{Size: 2}, {Size: 3}}}
	f.computeCost(Options{}.defaults())
	if f.Cost != 1000+2*10+5 {
		t.Errorf("cost %d", f.Cost)
	}
}
