package stmcheck

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/cfg"
	"golang.org/x/tools/go/types/typeutil"
)

// A checker is one run over a package.
type checker struct {
	pass      *analysis.Pass
	info      *types.Info
	functions []*function // outer ones before the literals in them
	declared  map[*types.Func]*function
	literals  map[*ast.FuncLit]*function
	held      map[*types.Var]*ast.FuncLit // by variables that are assigned once
	comms     map[ast.Stmt]*ast.SelectStmt
	keys      map[ast.Expr]bool   // assigned to by a range statement
	fresh     map[*types.Var]bool // only ever assigned what has just been made
	stored    map[*types.Var]bool // variables and fields whose address is given to stm.Store
	loaded    map[*types.Var]bool // variables that may hold what a transaction has read
	silenced  map[string]map[int]bool
}

// A role says when a function literal runs.
type role uint8

const (
	unknown   role = iota // stored or returned: we cannot say
	inside                // as part of the function around it
	afterward             // when the transaction is over
	goroutine
)

// A function is a declared function or a literal.
type function struct {
	node  ast.Node // *ast.FuncDecl or *ast.FuncLit
	fn    *types.Func
	sig   *types.Signature
	body  *ast.BlockStmt
	graph *cfg.CFG
	outer *function  // of a literal
	role  role       // of a literal
	tx    *types.Var // its own parameter, or nil

	// transaction is the outermost function of the transaction that this one is part
	// of: what is declared in there is private to one attempt. Nil for helpers.
	transaction *function

	events map[*cfg.Block][]event
	// irrevocable has the blocks that are only reached after Tx.Irrevocable.
	irrevocable map[*cfg.Block]bool
	begins      bool // a literal that is made after Tx.Irrevocable

	summary summary
	writes  map[*types.Var]bool // from outside
	cause   token.Pos           // of the summary's effect
	loop    token.Pos           // of the summary's loop
	numbers []number            // of a helper
}

func (f *function) name() string {
	if f.fn != nil {
		return f.fn.Name()
	}
	return "the function literal"
}

// contains reports whether a variable is declared in the function.
func (f *function) contains(v *types.Var) bool {
	return f.node.Pos() <= v.Pos() && v.Pos() < f.node.End()
}

func newChecker(pass *analysis.Pass) *checker {
	c := &checker{
		pass:     pass,
		info:     pass.TypesInfo,
		declared: make(map[*types.Func]*function),
		literals: make(map[*ast.FuncLit]*function),
		held:     make(map[*types.Var]*ast.FuncLit),
		comms:    make(map[ast.Stmt]*ast.SelectStmt),
		keys:     make(map[ast.Expr]bool),
		fresh:    make(map[*types.Var]bool),
		stored:   make(map[*types.Var]bool),
		silenced: silenced(pass),
	}
	for _, file := range pass.Files {
		c.findHeld(file)
	}
	graphs := pass.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs)
	for _, file := range pass.Files {
		c.findFunctions(file, graphs)
	}
	c.findRoles()
	c.findStored()
	for _, f := range c.functions {
		if f.outer != nil && f.outer.transaction != nil && f.role == inside {
			f.transaction = f.outer.transaction
		} else if f.tx != nil {
			f.transaction = f
			// A literal with a Tx of its own that is stored somewhere in a transaction
			// is part of that transaction if anything: Atomically nests.
			if f.outer != nil && f.outer.transaction != nil && f.role == unknown {
				f.transaction = f.outer.transaction
			}
		}
		f.events = c.eventsOf(f)
	}
	return c
}

func (c *checker) findFunctions(file *ast.File, graphs *ctrlflow.CFGs) {
	ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			fn, ok := c.info.Defs[n.Name].(*types.Func)
			if !ok || n.Body == nil {
				return false
			}
			f := &function{node: n, fn: fn, sig: fn.Signature(), body: n.Body, graph: graphs.FuncDecl(n), tx: txParameter(fn.Signature())}
			c.functions = append(c.functions, f)
			c.declared[fn] = f
		case *ast.FuncLit:
			sig, ok := c.info.TypeOf(n).(*types.Signature)
			if !ok {
				return false
			}
			f := &function{node: n, sig: sig, body: n.Body, graph: graphs.FuncLit(n), tx: txParameter(sig)}
			for _, around := range stack {
				switch around := around.(type) {
				case *ast.FuncDecl:
					f.outer = c.declared[c.info.Defs[around.Name].(*types.Func)]
				case *ast.FuncLit:
					f.outer = c.literals[around]
				}
			}
			c.functions = append(c.functions, f)
			c.literals[n] = f
		case *ast.SelectStmt:
			for _, clause := range n.Body.List {
				if comm := clause.(*ast.CommClause).Comm; comm != nil {
					c.comms[comm] = n
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				c.keys[n.Key] = true
				c.keys[n.Value] = true
			}
		}
		return true
	})
}

