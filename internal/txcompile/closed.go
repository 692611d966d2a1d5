package txcompile

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/flow"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
)

// placeLent returns the place whose address a call of a closed function is given, nil if it is
// given none. It is not ok if the function is not closed, or given more that leads anywhere.
//
//	best.consider(price)     best
func (p *program) placeLent(info *types.Info, call *ast.CallExpr, callee *function) (to ast.Expr, ok bool) {
	known, ok := p.closed[flow.PlaceOf(p.Fset, callee.decl.Pos())]
	if !ok || known.Pure {
		return nil, ok
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && info.Selections[sel] != nil {
		s := info.Selections[sel]
		switch {
		case source.ThroughPointer(s) || isPointer(s.Recv()):
			return nil, false
		case source.HasPointerReceiver(s.Obj().(*types.Func)):
			to = sel.X
		case flow.Leads(s.Recv()):
			return nil, false
		}
	}
	for _, arg := range call.Args {
		if !flow.Leads(info.TypeOf(arg)) {
			continue
		}
		u, ok := ast.Unparen(arg).(*ast.UnaryExpr)
		if !ok || u.Op != token.AND || to != nil {
			return nil, false
		}
		to = u.X
	}
	return to, true
}

// closedCall reports whether a call in a region is of a closed function with nothing but the
// region's own memory, so that it stays what it is.
func (p *program) closedCall(f *source.File, r region, call *ast.CallExpr, callee *function) bool {
	to, ok := p.placeLent(f.Info, call, callee)
	return ok && (to == nil || p.isOwn(f, r, to))
}

// isOwn reports whether an expression is a part of a variable of the region that is not
// shared.
func (p *program) isOwn(f *source.File, r region, e ast.Expr) bool {
	if !(changes{p, f, nil}).isPrivate(e) {
		return false
	}
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		default:
			v, ok := f.Info.Uses[x.(*ast.Ident)].(*types.Var)
			return ok && !p.shared(r, v)
		}
	}
}

// variableFilled returns the variable that a call of the library writes to, if it touches nothing else:
//
//	b.WriteString(s), fmt.Fprintf(&b, "%d", n)     b
func (p *program) variableFilled(info *types.Info, call *ast.CallExpr) (to ast.Expr, ok bool) {
	callee, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok || call.Ellipsis.IsValid() {
		return nil, false
	}
	args := call.Args
	switch sel, _ := ast.Unparen(call.Fun).(*ast.SelectorExpr); {
	case callee.Signature().Recv() != nil:
		if s := info.Selections[sel]; s == nil || s.Kind() != types.MethodVal || len(s.Index()) != 1 || isPointer(s.Recv()) ||
			!library.IsWriter(callee.Signature().Recv().Type()) {
			return nil, false
		}
		to = sel.X
	case library.IsFiller(callee):
		u, ok := ast.Unparen(args[0]).(*ast.UnaryExpr)
		if !ok || u.Op != token.AND || !library.IsWriter(info.TypeOf(u)) {
			return nil, false
		}
		_, ok = library.Writes(info, callee, call)
		return u.X, ok
	default:
		return nil, false
	}
	return to, !slices.ContainsFunc(args, func(e ast.Expr) bool { return !leadsNowhere(info.TypeOf(e)) }) && !leadsAway(callee.Signature().Results())
}

// leadsNowhere reports whether a value of a type leads to no memory that can change, or is a slice
// whose elements do not: of such a function is given a copy.
func leadsNowhere(t types.Type) bool {
	if s, ok := t.Underlying().(*types.Slice); ok {
		t = s.Elem()
	}
	return library.IsFlat(t)
}

// leadsAway reports whether a result leads to memory: that of the receiver, for all we know.
func leadsAway(results *types.Tuple) bool {
	for v := range results.Variables() {
		if _, isError := v.Type().Underlying().(*types.Interface); !isError && flow.Leads(v.Type()) {
			return true
		}
	}
	return false
}

// ownFill reports whether a call of the library writes to nothing but a variable of a region.
func (p *program) ownFill(f *source.File, r region, call *ast.CallExpr) bool {
	to, ok := p.variableFilled(f.Info, call)
	return ok && p.isOwn(f, r, to)
}
