package locks_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/locks/lockstest"
)

// TestUses: on syntax, each way to use a lock gets the verdict of the table. What a row
// says nothing about is not compared, so that a row shows one thing.
func TestUses(t *testing.T) {
	for _, row := range lockstest.Load(t, "testdata/uses") {
		t.Run(row.Name, func(t *testing.T) {
			var units []locks.Unit
			for _, p := range row.Packages {
				units = append(units, locks.Unit{Info: p.TypesInfo, Files: p.Syntax})
			}
			v := &verdict{program: locks.NewProgram(units...), fset: row.Packages[0].Fset}
			for _, u := range units {
				for _, f := range u.Files {
					v.file(u.Info, f)
				}
			}
			for _, f := range v.program.Flows() {
				v.flow(f)
			}
			for _, word := range []string{"op", "held", "finding", "order"} {
				want := lockstest.Lines(row.Verdict, word)
				if len(want) == 0 {
					continue
				}
				got := lockstest.Lines(v.lines, word)
				slices.Sort(want)
				slices.Sort(got)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("verdict on %s (-want +got):\n%s", word, d)
				}
			}
		})
	}
}

// A verdict is what the analysis says of a row.
type verdict struct {
	program *locks.Program
	fset    *token.FileSet
	lines   []string
}

func (v *verdict) say(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(v.lines, line) {
		v.lines = append(v.lines, line)
	}
}

func (v *verdict) line(at token.Pos) int { return v.fset.Position(at).Line }

func (v *verdict) file(info *types.Info, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if op, ok := v.program.Op(info, call); ok {
			v.say("op %d: %s", v.line(call.Pos()), op)
		}
		return true
	})
}

func (v *verdict) flow(f *locks.Flow) {
	ast.Inspect(f.Function(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		if point, ok := lockstest.Point(types.ExprString(call.Fun), types.ExprString(call.Args[0])); ok {
			v.say("held %s: %s", point, f.Held(call))
		}
		return true
	})
	for _, x := range f.Findings {
		v.say("finding %d: %s", v.line(x.At), x)
	}
	for _, e := range f.Edges {
		v.say("order: %s before %s", path.Base(v.program.ClassName(e.First)), path.Base(v.program.ClassName(e.Second)))
	}
}
