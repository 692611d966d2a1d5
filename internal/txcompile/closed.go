package txcompile

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
)

// A closed function touches nothing but its own variables and what its parameters point to,
// keeps no pointer, and ends: all of its loops are over what is there. A transaction that
// gives it nothing but its own memory calls it as it is.
//
//	func (c *choice) consider(price int) { if price > c.price { c.price = price } }
//
//	var best choice                         var best choice
//	best.consider(x.price)                  best.consider(stm.Load(tx, &x.price))
type closed struct {
	pure bool // its parameters point to nothing
}

// closedFunctions decides which functions are closed, by where they begin. A function that
// calls others is, if they are; one that calls itself is not.
func (f *flow) closedFunctions() map[place]closed {
	known := make(map[*ssa.Function]bool)
	for more := true; more; {
		more = false
		for fn := range f.all {
			if !known[fn] && fn.Syntax() != nil && fn.Blocks != nil && len(fn.FreeVars) == 0 && !returnsPointers(fn) && staysInside(fn, known) {
				known[fn], more = true, true
			}
		}
	}
	all := make(map[place]closed)
	for at, functions := range f.byPlace {
		if slices.ContainsFunc(functions, func(fn *ssa.Function) bool { return !known[fn] }) {
			continue // one of its instances
		}
		pure := !slices.ContainsFunc(functions, func(fn *ssa.Function) bool {
			return slices.ContainsFunc(fn.Params, func(v *ssa.Parameter) bool { return leads(v.Type()) })
		})
		all[at] = closed{pure}
	}
	return all
}

// leads reports whether a value of a type leads to memory that can change.
func leads(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Kind() == types.UnsafePointer
	case *types.Array:
		return leads(t.Elem())
	case *types.Struct:
		for v := range t.Fields() {
			if leads(v.Type()) {
				return true
			}
		}
		return false
	}
	return true
}

func returnsPointers(fn *ssa.Function) bool {
	for v := range fn.Signature.Results().Variables() {
		if leads(v.Type()) {
			return true
		}
	}
	return false
}

// staysInside reports whether all instructions of a function are harmless. An instruction
// that is not known to be is not.
func staysInside(fn *ssa.Function, closed map[*ssa.Function]bool) bool {
	for _, b := range fn.Blocks {
		if strings.HasPrefix(b.Comment, "for.") || strings.HasPrefix(b.Comment, "rangeint.loop") && !boundedByLength(b) || strings.HasPrefix(b.Comment, "label") {
			return false
		}
		for _, instr := range b.Instrs {
			if !isInside(instr, closed) {
				return false
			}
		}
	}
	return true
}

// boundedByLength reports whether a loop over a number counts to a constant, or to the length
// of something that is there.
func boundedByLength(loop *ssa.BasicBlock) bool {
	for _, instr := range loop.Instrs {
		if compare, ok := instr.(*ssa.BinOp); ok && compare.Op == token.LSS {
			if _, ok := compare.Y.(*ssa.Const); ok {
				return true
			}
			call, ok := compare.Y.(*ssa.Call)
			if !ok {
				return false
			}
			b, ok := call.Call.Value.(*ssa.Builtin)
			return ok && b.Name() == "len"
		}
	}
	return false
}

func isInside(instr ssa.Instruction, closed map[*ssa.Function]bool) bool {
	switch instr := instr.(type) {
	case *ssa.BinOp, *ssa.If, *ssa.Jump, *ssa.Return, *ssa.DebugRef, *ssa.Field, *ssa.Index, *ssa.Extract, *ssa.Alloc, *ssa.Lookup:
		return true
	case *ssa.Phi:
		return !leads(instr.Type())
	case *ssa.Convert:
		return !leads(instr.Type()) && !leads(instr.X.Type())
	case *ssa.UnOp:
		return instr.Op != token.ARROW && (instr.Op != token.MUL || isOwnMemory(instr.X) && !leads(instr.Type()))
	case *ssa.FieldAddr:
		return isOwnMemory(instr)
	case *ssa.IndexAddr:
		return isOwnMemory(instr)
	case *ssa.Store:
		return isOwnMemory(instr.Addr) && !leads(instr.Val.Type())
	case *ssa.Range:
		b, ok := instr.X.Type().Underlying().(*types.Basic)
		return ok && b.Info()&types.IsString != 0
	case *ssa.Next:
		return instr.IsString
	case *ssa.Call:
		if b, ok := instr.Call.Value.(*ssa.Builtin); ok {
			return slices.Contains([]string{"len", "cap", "min", "max", "real", "imag", "complex"}, b.Name())
		}
		callee := instr.Call.StaticCallee()
		return callee != nil && closed[callee] && !slices.ContainsFunc(instr.Call.Args, func(v ssa.Value) bool { return leads(v.Type()) && !isOwnMemory(v) })
	}
	return false
}

// isOwnMemory reports whether an address is that of a variable of the function, or is what a
// parameter points to, or a part of it.
func isOwnMemory(addr ssa.Value) bool {
	switch v := addr.(type) {
	case *ssa.Alloc:
		return true
	case *ssa.Parameter:
		_, ok := v.Type().Underlying().(*types.Pointer)
		return ok
	case *ssa.FieldAddr:
		return isOwnMemory(v.X)
	case *ssa.IndexAddr:
		_, ok := v.X.Type().Underlying().(*types.Pointer)
		return ok && isOwnMemory(v.X)
	}
	return false
}

// lends returns the place whose address a call of a closed function is given, nil if it is
// given none. It is not ok if the function is not closed, or given more that leads anywhere.
//
//	best.consider(price)     best
func (p *program) lends(info *types.Info, call *ast.CallExpr, callee *function) (to ast.Expr, ok bool) {
	known, ok := p.closed[placeOf(p.Fset, callee.decl.Pos())]
	if !ok || known.pure {
		return nil, ok
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && info.Selections[sel] != nil {
		s := info.Selections[sel]
		switch {
		case throughPointer(s) || isPointer(s.Recv()):
			return nil, false
		case hasPointerReceiver(s.Obj().(*types.Func)):
			to = sel.X
		case leads(s.Recv()):
			return nil, false
		}
	}
	for _, arg := range call.Args {
		if !leads(info.TypeOf(arg)) {
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
	to, ok := p.lends(f.Info, call, callee)
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

// fills returns the variable that a call of the library writes to, if it touches nothing else:
//
//	b.WriteString(s), fmt.Fprintf(&b, "%d", n)     b
func (p *program) fills(info *types.Info, call *ast.CallExpr) (to ast.Expr, ok bool) {
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
	case slices.Contains([]string{"fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln"}, callee.FullName()):
		u, ok := ast.Unparen(args[0]).(*ast.UnaryExpr)
		if !ok || u.Op != token.AND || !library.IsWriter(info.TypeOf(u)) {
			return nil, false
		}
		to, args = u.X, args[1:]
	default:
		return nil, false
	}
	return to, !slices.ContainsFunc(args, func(e ast.Expr) bool { return !library.IsFlat(info.TypeOf(e)) }) && !leadsAway(callee.Signature().Results())
}

// leadsAway reports whether a result leads to memory: that of the receiver, for all we know.
func leadsAway(results *types.Tuple) bool {
	for v := range results.Variables() {
		if _, isError := v.Type().Underlying().(*types.Interface); !isError && leads(v.Type()) {
			return true
		}
	}
	return false
}

// ownFill reports whether a call of the library writes to nothing but a variable of a region.
func (p *program) ownFill(f *source.File, r region, call *ast.CallExpr) bool {
	to, ok := p.fills(f.Info, call)
	return ok && p.isOwn(f, r, to)
}
