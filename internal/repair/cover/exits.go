package cover

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// cover writes Lock and Unlock around a region.
//
// Where the region lasts to the end of the function, or nearly, the unlock is deferred:
// that covers every way out, panics included. Otherwise, and in loops, where a deferred
// unlock would come too late, it stands on each way out.
func (code *Code) cover(e *edits, r *Region, l *Lock) error {
	name := code.name(l, r)
	if name == "" {
		return fmt.Errorf("%s cannot be named in %s", l.Words, code.describe(r))
	}
	lock, unlock := name+".Lock()", name+".Unlock()"
	if l.rw && !r.Write {
		lock, unlock = name+".RLock()", name+".RUnlock()"
	}
	calls := code.ahead(r, l)
	if why := code.blocks(r.stmts(), l, calls...); why != "" {
		return fmt.Errorf("a section in %s would hold the lock during %s, which may wait for a goroutine that needs the lock", code.describe(r), why)
	}
	e.places = append(e.places, code.describe(r))
	if s := r.header(); s != nil {
		values := source.NamesIn(r.fn).Free("values")
		e.of(r.file).LineBefore(s, lock+"\n"+values+" := "+r.file.TextOf(s.X)+"\n"+unlock)
		e.of(r.file).Replace(s.X, values)
		return nil
	}
	lock = r.move(e, calls) + lock
	if code.deferrable(r, l) {
		e.of(r.file).LineBefore(r.first(), lock+"\ndefer "+unlock)
		return nil
	}
	if recovers(r) && panics(r) {
		return fmt.Errorf("%s recovers from panics, and one inside the section would leave %s held", code.describe(r), l.Words)
	}
	if !terminates(r.last()) && !code.meansThere(r, r.last().End(), unlock) {
		return fmt.Errorf("the lock's name means something else at the end of the section in %s", code.describe(r))
	}
	e.of(r.file).LineBefore(r.first(), lock)
	if err := code.leave(e, r, unlock); err != nil {
		return err
	}
	if !terminates(r.last()) {
		e.of(r.file).LineAfter(r.last(), unlock)
	}
	return nil
}

// describe says where a region is.
func (code *Code) describe(r *Region) string {
	from, to := code.Fset.PositionFor(r.first().Pos(), false), code.Fset.PositionFor(r.last().End(), false)
	name := "a function literal"
	if d, ok := r.fn.(*ast.FuncDecl); ok {
		name = d.Name.Name
	}
	short := from.Filename[strings.LastIndexByte(from.Filename, '/')+1:]
	if from.Line == to.Line {
		return fmt.Sprintf("%s (%s:%d)", name, short, from.Line)
	}
	return fmt.Sprintf("%s (%s:%d-%d)", name, short, from.Line, to.Line)
}

// deferrable reports whether the unlock can wait for the end of the function: the
// region is in no loop, stands among the function's outermost statements or ends in
// a return, and what follows it is short and cannot wait for anybody.
func (code *Code) deferrable(r *Region, l *Lock) bool {
	if r.unlockDeferred {
		return true
	}
	if r.inLoop() || hasLabels(r.body) {
		return false
	}
	top := len(r.body.List) > 0 && &r.list[0] == &r.body.List[0]
	if !top {
		return terminates(r.last())
	}
	rest := r.list[r.to+1:]
	if len(rest) == 0 {
		return returns(r.list[r.from:r.to+1]) || panics(r)
	}
	if !returns(r.list[r.from : r.to+1]) {
		return false
	}
	if code.blocks(rest, l) != "" {
		return false
	}
	simple := true
	within(rest, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			simple = simple && code.quick(r.info(), n)
		case *ast.ForStmt, *ast.RangeStmt, *ast.GoStmt, *ast.DeferStmt:
			simple = false
		}
	})
	return simple
}

// panics reports whether a region may panic in a way that a deferred unlock is good for:
// it calls something.
func panics(r *Region) bool {
	found := false
	within(r.list[r.from:r.to+1], func(n ast.Node) {
		if c, ok := n.(*ast.CallExpr); ok {
			if _, builtin := r.info().Uses[calleeIdent(c)].(*types.Builtin); !builtin {
				found = true
			}
		}
	})
	return found
}

