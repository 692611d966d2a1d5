package facts

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/protect/harmless"
)

// IsPointerWord reports whether a value of a type is one word that the garbage collector has to
// see. On pages such a variable is no variable any more: it is loaded and stored by calls. That
// it can be written so is known of each use, or the variable is pinned.
//
//	x.p.n, x.m[k], x.f(), <-x.c     are loads of x.p, x.m, x.f and x.c
//	x.p = v                         is a store
//	x.p, y = y, x.p                 is one after all has been loaded
//	&x.p; x.p, err = f()            pin x.p
func IsPointerWord(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return true
	}
	return false
}

// words are the uses of variables that are pointer words, and of all fields.
type words struct {
	pinned  map[Key]string
	refused map[ast.Node]string // uses that cannot be written as calls, with the reason
	unread  map[ast.Node]bool   // uses that are evaluated by the compiler: len(x.a)
	stores  map[ast.Node]*ast.AssignStmt
	updates map[ast.Node]ast.Stmt
	entries map[ast.Node]*EntryUse
	// overtaken has the calls that the source has behind a load in the same statement: as a
	// call itself, the load would come before them.
	overtaken map[Key][]overtakenCall
}

type overtakenCall struct {
	load ast.Node
	info *types.Info
	call *ast.CallExpr // nil for the receiving from a channel
}

func newWords() *words {
	return &words{pinned: make(map[Key]string), refused: make(map[ast.Node]string), unread: make(map[ast.Node]bool), stores: make(map[ast.Node]*ast.AssignStmt), updates: make(map[ast.Node]ast.Stmt), entries: make(map[ast.Node]*EntryUse), overtaken: make(map[Key][]overtakenCall)}
}

// PinnedWord returns why not every use of a variable that is a pointer word, or of a field, can be
// written as a call, apart from what pins others as well; "" if there is no reason. Of a field that
// is no pointer word there are updates, too; of an array or a struct a part may be used, which pins it.
//
//	x.n += v, x.n++     are updates
//	x.a[i] = v          pins x.a
func (f *Facts) PinnedWord(v *types.Var) string {
	k := f.KeyOf(v)
	if why := f.words.pinned[k]; why != "" {
		return why
	}
	for _, o := range f.words.overtaken[k] {
		if why := f.mayWrite(o, k); why != "" {
			return why
		}
	}
	return ""
}

// Refused returns why a use of a variable or field cannot be written as a call, "" if it can.
func (f *Facts) Refused(use ast.Node, k Key) string {
	if why := f.words.refused[use]; why != "" {
		return why
	}
	for _, o := range f.words.overtaken[k] {
		if o.load == use && f.mayWrite(o, k) != "" {
			return f.mayWrite(o, k)
		}
	}
	return ""
}

// StoreOf returns the assignment that a use of such a variable or field is a store of, nil for a load.
func (f *Facts) StoreOf(use ast.Node) *ast.AssignStmt { return f.words.stores[use] }

// IsUnread reports whether a use of a field is only there for its type.
func (f *Facts) IsUnread(use ast.Node) bool { return f.words.unread[use] }

// UpdateOf returns the statement that a use of a field is an update of, nil for a load or a store.
func (f *Facts) UpdateOf(use ast.Node) ast.Stmt { return f.words.updates[use] }

// mayWrite returns why a call may write a variable that is loaded beside it.
func (f *Facts) mayWrite(o overtakenCall, k Key) string {
	if o.call == nil {
		return "a statement loads it, and waits for a channel"
	}
	callee := typeutil.StaticCallee(o.info, o.call)
	if callee != nil && harmless.Call(o.info, callee, o.call) {
		return ""
	}
	if callee != nil {
		if e := f.EffectOf(callee); e != nil && e.Opaque == "" && !e.WritesKey(k) && !e.ChangesEntries(k) {
			return ""
		}
	}
	return "a statement loads it, and calls what may write it"
}

