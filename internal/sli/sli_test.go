package sli

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// newFunc makes a function of blocks that are given as lists of successors; the last
// instruction of each is made to fit.
func newFunc(succs ...[]int) *Func {
	f := &Func{Name: "f"}
	c := f.NewReg("c", 1)
	f.Params = []Reg{c}
	for range succs {
		f.NewBlock()
	}
	for i, s := range succs {
		b := f.Blocks[i]
		b.Add(&Instr{Op: Load, Dst: f.NewReg("", 8), Size: 8, X: Symbol("x")})
		for _, to := range s {
			b.To(f.Blocks[to])
		}
		switch len(s) {
		case 0:
			b.Add(&Instr{Op: Return})
		case 1:
			b.Add(&Instr{Op: Jump})
		case 2:
			b.Add(&Instr{Op: Branch, X: R(c, 1)})
		}
	}
	p := &Program{Funcs: []*Func{f}}
	p.Finish()
	return f
}

func blocks(s *Section) string {
	var b strings.Builder
	for _, in := range s.Instrs {
		if in.Op == Load {
			b.WriteByte(byte('0' + in.Block.Index))
		}
	}
	return b.String()
}

func TestSanityAcceptsWhatIsRightAndNamesWhatIsWrong(t *testing.T) {
	f := newFunc([]int{1, 2}, []int{3}, []int{3}, nil)
	p := &Program{Funcs: []*Func{f}}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []struct {
		want string
		make func(f *Func)
	}{
		{"not defined on every way", func(f *Func) {
			r := f.Blocks[1].Instrs[0].Dst
			f.Blocks[3].Instrs[0].X = R(r, 8)
		}},
		{"defined twice", func(f *Func) { f.Blocks[1].Instrs[0].Dst = f.Blocks[0].Instrs[0].Dst }},
		{"successors", func(f *Func) { f.Blocks[1].Succs = nil }},
		{"do not agree", func(f *Func) { f.Blocks[3].Preds = f.Blocks[3].Preds[:1] }},
		{"last of its block", func(f *Func) { f.Blocks[0].Instrs = f.Blocks[0].Instrs[:1] }},
		{"bytes", func(f *Func) { f.Blocks[0].Instrs[0].Size = 4 }},
	} {
		f := newFunc([]int{1, 2}, []int{3}, []int{3}, nil)
		wrong.make(f)
		if err := (&Program{Funcs: []*Func{f}}).Check(); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("error %v, want one that says %q", err, wrong.want)
		}
	}
}

// TestFragmentsOfLoops: loads in a loop make a section of their part of a round, not of
// the loop; a range over the back edge keeps it.
func TestFragmentsOfLoops(t *testing.T) {
	// 0 -> 1 -> 2 -> 3 -> (1, 4)
	f := newFunc([]int{1}, []int{2}, []int{3}, []int{1, 4}, nil)
	at := func(i int) *Instr { return f.Blocks[i].Instrs[0] }
	if got := blocks(readFragment(f, at(1), []*Instr{at(1), at(2)})); got != "12" {
		t.Errorf("loads in 1 and 2: section of blocks %s, want 12", got)
	}
	steps := []*Instr{at(3), f.Blocks[3].Instrs[1], at(1)}
	if got := blocks(rangeFragment(f, at(3), at(1), steps)); got != "13" {
		t.Errorf("range from 3 over the back edge to 1: section of blocks %s, want 13", got)
	}
}

// TestFragmentKeepsBranchesThatReturn: a side that comes back to the loads is part of
// the section, one that does not is not.
func TestFragmentKeepsBranchesThatReturn(t *testing.T) {
	// 0 -> (1, 2); 1 -> 3; 2 -> (3, 4); 3 and 4 return
	f := newFunc([]int{1, 2}, []int{3}, []int{3, 4}, nil, nil)
	at := func(i int) *Instr { return f.Blocks[i].Instrs[0] }
	if got := blocks(readFragment(f, at(0), []*Instr{at(0), at(3)})); got != "0123" {
		t.Errorf("section of blocks %s, want 0123", got)
	}
}

