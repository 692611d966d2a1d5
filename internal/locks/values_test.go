package locks_test

import (
	"go/ast"
	"go/token"
	"testing"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/locks/lockstest"
)

// TestBothFormsRecogniseTheSameOperations: an operation that syntax has at a call is the one
// that SSA form has there, on a place that is written the same.
func TestBothFormsRecogniseTheSameOperations(t *testing.T) {
	compared := 0
	for _, row := range lockstest.Load(t, "testdata/uses") {
		if len(lockstest.Lines(row.Verdict, "ssa")) > 0 {
			continue // the two name values differently, on purpose
		}
		t.Run(row.Name, func(t *testing.T) {
			prog, _ := load.SSA(row.Packages)
			var units []locks.Unit
			for _, p := range row.Packages {
				units = append(units, locks.Unit{Info: p.TypesInfo, Files: p.Syntax})
			}
			syntax := locks.NewProgram(units...)
			inSSA := operationsInSSA(prog)
			for _, u := range units {
				for _, f := range u.Files {
					ast.Inspect(f, func(n ast.Node) bool {
						call, ok := n.(*ast.CallExpr)
						if !ok {
							return true
						}
						op, ok := syntax.Op(u.Info, call)
						other, both := inSSA[call.Lparen]
						if !ok || !both || op.Lock == nil {
							return true // of a method value, SSA form sees the call of a closure
						}
						compared++
						if op.String() != other.String() {
							t.Errorf("%s: %s in syntax, %s in SSA form", prog.Fset.Position(call.Pos()), op, other)
						}
						return true
					})
				}
			}
		})
	}
	if compared < 100 {
		t.Errorf("only %d operations were compared", compared)
	}
}

// operationsInSSA returns the operations of a program by the position of their calls.
func operationsInSSA(prog *ssa.Program) map[token.Pos]locks.Op {
	var fns []*ssa.Function
	for fn := range ssautil.AllFunctions(prog) {
		fns = append(fns, fn)
	}
	values := locks.NewValues(locks.NewPlaces(), fns)
	all := make(map[token.Pos]locks.Op)
	for _, fn := range fns {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				call, ok := i.(ssa.CallInstruction)
				if !ok {
					continue
				}
				op, ok := values.Op(call.Common())
				if !ok {
					continue
				}
				all[call.Common().Pos()] = op
			}
		}
	}
	return all
}
