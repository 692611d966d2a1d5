package ir_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

func TestProgramsAsText(t *testing.T) {
	b := slitest.NewBuilder()
	callee := b.Func("callee", 8)
	callee.Return(callee.Param(0))
	f := b.Func("f", 8)
	captured := f.Captures(4)
	p := f.Alloc(16)
	f.StoreAt(p, f.Param(0), "")
	x := f.LoadAt(ir.Binary(ir.OpAdd, ir.Unsigned, p, ir.Number(8, 8)), 8, "field")
	f.Add(&ir.Instr{Op: ir.Load, Private: true, Size: 4, Dst: f.Func.NewReg("", 4), Operand: ir.Symbol("local")})
	f.Add(&ir.Instr{Op: ir.Store, Atomic: true, Size: 4, Value: captured, Operand: ir.Symbol("flag")})
	f.Add(&ir.Instr{Op: ir.Store, Operand: ir.Symbol("table"), Key: ir.AnyKey})
	f.Test(ir.NilDereference, ir.Unary(ir.OpBadAddress, ir.Unsigned, x))
	f.Call(callee, x)
	f.Add(&ir.Instr{Op: ir.Call, Target: ir.Extract(ir.Concat(x, p), 0, 8), Method: "Close", Args: []*ir.Expr{p}})
	f.CallExtern("time.Now", 24)
	f.Sync(ir.SyncLock, 0, ir.Symbol("mu"))
	f.Defer(callee, x)
	f.Spawn(callee, x)
	f.Add(&ir.Instr{Op: ir.RunDefers})
	yes, no := f.NewBlock(), f.NewBlock()
	f.Branch(ir.Binary(ir.OpEq, ir.Unsigned, x, ir.Number(8, 0)), yes, no)
	f.Enter(yes)
	f.Jump(no)
	f.Phi(ir.Number(8, 1), ir.Number(8, 2))
	f.Add(&ir.Instr{Op: ir.Stop})
	b.Program()
	want := `func f(r1:8) captures r2:4
b0:
	r3:8 = alloc 16
	store r3 := r1
	r4:8 = load r3 + 8
	r5:4 = private load local
	atomic store flag := r2
	store table[<any>]
	test "nil dereference" if BadAddr(r4)
	r6:8 = call callee(r4)
	call r4.Close(r3)
	r7:24 = call time.Now()
	sync lock(mu)
	defer callee(r4)
	spawn callee(r4)
	rundefers
	branch r4 == 0 b1 b2
b1:
	jump b2
b2:
	r8:8 = phi (1, 2)
	stop
`
	if d := cmp.Diff(want, f.Func.String()); d != "" {
		t.Errorf("text (-want +got):\n%s", d)
	}
}

func TestProgramsAreFoundByNameAndSite(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	store := f.Store("x", ir.Number(8, 1))
	f.Return()
	p := b.Program()
	if p.Func("f") != f.Func || p.Func("g") != nil {
		t.Error("a function is not found by its name")
	}
	if p.FuncAt(f.Func.Site) != f.Func || p.FuncAt(99) != nil {
		t.Error("a function is not found by the site of its entry")
	}
	if at := p.InstrsAt(store.Sites[0]); len(at) != 1 || at[0] != store {
		t.Errorf("at the store's site are %v", at)
	}
	if store.Name() != "b0.0" || !store.IsAccess() || store.EndsBlock() || !f.Func.Blocks[0].Instrs[1].EndsBlock() {
		t.Error("the instructions of f are not what they are")
	}
	if got := (&ir.Instr{Block: f.Func.Blocks[0]}).Index(); got != -1 {
		t.Errorf("an instruction that is in no block has the place %d", got)
	}
}

func TestContextsAreOneForEachCallStack(t *testing.T) {
	f, g := &ir.Func{Name: "f"}, &ir.Func{Name: "g"}
	call := f.NewBlock().Add(&ir.Instr{Op: ir.Call, Callee: g})
	again := g.NewBlock().Add(&ir.Instr{Op: ir.Call, Callee: g})
	contexts := ir.NewContexts()
	outer := contexts.Get(nil, nil, f)
	inner := contexts.Get(outer, call, g)
	deeper := contexts.Get(inner, again, g)
	if contexts.Get(outer, call, g) != inner || deeper.Depth != 2 {
		t.Error("the same calls are two contexts")
	}
	if !deeper.Within(outer) || outer.Within(inner) {
		t.Error("Within has lost its sense of direction")
	}
	if inner.Recursive(g) || !deeper.Recursive(g) {
		t.Error("a third call of the same function is not seen")
	}
	if got := deeper.InstrIn(outer, again); got != call {
		t.Errorf("what the outermost call was doing is %v", got)
	}
	if got := outer.InstrIn(inner, call); got != nil {
		t.Errorf("a call does something inside another that it made: %v", got)
	}
	other := contexts.Get(outer, nil, g)
	if ir.CommonContext(deeper, other) != outer || ir.CommonContext(deeper, contexts.Get(nil, nil, g)) != nil {
		t.Error("the common context of two calls is another")
	}
	if got := (ir.Point{Context: inner, Instr: again}).String(); got != "g:b0.0" {
		t.Errorf("a point is written %s", got)
	}
}

func TestControlFlow(t *testing.T) {
	// 0 -> 1 -> 2 -> (1, 3); 4 is not reached
	f := slitest.Graph([]int{1}, []int{2}, []int{1, 3}, nil, []int{3})
	dom := ir.Dominators(f)
	want := []string{"map[0:true]", "map[0:true 1:true]", "map[0:true 1:true 2:true]", "map[0:true 1:true 2:true 3:true]", "map[]"}
	for i := range want {
		by := map[int]bool{}
		for j := range f.Blocks {
			if dom.Reached(i) && dom.Dominates(j, i) {
				by[j] = true
			}
		}
		if got := fmt.Sprint(by); got != want[i] {
			t.Errorf("block %d is dominated by %s, want %s", i, got, want[i])
		}
	}
	for i, loop := range []bool{false, true, true, false, false} {
		if ir.InLoop(f.Blocks[i]) != loop {
			t.Errorf("block %d in a loop: want %v", i, loop)
		}
	}
	// A branch whose sides meet has two edges to the same block.
	g := slitest.Graph([]int{1, 1}, nil)
	if ir.PredIndex(g.Blocks[0], 0) != 0 || ir.PredIndex(g.Blocks[0], 1) != 1 {
		t.Error("two edges to the same block are not told apart")
	}
}

func TestEverySyncKindIsNamedAndDecided(t *testing.T) {
	seen := map[string]bool{}
	needing := 0
	for k := ir.SyncNone + 1; !strings.HasPrefix(k.String(), "SyncKind("); k++ {
		if seen[k.String()] || k.String() == "" {
			t.Errorf("%d has no name of its own: %q", k, k)
		}
		seen[k.String()] = true
		if k.NeedsOthers() {
			needing++
		}
	}
	if needing != 7 {
		t.Errorf("%d operations need others", needing)
	}
	defer func() {
		if recover() == nil {
			t.Error("an operation that does not exist needs nobody")
		}
	}()
	ir.SyncNone.NeedsOthers()
}

func TestCausesAreTold(t *testing.T) {
	for want, c := range map[string]ir.Cause{"nil dereference": ir.NilDereference, "data race": ir.Race, "failure 77": 77} {
		if c.String() != want {
			t.Errorf("%v, want %s", c, want)
		}
	}
}
