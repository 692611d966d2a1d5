package txcompile

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/flow"
)

// A variable is what is known of a variable of the program, wherever it is used.
type variable struct {
	assigned  []token.Pos // beyond its declaration
	stepped   bool        // by the last part of the for statement that declares it
	inHeader  bool        // a literal in that statement's header uses it
	addressed bool        // a pointer to it, or into it, may exist
	// captors are the literals that use it and do not declare it.
	captors []*ast.FuncLit
	lent    []token.Pos // where a pointer to it is given to a function that keeps none
	made    bool        // something was made for it
	freshness
}

// gatherVariables notes how a file uses variables.
func (p *program) gatherVariables(f *source.File) {
	in := inspector.New([]*ast.File{f.Syntax})
	in.WithStack([]ast.Node{(*ast.Ident)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		if push {
			p.gatherIdent(f, n.(*ast.Ident), stack)
		}
		return true
	})
}

func (p *program) gatherIdent(f *source.File, id *ast.Ident, stack []ast.Node) {
	obj := f.Info.Defs[id]
	defined := obj != nil
	if !defined {
		obj = f.Info.Uses[id]
	}
	v, ok := obj.(*types.Var)
	if !ok || v.IsField() {
		return
	}
	known := p.variable(v)
	p.gatherFresh(f, v, known, stack)
	if defined {
		return
	}
	for _, n := range stack {
		lit, ok := n.(*ast.FuncLit)
		if ok && (v.Pos() < lit.Pos() || lit.End() <= v.Pos()) {
			known.captors = append(known.captors, lit)
			loop := declaringLoop(v, stack)
			known.inHeader = known.inHeader || loop != nil && lit.Pos() < loop.Body.Pos()
		}
	}
	if isStep(v, stack) {
		known.stepped = true
		return
	}
	p.gatherUse(f, known, stack)
}

// declaringLoop is the for statement around a use of a variable that declares it, nil if none
// does.
func declaringLoop(v *types.Var, stack []ast.Node) *ast.ForStmt {
	for _, n := range stack {
		if loop, ok := n.(*ast.ForStmt); ok && loop.Init != nil && loop.Init.Pos() <= v.Pos() && v.Pos() < loop.Init.End() {
			return loop
		}
	}
	return nil
}

// isStep reports whether a use of a variable is i++, or i += 2, as the last part of the for
// statement that declares it. That changes the next iteration's variable, which nothing else
// can know of yet.
func isStep(v *types.Var, stack []ast.Node) bool {
	loop := declaringLoop(v, stack)
	if loop == nil || ast.Node(loop.Post) != stack[len(stack)-2] {
		return false
	}
	switch post := loop.Post.(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return slices.Contains(post.Lhs, ast.Expr(stack[len(stack)-1].(*ast.Ident)))
	}
	return false
}

// gatherUse notes whether a use assigns to the variable or takes its address: the use is the
// root of a place, x in x.f[i], if what is around it is a part of a struct or an array.
func (p *program) gatherUse(f *source.File, known *variable, stack []ast.Node) {
	for i := len(stack) - 1; i > 0; i-- {
		inner, outer := stack[i].(ast.Expr), stack[i-1]
		switch outer := outer.(type) {
		case *ast.ParenExpr:
			continue
		case *ast.SelectorExpr:
			if _, ok := f.Info.TypeOf(inner).Underlying().(*types.Pointer); ok || outer.X != inner {
				return
			}
			s := f.Info.Selections[outer]
			if s == nil {
				return
			}
			if s.Kind() == types.FieldVal {
				if source.ThroughPointer(s) {
					return
				}
				continue
			}
			if m, ok := s.Obj().(*types.Func); ok && source.HasPointerReceiver(m) && !source.ThroughPointer(s) {
				p.lent(f, known, inner, stack[:i-1])
			}
			return
		case *ast.IndexExpr:
			if _, ok := f.Info.TypeOf(inner).Underlying().(*types.Array); ok && outer.X == inner {
				continue
			}
			return
		case *ast.SliceExpr:
			if _, ok := f.Info.TypeOf(inner).Underlying().(*types.Array); ok && outer.X == inner {
				known.addressed = true
			}
			return
		case *ast.UnaryExpr:
			if outer.Op == token.AND {
				p.lent(f, known, inner, stack[:i-1])
			}
			return
		case *ast.AssignStmt:
			for _, l := range outer.Lhs {
				if l == inner {
					known.assigned = append(known.assigned, inner.Pos())
				}
			}
			return
		case *ast.IncDecStmt:
			known.assigned = append(known.assigned, inner.Pos())
			return
		case *ast.RangeStmt:
			if outer.Key == inner || outer.Value == inner {
				known.assigned = append(known.assigned, inner.Pos())
			}
			return
		default:
			return
		}
	}
}