// recovers reports whether a region's function recovers from panics.
func recovers(r *Region) bool {
	found := false
	ast.Inspect(r.body, func(n ast.Node) bool {
		d, ok := n.(*ast.DeferStmt)
		if !ok {
			return true
		}
		ast.Inspect(d, func(m ast.Node) bool {
			if c, ok := m.(*ast.CallExpr); ok && isBuiltin(r.info(), c, "recover") {
				found = true
			}
			return true
		})
		return false
	})
	return found
}

// returns reports whether statements have a return in them.
func returns(stmts []ast.Stmt) bool {
	found := false
	within(stmts, func(n ast.Node) {
		if _, ok := n.(*ast.ReturnStmt); ok {
			found = true
		}
	})
	return found
}

func hasLabels(body *ast.BlockStmt) bool {
	found := false
	within(body.List, func(n ast.Node) {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			found = true
		}
	})
	return found
}

// terminates reports whether control does not go on behind a statement.
func terminates(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		return panicOf(s) != nil
	case *ast.BlockStmt:
		return len(s.List) > 0 && terminates(s.List[len(s.List)-1])
	case *ast.IfStmt:
		return s.Else != nil && terminates(s.Body) && terminates(s.Else)
	case *ast.SwitchStmt:
		return clausesTerminate(s.Body)
	case *ast.TypeSwitchStmt:
		return clausesTerminate(s.Body)
	case *ast.ForStmt:
		return s.Cond == nil && !breaks(s.Body)
	}
	return false
}

// panicOf is the call of panic that a statement is, nil if it is none.
func panicOf(s *ast.ExprStmt) *ast.CallExpr {
	c, ok := s.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	if id, ok := c.Fun.(*ast.Ident); !ok || id.Name != "panic" || len(c.Args) != 1 {
		return nil
	}
	return c
}

func clausesTerminate(body *ast.BlockStmt) bool {
	all := false
	for _, c := range body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil {
			all = true
		}
		if len(c.Body) == 0 || !terminates(c.Body[len(c.Body)-1]) || breaks(&ast.BlockStmt{List: c.Body}) {
			return false
		}
	}
	return all
}

// breaks reports whether statements break out of what is around them.
func breaks(body *ast.BlockStmt) bool {
	found := false
	within(body.List, func(n ast.Node) {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.BREAK {
			found = true
		}
	})
	return found
}

// leave writes the unlock on every way out of a region before its end.
func (code *Code) leave(e *edits, r *Region, unlock string) error {
	stmts := r.list[r.from : r.to+1]
	var err error
	var walk func(n ast.Node, loop, breakable bool)
	out := func(s ast.Stmt, text string) {
		if code.meansThere(r, s.Pos(), unlock) {
			e.of(r.file).Replace(s, text)
		} else {
			err = errors.New("the lock's name means something else at a way out of the region")
		}
	}
	walk = func(n ast.Node, loop, breakable bool) {
		ast.Inspect(n, func(m ast.Node) bool {
			if m == n || m == nil {
				return true
			}
			switch m := m.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ForStmt:
				walk(m.Body, true, true)
				return false
			case *ast.RangeStmt:
				walk(m.Body, true, true)
				return false
			case *ast.SwitchStmt:
				walk(m.Body, loop, true)
				return false
			case *ast.TypeSwitchStmt:
				walk(m.Body, loop, true)
				return false
			case *ast.SelectStmt:
				walk(m.Body, loop, true)
				return false
			case *ast.ReturnStmt:
				text, problem := code.returnText(e, r, m, unlock)
				if problem != nil {
					err = problem
				}
				out(m, text)
				return false
			case *ast.ExprStmt:
				if c := panicOf(m); c != nil {
					out(m, code.panicText(e, r, c, unlock))
					return false
				}
			case *ast.BranchStmt:
				switch {
				case m.Label != nil || m.Tok == token.GOTO:
					if !labelInside(stmts, m.Label) {
						out(m, unlock+"\n"+r.file.TextOf(m))
					}
				case m.Tok == token.BREAK && !breakable, m.Tok == token.FALLTHROUGH && !breakable, m.Tok == token.CONTINUE && !loop:
					out(m, unlock+"\n"+r.file.TextOf(m))
				}
			}
			return true
		})
	}
	walk(&ast.BlockStmt{List: stmts}, false, false)
	return err
}

