package reshape

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A closing is a statement that closes a channel.
type closing struct {
	file    *source.File
	channel ast.Expr
	call    *ast.CallExpr
	// replaced is the call, or the select around it that looks whether the channel is closed.
	replaced ast.Node
}

// closeOnce has every close of a channel that was closed twice go through one sync.Once beside
// the channel.
func (r *Run) closeOnce() []*Change {
	if r.Failure.Cause != event.CloseOfClosed {
		return nil
	}
	f, line := r.lineOf(&r.Failure.Point)
	if f == nil {
		return nil
	}
	var channel *types.Var
	var at ast.Expr
	for _, c := range closings(f) {
		if p, ok := pathOf(f.Info, c.channel); ok && f.Line(c.call.Pos()) <= line && line <= f.Line(c.call.End()) {
			channel, at = p.variable, c.channel
		}
	}
	if channel == nil || r.madeAgain(channel) {
		return nil
	}
	w := r.rewrite()
	var once func(c *closing) (string, bool) // the name of the sync.Once at a close
	if channel.IsField() {
		once = r.onceField(w, f, at.(*ast.SelectorExpr), channel)
	} else {
		once = r.onceVariable(w, channel)
	}
	if once == nil {
		return nil
	}
	for _, f := range r.Code.Files() {
		for _, c := range closings(f) {
			p, ok := pathOf(f.Info, c.channel)
			if !ok || !same(p.variable.Origin(), channel.Origin()) {
				continue
			}
			name, ok := once(&c)
			if !ok {
				return nil
			}
			w.of(f).Replace(c.replaced, name+".Do(func() { "+f.TextOf(c.call)+" })")
			w.note(f, c.call)
		}
	}
	return w.finish(&Change{
		Words:   "the channel " + channel.Name() + " is closed by a sync.Once",
		Mistake: "two goroutines, or two calls, close it",
		Reason:  "the first close counts and the others do nothing, in whatever order they come",
	})
}

// closings are the statements of a file that close a channel.
func closings(f *source.File) []closing {
	var all []closing
	inspect(f, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isBuiltin(f.Info, call, "close") || len(call.Args) != 1 {
			return
		}
		c := closing{file: f, channel: ast.Unparen(call.Args[0]), call: call, replaced: call}
		if s := selectAround(f, c.channel, around); s != nil {
			c.replaced = s
		}
		all = append(all, c)
	})
	return all
}

// selectAround is the select statement that does nothing but close a channel if it is not
// closed; nil if a close is in none.
//
//	select {
//	case <-c:
//	default:
//		close(c)
//	}
func selectAround(f *source.File, channel ast.Expr, around []ast.Node) ast.Node {
	if len(around) < 4 {
		return nil
	}
	clause, ok := around[len(around)-2].(*ast.CommClause)
	if !ok || clause.Comm != nil || len(clause.Body) != 1 {
		return nil
	}
	s, ok := around[len(around)-4].(*ast.SelectStmt)
	if !ok || len(s.Body.List) != 2 {
		return nil
	}
	for _, other := range s.Body.List {
		if other == ast.Stmt(clause) {
			continue
		}
		receive, ok := other.(*ast.CommClause)
		if !ok || len(receive.Body) > 1 {
			return nil
		}
		if len(receive.Body) == 1 {
			if back, ok := receive.Body[0].(*ast.ReturnStmt); !ok || len(back.Results) > 0 || !endsFunction(s, around[:len(around)-4]) {
				return nil
			}
		}
		e, ok := receive.Comm.(*ast.ExprStmt)
		if !ok {
			return nil
		}
		from, ok := ast.Unparen(e.X).(*ast.UnaryExpr)
		if !ok || from.Op != token.ARROW || f.TextOf(from.X) != f.TextOf(channel) {
			return nil
		}
	}
	return s
}

// endsFunction reports whether a statement is the last of its function.
func endsFunction(s ast.Stmt, around []ast.Node) bool {
	_, body := functionAround(around)
	return body != nil && len(body.List) > 0 && body.List[len(body.List)-1] == s
}

