package cover

import (
	"go/ast"
	"go/parser"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/variant"
)

// planVariants plans the variants of functions that regions call and that take the lock, or have
// regions, themselves.
func (code *Code) planVariants(regions []*Region, l *Lock) *variant.Plan {
	lock := variant.Lock{
		Words: l.Words, Class: code.class(l), RW: l.rw,
		Name:  func(d *ast.FuncDecl) string { return code.name(l, code.wholeOf(d)) },
		Waits: func(stmts []ast.Stmt) string { return code.whatMayWait(stmts, l) },
	}
	sections := make([]variant.Section, len(regions))
	for i, r := range regions {
		sections[i] = variant.Section{File: r.file, Func: r.fn, Statements: r.statements(), Write: r.Write, Calls: !l.striped && code.holdsThroughout(r, l)}
		if l.owner != nil {
			sections[i].Object = code.ownerPlace(r, l)
		}
	}
	return variant.New(code.Program, code.locks, lock, sections)
}

// writeVariants writes the variants of functions that regions call, and returns the regions that are
// left: those of functions that leave the lock to their callers are gone, but for what they hand out.
func (code *Code) writeVariants(e *edits, regions []*Region, l *Lock) ([]*Region, error) {
	plan := code.planVariants(regions, l)
	plan.Write(e.of)
	for _, d := range plan.Functions() {
		e.variants = append(e.variants, d)
		e.places = append(e.places, code.wholeOf(d).place())
	}
	var left []*Region
	for i, r := range regions {
		if plan.Has(r.fn) {
			if err := r.copyOut(e); err != nil {
				return nil, err
			}
			continue
		}
		r.Write, r.unheld = r.Write || plan.Writes(i), plan.Why(i)
		left = append(left, r)
	}
	return left, nil
}

// wholeOf is the region of all statements of a function.
func (code *Code) wholeOf(d *ast.FuncDecl) *Region {
	return &Region{file: code.FileOf(d), fn: d, body: d.Body, list: d.Body.List, to: len(d.Body.List) - 1}
}

// ownerPlace is where a region has the struct that has the lock; nil if it cannot be named.
func (code *Code) ownerPlace(r *Region, l *Lock) *locks.Place {
	name := code.reachOwner(r, l.owner)
	if name == "" {
		return nil
	}
	x, err := parser.ParseExpr(name)
	if err != nil {
		return nil
	}
	info := load.NewInfo()
	if types.CheckExpr(code.Fset, r.file.Types, r.first().Pos(), x, info) != nil {
		return nil
	}
	at, _ := code.locks.Place(info, x)
	return at
}

// holdsThroughout reports whether a region can hold the lock from its start to its end, as far as
// waiting is concerned.
func (code *Code) holdsThroughout(r *Region, l *Lock) bool {
	return r.header() == nil && code.regionBlocks(r, l, code.ahead(r, l)) == ""
}
