package repair

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// cover writes Lock and Unlock around a region.
//
// Where the region lasts to the end of the function, or nearly, the unlock is deferred:
// that covers every way out, panics included. Otherwise, and in loops, where a deferred
// unlock would come too late, it stands on each way out.
func (p *Program) cover(e *edits, r *Region, l *lock) error {
	name := p.name(l, r)
	if name == "" {
		return fmt.Errorf("%s cannot be named in %s", l.words, describe(p, r))
	}
	lock, unlock := name+".Lock()", name+".Unlock()"
	if l.rw && !r.write {
		lock, unlock = name+".RLock()", name+".RUnlock()"
	}
	calls := p.ahead(r, l)
	if why := p.blocks(r.stmts(), l, calls...); why != "" {
		return fmt.Errorf("a section in %s would hold the lock during %s, which may wait for somebody who needs the lock", describe(p, r), why)
	}
	e.places = append(e.places, describe(p, r))
	if s := r.header(); s != nil {
		values := freeName(r, "values", 0, true)
		e.before(r.file, s, lock+"\n"+values+" := "+e.text(r.file, s.X)+"\n"+unlock)
		e.replace(r.file, s.X, values)
		return nil
	}
	lock = r.move(e, calls) + lock
	if p.deferrable(r, l) {
		e.before(r.file, r.first(), lock+"\ndefer "+unlock)
		return nil
	}
	if recovers(r) && panics(r) {
		return fmt.Errorf("%s recovers from panics, and one inside the section would leave %s held", describe(p, r), l.words)
	}
	if !terminates(r.last()) && !p.meansThere(r, r.last().End(), unlock) {
		return fmt.Errorf("the lock's name means something else at the end of the section in %s", describe(p, r))
	}
	e.before(r.file, r.first(), lock)
	if err := p.leave(e, r, unlock); err != nil {
		return err
	}
	if !terminates(r.last()) {
		e.after(r.file, r.last(), unlock)
	}
	return nil
}