// findHeld finds the variables that hold one function literal for all of their life.
func (c *checker) findHeld(file *ast.File) {
	assigned := make(map[*types.Var]int)
	note := func(lhs, rhs ast.Expr) {
		id, ok := ast.Unparen(lhs).(*ast.Ident)
		if !ok {
			return
		}
		v, ok := c.info.ObjectOf(id).(*types.Var)
		if !ok || v.Parent() == nil || v.Parent() == c.pass.Pkg.Scope() {
			return
		}
		if assigned[v]++; assigned[v] == 1 {
			c.fresh[v] = true
		}
		c.fresh[v] = c.fresh[v] && c.isNew(rhs)
		if lit, ok := rhs.(*ast.FuncLit); ok {
			c.held[v] = lit
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				var rhs ast.Expr
				if len(n.Lhs) == len(n.Rhs) {
					rhs = ast.Unparen(n.Rhs[i])
				}
				note(lhs, rhs)
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Values) == len(n.Names) {
					note(name, ast.Unparen(n.Values[i]))
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				note(n.X, nil) // anything may be assigned through it
			}
		}
		return true
	})
	for v := range c.held {
		if assigned[v] > 1 {
			delete(c.held, v)
		}
	}
}

// findRoles sees where each literal goes: directly, or through the variable that
// holds it. The strongest role counts: a literal that is called in one place and
// given to OnCommit in another is inside.
func (c *checker) findRoles() {
	set := func(e ast.Expr, r role) {
		if f := c.literalOf(e); f != nil && (f.role == unknown || r == inside) {
			f.role = r
		}
	}
	for _, file := range c.pass.Files {
		apart := make(map[*ast.CallExpr]bool)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ReturnStmt:
				for _, e := range n.Results {
					if isIterator(c.info.TypeOf(e)) {
						set(e, inside)
					}
				}
			case *ast.RangeStmt:
				set(n.X, inside)
			case *ast.GoStmt:
				set(n.Call.Fun, goroutine)
				for _, arg := range n.Call.Args {
					set(arg, goroutine)
				}
				apart[n.Call] = true
			case *ast.CallExpr:
				if apart[n] {
					break
				}
				set(n.Fun, inside)
				r := inside
				switch fn := c.callee(n); {
				case afterwards[stmSymbol(fn)]:
					r = afterward
				case fn != nil && startsGoroutine[fn.FullName()]:
					r = goroutine
				}
				for _, arg := range n.Args {
					set(arg, r)
				}
			}
			return true
		})
	}
}

// isIterator reports whether a type is that of functions to range over. Such a
// function is called where it is returned to, in the same transaction.
func isIterator(t types.Type) bool {
	sig, ok := t.Underlying().(*types.Signature)
	if !ok || sig.Params().Len() != 1 || sig.Results().Len() != 0 {
		return false
	}
	yield, ok := sig.Params().At(0).Type().Underlying().(*types.Signature)
	return ok && yield.Results().Len() == 1 && types.Identical(yield.Results().At(0).Type(), types.Typ[types.Bool])
}

// startsGoroutine are functions that run their argument in a goroutine. That they do
// so is reported as an effect; here it is about what the argument may use.
var startsGoroutine = map[string]bool{
	"(*sync.WaitGroup).Go": true, "time.AfterFunc": true, "context.AfterFunc": true,
	"(*golang.org/x/sync/errgroup.Group).Go": true, "(*golang.org/x/sync/errgroup.Group).TryGo": true,
}

// literalOf returns the function that an expression surely is, if it is a literal or
// a variable that holds one.
func (c *checker) literalOf(e ast.Expr) *function {
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		return c.literals[e]
	case *ast.Ident:
		if v, ok := c.info.Uses[e].(*types.Var); ok {
			if lit := c.held[v]; lit != nil {
				return c.literals[lit]
			}
		}
	}
	return nil
}

// functionOf returns the function of this package that an expression surely is.
func (c *checker) functionOf(e ast.Expr) *function {
	if f := c.literalOf(e); f != nil {
		return f
	}
	e = ast.Unparen(e)
	switch x := e.(type) {
	case *ast.IndexExpr:
		e = x.X
	case *ast.IndexListExpr:
		e = x.X
	}
	var id *ast.Ident
	switch x := e.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return nil
	}
	if fn, ok := c.info.Uses[id].(*types.Func); ok {
		return c.declared[fn.Origin()]
	}
	return nil
}

// callee returns the function or method that is called, the interface's if it is
// called through one, or nil.
func (c *checker) callee(call *ast.CallExpr) *types.Func {
	if fn, ok := typeutil.Callee(c.info, call).(*types.Func); ok {
		return fn.Origin()
	}
	return nil
}