func (o *observer) pinWord(c inspector.Cursor, v *types.Var, why string) {
	if k := o.KeyOf(v); o.words.pinned[k] == "" {
		o.words.pinned[k] = why
	}
	if o.words.refused[c.Node()] == "" {
		o.words.refused[c.Node()] = why
	}
}

// observeWord notes how a node uses a variable that is a pointer word, or a field.
func (o *observer) observeWord(c inspector.Cursor, v *types.Var) {
	if !IsPointerWord(v.Type()) && !v.IsField() {
		return
	}
	if call, ok := c.Parent().Node().(*ast.CallExpr); ok && o.info.Types[call].Value != nil {
		o.words.unread[c.Node()] = true
		return
	}
	if loop, ok := c.Parent().Node().(*ast.RangeStmt); ok && loop.X == c.Node() && loop.Value == nil && IsArray(v.Type()) {
		o.words.unread[c.Node()] = true // the length is all that counts
		return
	}
	o.observeEntry(c, v)
	if o.isPartOf(c) {
		o.pinWord(c, v, "a part of it is used")
	}
	switch c.ParentEdgeKind() {
	case edge.AssignStmt_Lhs:
		o.observeStore(c, v)
		return
	case edge.IncDecStmt_X:
		o.observeUpdate(c, v, nil)
		return
	case edge.RangeStmt_Key, edge.RangeStmt_Value:
		o.pinWord(c, v, "a loop assigns to it")
	case edge.UnaryExpr_X:
		if c.Parent().Node().(*ast.UnaryExpr).Op == token.AND {
			o.pinWord(c, v, "its address is taken")
		}
	case edge.ParenExpr_X:
		if around := aroundParens(c); slices.Contains(assigning, around.ParentEdgeKind()) || around.ParentEdgeKind() == edge.UnaryExpr_X {
			o.pinWord(c, v, "it is used in parentheses")
		}
	case edge.SelectorExpr_X:
		if o.takesAddress(c.Parent().Node().(*ast.SelectorExpr)) {
			o.pinWord(c, v, "its address is taken")
		}
	}
	o.observeLoad(c, v)
}

// assigning is where an expression is that is assigned to.
var assigning = []edge.Kind{edge.AssignStmt_Lhs, edge.IncDecStmt_X}

// isPartOf reports whether an expression is only the way to a part of its value, which is an array or a
// struct.
func (o *observer) isPartOf(c inspector.Cursor) bool {
	c = aroundParens(c)
	switch p := c.Parent().Node().(type) {
	case *ast.SelectorExpr:
		sel := o.info.Selections[p]
		return sel != nil && sel.Kind() == types.FieldVal && !IsPointer(o.info.TypeOf(p.X))
	case *ast.IndexExpr, *ast.SliceExpr: // a loop goes over a copy
		k := c.ParentEdgeKind()
		over := k == edge.IndexExpr_X || k == edge.SliceExpr_X
		return over && IsArray(o.info.TypeOf(c.Node().(ast.Expr)))
	}
	return false
}

// observeUpdate notes a statement that reads and writes a field, with the value that it is updated by, if any.
// It becomes a block, in which nothing panics.
func (o *observer) observeUpdate(c inspector.Cursor, v *types.Var, assign *ast.AssignStmt) {
	at := c.Parent().ParentEdgeKind()
	switch {
	case !slices.Contains(listed, at):
		o.pinWord(c, v, "it is updated in a header or behind a label")
	case assign != nil && (assign.Tok == token.QUO_ASSIGN || assign.Tok == token.REM_ASSIGN || assign.Tok == token.SHL_ASSIGN || assign.Tok == token.SHR_ASSIGN || hasShift(assign.Rhs[0])):
		o.pinWord(c, v, "it is divided or shifted")
	default:
		o.words.updates[c.Node()] = c.Parent().Node().(ast.Stmt)
	}
}