// lent notes that a pointer to a variable is taken: if it is for a function that keeps none, the variable may
// be assigned to, and no more.
func (p *program) lent(f *source.File, known *variable, e ast.Expr, around []ast.Node) {
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.ParenExpr:
			continue
		case *ast.CallExpr:
			to, ok := p.variableFilled(f.Info, n)
			if t := p.classify(f.Info, n); t.kind == cloned {
				to, ok = p.placeLent(f.Info, n, t.function)
			}
			if ok && to == e {
				known.assigned = append(known.assigned, e.Pos())
				known.lent = append(known.lent, e.Pos())
				return
			}
		}
		break
	}
	known.addressed = true
}

func (p *program) variable(v *types.Var) *variable {
	v = v.Origin()
	known := p.variables[v]
	if known == nil {
		known = &variable{}
		p.variables[v] = known
	}
	return known
}

// A region is code that runs in one transaction from its beginning to its end: the literal
// that is given to stm.Atomic, a clone, or a literal that may be called by any transaction.
// Literals that run where they stand are a part of it.
type region struct{ root ast.Node }

func (r region) has(at token.Pos) bool { return r.root.Pos() <= at && at < r.root.End() }

// shared reports whether code of a region has to access a variable through the transaction.
//
//	var total int                    // not shared: put back when an attempt begins; see kept
//	for i := range n {               // not shared: only this goroutine can assign to it
//		stm.Atomic(func() {
//			k := i * 2               // not shared: it is new in each attempt
//			q := k
//			x.p = &q                 // q is shared: *x.p is accessed as shared
//			total += k
//		})
//	}
func (p *program) shared(r region, v *types.Var) bool {
	known := p.variable(v)
	switch {
	case v.Pkg() != nil && v.Parent() == v.Pkg().Scope():
		return v.Exported() || !p.complete[v.Pkg()] || known.addressed || len(known.assigned) > 0
	case known.addressed:
		return true
	case !known.changes():
		return false
	case r.has(v.Pos()):
		return slices.ContainsFunc(known.captors, func(lit *ast.FuncLit) bool { return !p.immediate(lit) })
	case !slices.ContainsFunc(known.captors, func(lit *ast.FuncLit) bool { return !p.immediate(lit) }):
		return slices.ContainsFunc(known.assigned, r.has) && !p.kept(r, v)
	}
	return true
}

// changes reports whether a local variable has more than one value in its life.
func (v *variable) changes() bool { return len(v.assigned) > 0 || v.stepped && v.inHeader }

// immediate reports whether a function literal runs where it stands, in the transaction that
// it is in: it is called or deferred on the spot, or given to stm.Atomic.
func (p *program) immediate(lit *ast.FuncLit) bool { return p.immediates[lit] }

func (p *program) gatherImmediates(f *source.File) {
	in := inspector.New([]*ast.File{f.Syntax})
	in.WithStack([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		call := n.(*ast.CallExpr)
		if !push {
			return true
		}
		if _, starts := stack[len(stack)-2].(*ast.GoStmt); starts {
			return true // of another goroutine, later
		}
		if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
			p.immediates[lit] = true
		}
		if lit := atomicLiteral(f.Info, call); lit != nil {
			p.immediates[lit] = true
		}
		return true
	})
}

// atomicLiteral returns the literal that a call gives to stm.Atomic, nil if it is no such
// call.
func atomicLiteral(info *types.Info, call *ast.CallExpr) *ast.FuncLit {
	if !isAtomic(info, call) {
		return nil
	}
	lit, _ := ast.Unparen(call.Args[0]).(*ast.FuncLit)
	return lit
}

// A label is how a label is used.
type label struct {
	jumped bool // by goto
	left   bool // by break or continue
}

// gatherLabels notes how labels are used, and which functions have a goto.
func (p *program) gatherLabels(f *source.File) {
	in := inspector.New([]*ast.File{f.Syntax})
	in.WithStack([]ast.Node{(*ast.BranchStmt)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		branch := n.(*ast.BranchStmt)
		if !push || branch.Label == nil {
			return true
		}
		obj := f.Info.Uses[branch.Label]
		known := p.labels[obj]
		if branch.Tok == token.GOTO {
			known.jumped = true
			for _, outer := range stack {
				switch outer.(type) {
				case *ast.FuncDecl, *ast.FuncLit:
					p.jumps[outer] = true
				}
			}
		} else {
			known.left = true
		}
		p.labels[obj] = known
		return true
	})
}

// gatherBoxed notes the types, declared in functions, whose values become those of an
// interface: if such a function is there twice, so is the type, and the two are not the same.
func (p *program) gatherBoxed() {
	for fn := range p.flow.All {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if v, ok := instr.(*ssa.MakeInterface); ok {
					source.Mentions(v.X.Type(), p.box)
				}
			}
		}
	}
}

// box notes a type, if it is declared in a function; others may come.
func (p *program) box(t types.Type) bool {
	if named, ok := t.(*types.Named); ok {
		if obj := named.Obj(); obj.Pkg() != nil && obj.Parent() != obj.Pkg().Scope() {
			p.boxed[flow.PlaceOf(p.Fset, obj.Pos())] = true
		}
	}
	return false
}
