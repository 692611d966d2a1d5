package exec_test

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

// TestUnknownBranchGoesWhereTheRestOfTheRunIsReached follows a call whose result says whether its
// caller stores. What decides in the call was not recorded, and the nearest way out of it is one
// after which the caller would not have stored.
func TestUnknownBranchGoesWhereTheRestOfTheRunIsReached(t *testing.T) {
	for _, test := range []struct {
		name   string
		stores bool
		want   []string
	}{
		{"stored", true, []string{
			"f:b0.0 = ?", "check:b0.0 = ? @3", "check:b0.1", "check:b1.0", "check:b2.0 = ?", "check:b2.1",
			"f:b0.1", "f:b1.0 @5", "f:b1.1",
		}},
		{"not stored", false, []string{
			"f:b0.0 = ?", "check:b0.0 = ? @3", "check:b0.1", "check:b2.0 = 0", "check:b2.1",
			"f:b0.1", "f:b2.0 @5", "f:b2.1",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := slitest.NewBuilder()
			check := b.Func("check")
			found := check.Load("a", 1)
			loadA := last(check)
			more, end := check.NewBlock(), check.NewBlock()
			check.Branch(found, more, end)
			check.Enter(more)
			check.Jump(end)
			result := check.Add(&ir.Instr{Op: ir.Phi, Dst: check.Func.NewReg("", 1)})
			result.Args = []*ir.Expr{ir.Number(1, 0), found}
			check.Return(ir.Register(result.Dst, 1))

			f := b.Func("f")
			ok := f.Add(&ir.Instr{Op: ir.Call, Callee: check.Func, Size: 1, Dst: f.Func.NewReg("", 1)})
			yes, no := f.NewBlock(), f.NewBlock()
			f.Branch(ir.Register(ok.Dst, 1), yes, no)
			f.Enter(yes)
			storeB := f.Store("b", ir.Number(8, 1))
			f.Return()
			f.Enter(no)
			storeC := f.Store("c", ir.Number(8, 1))
			f.Return()
			p := b.Program()

			unknown := exec.Event{Kind: exec.KindLoad, Site: loadA.Sites[0], Frame: 2, Addr: varA, Size: 1, Map: true}
			stored := store(storeC, varC, 1)
			if test.stores {
				stored = store(storeB, varB, 1)
			}
			log := numbered(entered(f, 1, 0), entered(check, 2, 1), unknown, left(check, 2), stored, left(f, 1))
			same(t, steps(exec.NewReplay(p, log, exec.Failure{}), 1), test.want...)
		})
	}
}
