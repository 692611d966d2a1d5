package plan

import (
	"go/ast"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/locks/lockstest"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// TestSectionsHoldTheirLock follows every way that Go has to name and use a lock. A
// section is a piece of text and not only a piece of a way, so protect follows fewer of
// them than package locks does; but wherever it says that a lock is held, locks agrees.
func TestSectionsHoldTheirLock(t *testing.T) {
	sections := 0
	for _, row := range lockstest.Load(t, "../../locks/testdata/uses") {
		t.Run(row.Name, func(t *testing.T) {
			guards := guard.Infer(row.Packages)
			p := newPlanner(facts.Gather(row.Packages, guards.Program), guards, Options{})
			var units []locks.Unit
			for _, pkg := range row.Packages {
				units = append(units, locks.Unit{Info: pkg.TypesInfo, Files: pkg.Syntax})
			}
			program := locks.NewProgram(units...)
			for _, pkg := range row.Packages {
				u, err := newUnit(p, pkg)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range u.bodies {
					sections += len(b.outlines)
					if d := declOf(pkg, b.block); d != nil {
						checkHeld(t, u, b, program, program.Flow(d))
					}
				}
			}
		})
	}
	if sections < 20 {
		t.Errorf("only %d sections are followed", sections)
	}
}

// declOf returns the declaration that has a body, nil for that of a literal.
func declOf(p *packages.Package, block *ast.BlockStmt) *ast.FuncDecl {
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body == block {
				return d
			}
		}
	}
	return nil
}

// checkHeld checks that a lock of the section's class is held for sure at each step.
func checkHeld(t *testing.T, u *unit, b *body, p *locks.Program, f *locks.Flow) {
	t.Helper()
	for _, o := range b.outlines {
		for _, s := range o.Inside {
			surely := slices.ContainsFunc(f.Held(s.Stmt), func(h locks.Held) bool {
				return !h.Maybe && !h.Lost && p.Places.Class(h.Lock) == p.Places.Canonical(o.Lock.Last())
			})
			if !surely {
				t.Errorf("line %d is in a section of %s, but %s is held", u.line(s.Stmt.Pos()), o.Lock, f.Held(s.Stmt))
			}
		}
	}
}