func TestOrderKnowsTheProgramsSynchronisation(t *testing.T) {
	events := []Event{
		1:  {G: 1, Kind: KindStore, Addr: 64, Size: 8},
		2:  {G: 1, Kind: KindSpawn, Arg: 2},
		3:  {G: 2, Kind: KindLoad, Addr: 64, Size: 8},
		4:  {G: 1, Kind: KindStore, Addr: 64, Size: 8},
		5:  {G: 2, Kind: KindSend, Addr: 100},
		6:  {G: 1, Kind: KindRecv, Addr: 100},
		7:  {G: 1, Kind: KindStore, Addr: 64, Size: 8},
		8:  {G: 2, Kind: KindLock, Addr: 200},
		9:  {G: 2, Kind: KindLoad, Addr: 64, Size: 8},
		10: {G: 2, Kind: KindUnlock, Addr: 200},
		11: {G: 1, Kind: KindLock, Addr: 200},
		12: {G: 1, Kind: KindStore, Addr: 64, Size: 8},
	}[1:]
	wanted := map[uint64]bool{}
	for i := range events {
		events[i].Seq = uint64(i + 1)
		wanted[uint64(i+1)] = true
	}
	o := newOrder(NewLog(events), wanted)
	for _, test := range []struct {
		a, b uint64
		want bool
	}{{1, 3, true}, {3, 4, false}, {4, 3, false}, {3, 7, true}, {7, 9, false}, {9, 12, false}} {
		if got := o.stamps[test.a].before(o.stamps[test.b]); got != test.want {
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

func TestMemoryIsWhatTheNearestEventSays(t *testing.T) {
	l := NewLog([]Event{
		{Seq: 1, G: 1, Kind: KindLoad, Addr: 64, Size: 4, Before: []byte{1, 2, 3, 4}},
		{Seq: 2, G: 1, Kind: KindStore, Addr: 65, Size: 2, Before: []byte{2, 3}, After: []byte{7, 8}},
		{Seq: 3, G: 2, Kind: KindStore, Addr: 64, Size: 1, Before: []byte{1}, After: []byte{9}},
	})
	for at, want := range map[uint64]uint64{1: 0x04030201, 2: 0x04030201, 3: 0x04080701, 4: 0x04080709} {
		if v := memoryAt(l, 64, 4, at); !v.Known || v.Uint() != want {
			t.Errorf("before %d: %#x, want %#x", at, v.Uint(), want)
		}
	}
	if v := memoryAt(l, 68, 4, 4); v.Known {
		t.Errorf("memory that no event has is %v", v)
	}
}

func TestExpressionsSimplify(t *testing.T) {
	x := R(1, 8)
	for _, test := range []struct {
		e    *Expr
		want string
	}{
		{Binary(OpAdd, Unsigned, Binary(OpAdd, Unsigned, x, Num(8, 8)), Num(8, 40)), "r1 + 48"},
		{Binary(OpEq, Unsigned, x, x), "1"},
		{Unary(OpNot, Unsigned, Binary(OpEq, Unsigned, x, Num(8, 0))), "r1 != 0"},
		{Unary(OpBadAddr, Unsigned, Symbol("g")), "0"},
		{Extract(Concat(x, Num(8, 5)), 8, 8), "5"},
		{Binary(OpMul, Signed, Num(1, 0xff), Num(1, 3)), "-3"},
		{Bound(Closure("f", x), 0, 8), "r1"},
	} {
		if got := test.e.String(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// figure is the machine of figure 2(f) over two loads.
func figure() *Machine {
	f := newFunc([]int{1}, nil)
	c := newContexts().get(nil, nil, f)
	p := Point{c, f.Blocks[0].Instrs[0]}
	q := Point{c, f.Blocks[1].Instrs[0]}
	p.Instr.Data, q.Instr.Data = "global", "inner"
	l := loadExpr(&Label{Point: p}, 8, Symbol("global"))
	m := loadExpr(&Label{Point: q}, 8, l)
	e := choose(Unary(OpBadAddr, Unsigned, m), Edge{To: crash}, Edge{To: noCrash})
	return &Machine{At: p, Start: choose(Binary(OpNe, Unsigned, l, Num(8, 0)), e, Edge{To: noCrash})}
}

func TestMachineIsDrawnAndTold(t *testing.T) {
	m := figure()
	if got, want := m.String(), "at f:b0.0: s0\ns0: if load(global@b0.0) != 0 then s1 else no-crash\ns1: if BadAddr(load(load(global@b0.0)@b1.0)) then crash else no-crash\n"; got != want {
		t.Errorf("text\n%swant\n%s", got, want)
	}
	words := m.Words(func(p Point) string { return p.Instr.Name() })
	if want := "It reads global at b0.0.\nIt reads inner at b1.0.\nIt crashes if global is not 0 or nil and inner is nil."; words != want {
		t.Errorf("words\n%s\nwant\n%s", words, want)
	}
	dot := m.DOT()
	for _, want := range []string{"digraph", "shape=diamond", `label="crash"`, `s0 -> s1 [label="yes"]`} {
		if !strings.Contains(dot, want) {
			t.Errorf("DOT lacks %q:\n%s", want, dot)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(m.SVG())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("SVG: %v", err)
		}
	}
}

func TestMachineEvaluates(t *testing.T) {
	r := newReplay(&Program{}, NewLog(nil), Failure{})
	s := &special{m: figure()}
	for _, test := range []struct {
		global, inner uint64
		want          Verdict
	}{{0, 0, Safe}, {8192, 0, WillCrash}, {8192, 9000, Safe}} {
		got := s.evaluate(r, 0, func(addr uint64, size int) Value {
			if addr == 8192 {
				return Word(8, test.inner)
			}
			return Word(8, test.global)
		})
		if got != test.want {
			t.Errorf("global %d, inner %d: verdict %d, want %d", test.global, test.inner, got, test.want)
		}
	}
	if got := s.evaluate(r, 0, func(uint64, int) Value { return Unknown(8) }); got != CannotTell {
		t.Errorf("unknown memory: verdict %d", got)
	}
}

// TestLoopsAreBrokenWhereNothingRan: of two ways round, the one that was executed stays.
func TestLoopsAreBrokenWhereNothingRan(t *testing.T) {
	// 0 -> 1 -> 2 -> (1, 3)
	f := newFunc([]int{1}, []int{2}, []int{1, 3}, nil)
	r := newReplay(&Program{Funcs: []*Func{f}}, NewLog(nil), Failure{})
	c := r.ctxs.get(nil, nil, f)
	d := newDeriver(r, []Step{{Point: Point{c, f.Blocks[3].Instrs[0]}}}, nil)
	d.derived[Point{c, f.Blocks[3].Instrs[0]}] = Edge{To: crash}
	e, ok := d.static(c, f.Blocks[0], 0)
	if !ok || e.To != crash {
		t.Errorf("the machine is %v %v, want crash: the way out of the loop must stay", e, ok)
	}
}

func TestCost(t *testing.T) {
	f := &Fix{Discarded: 1, Sections: []*Section{{Size: 2}, {Size: 3}}}
	f.price(Options{}.defaults())
	if f.Cost != 1000+2*10+5 {
		t.Errorf("cost %d", f.Cost)
	}
}