// listed is where a statement is before and behind which others can stand.
var listed = []edge.Kind{edge.BlockStmt_List, edge.CaseClause_Body, edge.CommClause_Body}

// hasShift reports whether a value is shifted: what type it has may depend on what it is assigned to.
func hasShift(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		found = found || ok && (b.Op == token.SHL || b.Op == token.SHR)
		return !found
	})
	return found
}

// takesAddress reports whether a selector calls a method with the address of what is before it.
func (o *observer) takesAddress(s *ast.SelectorExpr) bool {
	sel := o.info.Selections[s]
	if sel == nil || sel.Kind() != types.MethodVal || IsPointer(sel.Recv()) {
		return false
	}
	r := sel.Obj().(*types.Func).Signature().Recv()
	return r != nil && IsPointer(r.Type())
}

// observeStore notes a store, if it can be written as a call. One of several assignments in a
// statement comes after all values are known; that needs a block of its own.
func (o *observer) observeStore(c inspector.Cursor, v *types.Var) {
	assign := c.Parent().Node().(*ast.AssignStmt)
	at := c.Parent().ParentEdgeKind()
	switch {
	case at == edge.CommClause_Comm:
		o.pinWord(c, v, "a select statement assigns to it")
	case assign.Tok != token.ASSIGN:
		o.observeUpdate(c, v, assign)
	case len(assign.Lhs) == 1:
		o.words.stores[c.Node()] = assign
	case len(assign.Rhs) != len(assign.Lhs):
		o.pinWord(c, v, "one of several results is assigned to it")
	case !slices.Contains(listed, at):
		o.pinWord(c, v, "it is assigned to with others, in a header or behind a label")
	case hasIndex(c.Node()):
		o.pinWord(c, v, "it is assigned to with others, in an element")
	case o.hasCall(assign):
		o.pinWord(c, v, "it is assigned to with others, and functions are called for these")
	default:
		o.words.stores[c.Node()] = assign
	}
}

// hasIndex reports whether an expression is by way of an element.
func hasIndex(root ast.Node) bool {
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		_, ok := n.(*ast.IndexExpr)
		found = found || ok
		return !found
	})
	return found
}

// hasCall reports whether a node calls or receives anything, apart from what literals in it do.
func (o *observer) hasCall(root ast.Node) bool {
	found := false
	o.eachCall(root, func(*ast.CallExpr) { found = true })
	return found
}

// eachCall calls f with each call in a node, and with nil for each receiving from a channel.
func (o *observer) eachCall(root ast.Node, f func(*ast.CallExpr)) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if !o.info.Types[ast.Unparen(n.Fun)].IsType() && BuiltinOf(o.info, ast.Unparen(n.Fun)) == "" {
				f(n)
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				f(nil)
			}
		}
		return true
	})
}

// observeLoad notes the calls behind a load in the same statement. The compiler makes them first:
// it loads variables when all calls are done. What comes behind && and || is evaluated later in
// any case, and what the load is an argument of is called later.
//
//	return x.p, f()      the load comes after f
func (o *observer) observeLoad(c inspector.Cursor, v *types.Var) {
	k, load := o.KeyOf(v), c.Node()
	for {
		e, ok := c.Node().(ast.Expr)
		if _, literal := c.Node().(*ast.FuncLit); !ok || literal {
			return
		}
		parent := c.Parent().Node()
		if b, ok := parent.(*ast.BinaryExpr); !ok || b.Op != token.LAND && b.Op != token.LOR {
			for sibling := range c.Parent().Children() {
				if s, ok := sibling.Node().(ast.Expr); ok && s.Pos() >= e.End() {
					o.eachCall(s, func(call *ast.CallExpr) {
						o.words.overtaken[k] = append(o.words.overtaken[k], overtakenCall{load, o.info, call})
					})
				}
			}
		}
		c = c.Parent()
	}
}
