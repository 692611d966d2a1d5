package reshape

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// keptTogether is a field or variable that a part of a section has to do with, by way of the functions
// that it calls, and that the program also changes elsewhere under the lock of the section: without
// the lock, the part may see one change of a section and not the other. It is nil if there is none.
//
//	mu.Lock()                       mu.Lock()
//	for _, c := range accounts {    from.add(-n)    // balance is kept together: the sum
//		sum += c.balanceOf()        to.add(n)       // must not come between the two
//	}                               mu.Unlock()
//	mu.Unlock()
//
// What function values and methods of interfaces do is not known here, and counts as nothing.
func (r *finder) keptTogether(t *taking, part ast.Node) *types.Var {
	used := usedData{run: r, all: make(map[*types.Var]bool), followed: make(map[*types.Func]bool)}
	used.addCalls(t.file, part)
	if len(used.all) == 0 {
		return nil
	}
	changed := usedData{run: r, all: make(map[*types.Var]bool), followed: make(map[*types.Func]bool), changesOnly: true}
	for _, flow := range r.Code.Locks().Flows() {
		f := r.Code.FileOf(flow.Function())
		if f == nil {
			continue
		}
		ast.Inspect(flow.Function(), func(n ast.Node) bool {
			if n == part {
				return false
			}
			switch n.(type) {
			case *ast.AssignStmt, *ast.IncDecStmt, *ast.CallExpr:
				if r.isHeld(flow, n, t.class) {
					changed.add(f, n)
				}
			}
			return true
		})
	}
	for v := range used.all {
		if changed.all[v] {
			return v
		}
	}
	return nil
}

// isHeld reports whether a lock of a class is, or may be, held before a node.
func (r *finder) isHeld(flow *locks.Flow, n ast.Node, class *types.Var) bool {
	for _, h := range flow.Held(n) {
		if held := r.Code.Locks().Places.Class(h.Lock); held != nil && syntax.Same(held.Origin(), class.Origin()) {
			return true
		}
	}
	return false
}

// A usedData is the fields and variables of packages that code has to do with, and the functions that
// it calls by name.
type usedData struct {
	run *finder
	all map[*types.Var]bool
	// changesOnly leaves out what is only read.
	changesOnly bool
	followed    map[*types.Func]bool
}

// add adds what a node has to do with.
func (u *usedData) add(f *source.File, n ast.Node) {
	u.addCalls(f, n)
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				u.addVariable(f, left)
			}
		case *ast.IncDecStmt:
			u.addVariable(f, n.X)
		case *ast.UnaryExpr: // what is done by the address is not known
			if n.Op == token.AND {
				u.addVariable(f, n.X)
			}
		case *ast.CallExpr:
			for _, name := range []string{"delete", "clear", "copy"} {
				if syntax.IsBuiltin(f.Info, n, name) {
					u.addVariable(f, n.Args[0])
				}
			}
			u.addReceiver(f, n)
		case *ast.Ident:
			if !u.changesOnly {
				u.addVariable(f, n)
			}
		}
		return true
	})
}

// addCalls adds what the functions have to do with that a node calls by name.
func (u *usedData) addCalls(f *source.File, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		callee := typeutil.StaticCallee(f.Info, call)
		if callee == nil || u.followed[callee.Origin()] {
			return true
		}
		u.followed[callee.Origin()] = true
		if d := u.run.Code.Declaration(callee.Origin()); d != nil && d.Body != nil {
			u.add(u.run.Code.FileOf(d), d.Body)
		}
		return true
	})
}

// addReceiver adds what a method of another package may change: what it is called on, unless that is a
// lock.
func (u *usedData) addReceiver(f *source.File, call *ast.CallExpr) {
	callee := typeutil.StaticCallee(f.Info, call)
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if callee == nil || !ok || u.run.Code.Declaration(callee.Origin()) != nil || locks.IsLock(f.Info.TypeOf(selector.X)) {
		return
	}
	if receiver := callee.Signature().Recv(); receiver != nil {
		if _, byPointer := receiver.Type().(*types.Pointer); byPointer {
			u.addVariable(f, selector.X)
		}
	}
}

// addVariable adds the field or variable of a package that an expression names, or an element of it.
func (u *usedData) addVariable(f *source.File, e ast.Expr) {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
			continue
		case *ast.IndexExpr:
			e = x.X
			continue
		case *ast.SliceExpr:
			e = x.X
			continue
		case *ast.StarExpr:
			e = x.X
			continue
		case *ast.SelectorExpr:
			e = x.Sel
			continue
		case *ast.Ident:
			v, ok := f.Info.Uses[x].(*types.Var)
			if ok && (v.IsField() || v.Parent() == f.Types.Scope()) && !locks.IsLock(v.Type()) {
				u.all[v.Origin()] = true
			}
		}
		return
	}
}