// madeAgain reports whether a channel may be another one later, which would have to be closed
// again: it is assigned anywhere but where its struct or the variable itself is made.
func (r *Run) madeAgain(channel *types.Var) bool {
	again := false
	for _, f := range r.Code.Files() {
		inspect(f, func(n ast.Node, around []ast.Node) {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					p, ok := pathOf(f.Info, left)
					if !ok || !same(p.variable.Origin(), channel.Origin()) {
						continue
					}
					if id, ok := left.(*ast.Ident); ok && f.Info.Defs[id] != nil {
						continue
					}
					again = again || !channel.IsField() || !freshIn(f, p.root, around)
				}
			case *ast.UnaryExpr:
				if p, ok := pathOf(f.Info, n.X); ok && n.Op == token.AND && same(p.variable.Origin(), channel.Origin()) {
					again = true
				}
			}
		})
	}
	return again
}

// freshIn reports whether a variable is one of the function that a node is in, and holds what
// the function has made itself: a composite literal or new.
func freshIn(f *source.File, root *ast.Ident, around []ast.Node) bool {
	fn, _ := functionAround(around)
	v := f.Info.ObjectOf(root)
	if fn == nil || !declaredIn(v, fn) {
		return false
	}
	fresh := false
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && f.Info.Defs[id] == v && len(n.Rhs) == len(n.Lhs) {
					fresh = fresh || makesNew(f.Info, n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if f.Info.Defs[id] == v {
					fresh = fresh || len(n.Values) == 0 || makesNew(f.Info, n.Values[i])
				}
			}
		}
		return true
	})
	return fresh
}

// makesNew reports whether an expression is a value that nothing else refers to.
func makesNew(info *types.Info, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		return e.Op == token.AND && makesNew(info, e.X)
	case *ast.CallExpr:
		return isBuiltin(info, e, "new")
	}
	return false
}

// onceField declares a sync.Once above a field that is a channel. What it returns names it at
// a close.
func (r *Run) onceField(w *rewriting, f *source.File, at *ast.SelectorExpr, channel *types.Var) func(*closing) (string, bool) {
	owner := namedType(f.Info.TypeOf(at.X))
	if owner == nil {
		return nil
	}
	in, above, name, err := r.Code.FieldAbove(owner, channel.Origin(), channel.Name()+"Once")
	if err != nil {
		return nil
	}
	sync, err := w.of(in).ImportStd("sync")
	if err != nil {
		return nil
	}
	w.of(in).LineBefore(above, fmt.Sprintf("%s %s.Once // closes %s", name, sync, channel.Name()))
	return func(c *closing) (string, bool) {
		selector, ok := c.channel.(*ast.SelectorExpr)
		if !ok || namedType(c.file.Info.TypeOf(selector.X)) != owner {
			return "", false
		}
		return c.file.TextOf(selector.X) + "." + name, true
	}
}

// onceVariable declares a sync.Once above a variable that is a channel.
func (r *Run) onceVariable(w *rewriting, channel *types.Var) func(*closing) (string, bool) {
	var statement ast.Node
	var in *source.File
	var names *source.Names
	for _, f := range r.Code.Files() {
		inspect(f, func(n ast.Node, around []ast.Node) {
			id, ok := n.(*ast.Ident)
			if !ok || f.Info.Defs[id] != types.Object(channel) {
				return
			}
			in, names = f, source.NamesIn(f.Syntax)
			for i := len(around) - 1; i > 0; i-- {
				s, isStatement := around[i].(ast.Stmt)
				d, isDecl := around[i].(*ast.GenDecl)
				list, _ := listAround(s, around[:i])
				if isStatement && list != nil {
					statement = s
					return
				}
				if _, global := around[i-1].(*ast.File); isDecl && global {
					statement = d
					if d.Doc != nil {
						statement = d.Doc
					}
					return
				}
				if _, isFunction := around[i].(*ast.FuncType); isFunction {
					return // a parameter
				}
			}
		})
	}
	if statement == nil {
		return nil
	}
	name := names.Free(channel.Name() + "Once")
	sync, err := w.of(in).ImportStd("sync")
	if err != nil {
		return nil
	}
	w.of(in).LineBefore(statement, fmt.Sprintf("var %s %s.Once", name, sync))
	return func(c *closing) (string, bool) {
		return name, c.file == in || channel.Parent() == channel.Pkg().Scope() && c.file.Lookup(name, c.call.Pos()) == nil
	}
}