// describe says where a region is.
func describe(p *Program, r *Region) string {
	from, to := p.fset.PositionFor(r.first().Pos(), false), p.fset.PositionFor(r.last().End(), false)
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
func (p *Program) deferrable(r *Region, l *lock) bool {
	if r.deferred {
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
	if p.blocks(rest, l) != "" {
		return false
	}
	simple := true
	within(rest, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			simple = simple && p.quick(r.info(), n)
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

func isBuiltin(info *types.Info, c *ast.CallExpr, name string) bool {
	b, ok := info.Uses[calleeIdent(c)].(*types.Builtin)
	return ok && b.Name() == name
}

func calleeIdent(c *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(c.Fun)
	switch f := fun.(type) { // without type arguments
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	switch f := fun.(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	}
	return nil
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
func (p *Program) leave(e *edits, r *Region, unlock string) error {
	stmts := r.list[r.from : r.to+1]
	var err error
	var walk func(n ast.Node, loop, breakable bool)
	out := func(s ast.Stmt, text string) {
		if p.meansThere(r, s.Pos(), unlock) {
			e.replace(r.file, s, text)
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
				text, problem := p.returnText(e, r, m, unlock)
				if problem != nil {
					err = problem
				}
				out(m, text)
				return false
			case *ast.ExprStmt:
				if c := panicOf(m); c != nil {
					out(m, p.panicText(e, r, c, unlock))
					return false
				}
			case *ast.BranchStmt:
				switch {
				case m.Label != nil || m.Tok == token.GOTO:
					if !labelInside(stmts, m.Label) {
						out(m, unlock+"\n"+e.text(r.file, m))
					}
				case m.Tok == token.BREAK && !breakable, m.Tok == token.FALLTHROUGH && !breakable, m.Tok == token.CONTINUE && !loop:
					out(m, unlock+"\n"+e.text(r.file, m))
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
func (p *Program) meansThere(r *Region, there token.Pos, unlock string) bool {
	name, _, _ := strings.Cut(unlock, ".")
	return lookup(r.file, name, r.first().Pos()) == lookup(r.file, name, there) // both nil: it is declared by this change
}

// lookup is what a name means at a place.
func lookup(f *file, name string, at token.Pos) types.Object {
	scope := f.pkg.Types.Scope().Innermost(at)
	if scope == nil {
		return nil
	}
	_, o := scope.LookupParent(name, at)
	return o
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
func (p *Program) returnText(e *edits, r *Region, s *ast.ReturnStmt, unlock string) (string, error) {
	var names, values, back []string
	for _, x := range s.Results {
		if p.trivial(r, x) {
			back = append(back, e.text(r.file, x))
			continue
		}
		n := 1
		if tuple, ok := r.info().Types[x].Type.(*types.Tuple); ok {
			n = tuple.Len()
		}
		for range n {
			name := freeName(r, "result", len(names), len(s.Results) == 1 && n == 1)
			names, back = append(names, name), append(back, name)
		}
		value, err := typed(r, x, e.text(r.file, x))
		if err != nil {
			return "", err
		}
		values = append(values, value)
	}
	if len(names) == 0 {
		return unlock + "\n" + e.text(r.file, s), nil
	}
	return strings.Join(names, ", ") + " := " + strings.Join(values, ", ") + "\n" + unlock + "\nreturn " + strings.Join(back, ", "), nil
}

// panicText is a panic that unlocks: its value is computed before.
func (p *Program) panicText(e *edits, r *Region, c *ast.CallExpr, unlock string) string {
	if p.trivial(r, c.Args[0]) {
		return unlock + "\n" + e.text(r.file, c)
	}
	name := freeName(r, "reason", 0, true)
	return name + " := " + e.text(r.file, c.Args[0]) + "\n" + unlock + "\npanic(" + name + ")"
}

// freeName is a name that a region's function does not use.
func freeName(r *Region, word string, i int, only bool) string {
	used := map[string]bool{}
	ast.Inspect(r.fn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	if only && !used[word] {
		return word
	}
	for n := 0; ; n++ {
		name := fmt.Sprintf("%s%d", word, n)
		if used[name] {
			continue
		}
		if i--; i < 0 {
			return name
		}
	}
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
		if t.Obj().Pkg() == r.file.pkg.Types && t.TypeArgs().Len() == 0 {
			return t.Obj().Name() + "(" + text + ")", nil
		}
	}
	return "", fmt.Errorf("a result of type %s cannot be kept in a variable", t)
}

// trivial reports whether an expression reads nothing that others can change: a constant,
// or a variable that no closure has.
func (p *Program) trivial(r *Region, x ast.Expr) bool {
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

// blocks says what in some statements, but for the calls in except, may wait for another
// goroutine; "" if nothing does. It looks into functions of the program that are called.
func (p *Program) blocks(stmts []ast.Stmt, l *lock, except ...*ast.CallExpr) string {
	return p.waits(stmts, l, map[*types.Func]bool{}, except)
}

func (p *Program) waits(stmts []ast.Stmt, l *lock, seen map[*types.Func]bool, except []*ast.CallExpr) string {
	why := ""
	say := func(s string) {
		if why == "" {
			why = s
		}
	}
	for _, s := range stmts {
		f := p.fileOf(s)
		if f == nil {
			return "code that is not the program's"
		}
		info := f.pkg.TypesInfo
		atOnce(s, func(n ast.Node) {
			for _, c := range except {
				if encloses(c, n) {
					return
				}
			}
			switch n := n.(type) {
			case *ast.SendStmt:
				say("a send")
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					say("a receive")
				}
			case *ast.SelectStmt:
				say("a select")
			case *ast.RangeStmt:
				if _, ok := info.Types[n.X].Type.Underlying().(*types.Chan); ok {
					say("a range over a channel")
				}
			case *ast.CallExpr:
				say(p.callWaits(info, n, l, seen))
			}
		})
	}
	return why
}

// callWaits says what in a call, but for its arguments, may wait.
func (p *Program) callWaits(info *types.Info, c *ast.CallExpr, l *lock, seen map[*types.Func]bool) string {
	fn, _ := info.Uses[calleeIdent(c)].(*types.Func)
	if fn == nil {
		if unknown(info, c) {
			return "a call of a function value"
		}
		return ""
	}
	if waiting[fn.FullName()] {
		return "a call of " + fn.Name()
	}
	if op := lockCall(info, c); op != nil && op.takes && op.object != l.object && l.object != nil {
		return "" // the order of locks is for the audit to see
	}
	d := p.funcs[fn.Origin()]
	if d == nil || d.Body == nil || seen[fn.Origin()] {
		return ""
	}
	seen[fn.Origin()] = true
	if w := p.waits(d.Body.List, l, seen, nil); w != "" {
		return w + " in " + fn.Name()
	}
	return ""
}

// unknown reports whether a call is of a function value: whoever gave it may use what the
// lock guards, and so wait for itself.
func unknown(info *types.Info, c *ast.CallExpr) bool {
	if info.Types[c.Fun].IsType() {
		return false
	}
	if _, ok := info.Uses[calleeIdent(c)].(*types.Builtin); ok {
		return false
	}
	_, literal := ast.Unparen(c.Fun).(*ast.FuncLit)
	return !literal
}

// waiting are the functions of the standard library that wait for somebody.
var waiting = map[string]bool{
	"(*sync.WaitGroup).Wait": true, "(*sync.Cond).Wait": true, "time.Sleep": true,
	"(*golang.org/x/sync/errgroup.Group).Wait": true,
}

// quick reports whether a call takes no time to speak of and waits for nobody.
func (p *Program) quick(info *types.Info, c *ast.CallExpr) bool {
	if info.Types[c.Fun].IsType() {
		return true
	}
	switch o := info.Uses[calleeIdent(c)].(type) {
	case *types.Builtin:
		return true
	case *types.Func:
		if o.Pkg() == nil {
			return false
		}
		switch o.Pkg().Path() {
		case "errors", "fmt", "strings", "strconv", "sort", "slices", "maps", "math", "bytes", "unicode/utf8", "time":
			return !waiting[o.FullName()]
		}
		return p.funcs[o.Origin()] != nil
	}
	return false
}