// meansThere reports whether the variable that the lock's name begins with is the same at
// a place as at the region's start.
func (code *Code) meansThere(r *Region, there token.Pos, unlock string) bool {
	name, _, _ := strings.Cut(unlock, ".")
	return r.file.Lookup(name, r.first().Pos()) == r.file.Lookup(name, there) // both nil: it is declared by this change
}

// labelInside reports whether a label stands inside the statements.
func labelInside(stmts []ast.Stmt, label *ast.Ident) bool {
	found := false
	within(stmts, func(n ast.Node) {
		if l, ok := n.(*ast.LabeledStmt); ok && label != nil && l.Label.Name == label.Name {
			found = true
		}
	})
	return found
}

// returnText is a return that unlocks: its results are computed before.
func (code *Code) returnText(e *edits, r *Region, s *ast.ReturnStmt, unlock string) (string, error) {
	var names, values, back []string
	free := source.NamesIn(r.fn)
	for _, x := range s.Results {
		if code.trivial(r, x) {
			back = append(back, r.file.TextOf(x))
			continue
		}
		n := 1
		if tuple, ok := r.info().Types[x].Type.(*types.Tuple); ok {
			n = tuple.Len()
		}
		for range n {
			name := ""
			if len(s.Results) == 1 && n == 1 {
				name = free.Free("result")
			} else {
				name = free.Numbered("result")
			}
			names, back = append(names, name), append(back, name)
		}
		value, err := typed(r, x, r.file.TextOf(x))
		if err != nil {
			return "", err
		}
		values = append(values, value)
	}
	if len(names) == 0 {
		return unlock + "\n" + r.file.TextOf(s), nil
	}
	return strings.Join(names, ", ") + " := " + strings.Join(values, ", ") + "\n" + unlock + "\nreturn " + strings.Join(back, ", "), nil
}

// panicText is a panic that unlocks: its value is computed before.
func (code *Code) panicText(e *edits, r *Region, c *ast.CallExpr, unlock string) string {
	if code.trivial(r, c.Args[0]) {
		return unlock + "\n" + r.file.TextOf(c)
	}
	name := source.NamesIn(r.fn).Free("reason")
	return name + " := " + r.file.TextOf(c.Args[0]) + "\n" + unlock + "\npanic(" + name + ")"
}

// typed is an expression with a conversion where its type comes from what it is
// returned as, and would be another in a variable of its own: comparisons and shifts.
func typed(r *Region, x ast.Expr, text string) (string, error) {
	b, ok := ast.Unparen(x).(*ast.BinaryExpr)
	if !ok {
		return text, nil
	}
	t := r.info().Types[x].Type
	switch b.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR:
		if types.Identical(t, types.Typ[types.Bool]) || types.Identical(t, types.Typ[types.UntypedBool]) {
			return text, nil
		}
	case token.SHL, token.SHR:
		if r.info().Types[b.X].Value == nil || types.Identical(t, types.Typ[types.Int]) {
			return text, nil
		}
	default:
		return text, nil
	}
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Name() + "(" + text + ")", nil
	case *types.Named:
		if t.Obj().Pkg() == r.file.Types && t.TypeArgs().Len() == 0 {
			return t.Obj().Name() + "(" + text + ")", nil
		}
	}
	return "", fmt.Errorf("a result of type %s cannot be kept in a variable", t)
}

// trivial reports whether an expression reads nothing that others can change: a constant,
// or a variable that no closure has.
func (code *Code) trivial(r *Region, x ast.Expr) bool {
	tv := r.info().Types[x]
	if tv.Value != nil || tv.IsNil() {
		return true
	}
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := r.info().Uses[id].(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() == v.Pkg().Scope() || v.Pos() < r.fn.Pos() {
		return false
	}
	alone := true
	ast.Inspect(r.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n, func(m ast.Node) bool {
				if id, ok := m.(*ast.Ident); ok && r.info().Uses[id] == v {
					alone = false
				}
				return true
			})
		case *ast.UnaryExpr:
			if id, ok := ast.Unparen(n.X).(*ast.Ident); ok && n.Op == token.AND && r.info().Uses[id] == v {
				alone = false
			}
		}
		return true
	})
	return alone
}
