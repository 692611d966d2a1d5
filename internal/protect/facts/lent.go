package facts

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/ssa"
)

// A variable that is hidden has no pointer to it in memory. While a function runs it may have one all the same: its caller
// has lent it the address, or the function has given the address a name. Code of the function, and what it calls, may use
// the variable by both.
//
//	func (i *inner) inc() { i.mu.Lock(); i.n++; all.in.n++; i.mu.Unlock() }
//	all.in.inc()                        inc is lent the fields in and all
//
//	b := &x.in; b.mu.Lock(); b.n++; x.in.n++; b.mu.Unlock()      has a name for x.in

// lend notes that a call gives a function addresses that it only borrows.
func (f *Facts) lend(to parameter, t *Touch) {
	if t.variable != nil {
		f.lent[to] = note(f.lent[to], f.KeyOf(t.variable))
	}
	for _, l := range t.links {
		f.lent[to] = note(f.lent[to], f.KeyOf(l.field))
	}
}

// observeLending notes what a call of a function that borrows an address lends it. A variable of a function that another
// one may assign to by its address is assigned to where no name of it shows that.
//
//	x.mu.Lock(); x.n++; advance(&x); x.n++
func (f *Facts) observeLending(c *ssa.CallCommon, address ssa.Value, use useOfAddress) {
	t := f.code.touch(address)
	for n, a := range c.Args {
		if a == address {
			f.lend(parameter{FuncKeyOf(calleeOf(c)), n}, t)
		}
	}
	if v := t.variable; v != nil && len(t.links) == 0 && use == borrowedToWrite && (IsPointer(v.Type()) || !IsGlobal(v) && !f.code.captured[v]) {
		f.expose(v, Pointed)
	}
}

// propagateLending follows addresses into the functions that are lent them by those that are, and gathers what a function
// has in any way.
func (f *Facts) propagateLending() {
	for changed := true; changed; {
		changed = false
		for from, b := range f.borrowers {
			for _, to := range b.passed {
				for k := range f.lent[from] {
					if !f.lent[to][k] {
						f.lent[to], changed = note(f.lent[to], k), true
					}
				}
			}
		}
	}
	for p, keys := range f.lent {
		for k := range keys {
			f.led[p.of] = note(f.led[p.of], k)
		}
	}
}

// observeNamedAddress notes what a function takes the address of other than to call a function with it.
func (o *observer) observeNamedAddress(c inspector.Cursor) {
	u, ok := c.Node().(*ast.UnaryExpr)
	if !ok || u.Op != token.AND || aroundParens(c).ParentEdgeKind() == edge.CallExpr_Args {
		return
	}
	for _, v := range o.leadingTo(u.X) {
		o.led[o.within] = note(o.led[o.within], o.KeyOf(v))
	}
}

// leadingTo returns the variable and the fields that an expression leads through, from the last pointer on.
func (o *observer) leadingTo(e ast.Expr) (all []*types.Var) {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			if v, ok := o.info.Uses[x].(*types.Var); ok {
				all = append(all, v)
			}
			return all
		case *ast.SelectorExpr:
			sel := o.info.Selections[x]
			if sel == nil {
				e = x.Sel // of another package
				continue
			}
			t := sel.Recv()
			for _, i := range sel.Index() {
				s, ok := Deref(t).Underlying().(*types.Struct)
				if !ok {
					break
				}
				all = append(all, s.Field(i).Origin())
				t = s.Field(i).Type()
			}
			if IsPointer(sel.Recv()) {
				return all
			}
			e = x.X
		case *ast.IndexExpr:
			if !IsArray(o.info.TypeOf(x.X)) {
				return all
			}
			e = x.X
		default:
			return all
		}
	}
}

// FunctionAt returns the function that a position is in, as Footprint has it.
func (f *Facts) FunctionAt(info *types.Info, pkg *types.Package, file *ast.File, at token.Pos) FuncKey {
	for _, d := range file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Pos() <= at && at <= d.End() {
			return functionOf(info, pkg, d)
		}
	}
	return functionOf(info, pkg, nil)
}

// functionOf returns the key of a function, or of the literals in the first values of a package's variables.
func functionOf(info *types.Info, pkg *types.Package, d *ast.FuncDecl) FuncKey {
	if d != nil {
		if fn, ok := info.Defs[d.Name].(*types.Func); ok {
			return FuncKeyOf(fn)
		}
	}
	return FuncKey("var " + pkg.Path())
}

// FootprintIn describes a variable or field as code that a function runs may reach it.
func (f *Facts) FootprintIn(fn FuncKey, v *types.Var) Footprint {
	m := f.Footprint(v)
	m.led = f.led[fn]
	for _, k := range m.Keys {
		if m.led[k] {
			m.Exposure = max(m.Exposure, Pointed)
		}
	}
	return m
}
