package txcompile

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/flow"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/syntax"
)

// A field is what is known of a field of a struct, wherever it is used, or of the elements of
// all slices and arrays of a type.
type field struct {
	assigned  []code // other than by a literal of its struct
	addressed bool   // a pointer to it, or into it, may exist
	foreign   bool   // code that is not here may assign to it, by reflection for example
}

// A code is the functions that a statement is in, from the declared one to the innermost
// literal; none for what initialises a variable of the package.
type code []ast.Node

// Care is what it takes to read a place in a transaction.
type care uint8

const (
	// Nothing: it is the transaction's own, or has the value for ever that the literal of its
	// struct gave it.
	none care = iota
	// Plain code alone assigns to it, properly ordered with transactions: between one that
	// takes an object out, for example, and one that puts it back. What was read is not
	// logged, and holds for as long as nobody commits (see stm.LoadWhole).
	whole
	// What was read is logged, and looked at again.
	logged
)

func (p *program) field(v *types.Var) *field {
	at := flow.PlaceOf(p.Fset, v.Pos())
	known := p.fields[at]
	if known == nil {
		known = &field{}
		p.fields[at] = known
	}
	return known
}

// element is what is known of elements of a type.
func (p *program) element(t types.Type) *field { return p.elementsBy(elementKey(t)) }

func (p *program) elementsBy(key string) *field {
	known := p.elements[key]
	if known == nil {
		known = &field{}
		p.elements[key] = known
	}
	return known
}

// anyElement is the key of what generic code does to elements of any type.
const anyElement = ""

// elementKey is the same for all instances of a generic type.
func elementKey(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return types.TypeString(t.Origin(), nil)
	case *types.Pointer:
		if key := elementKey(t.Elem()); key != anyElement {
			return "*" + key
		}
		return anyElement
	}
	if source.HasTypeParam(t) {
		return anyElement
	}
	return types.TypeString(t, nil)
}

// careOf is the care that a field takes, in memory that is shared.
func (p *program) careOf(v *types.Var) care {
	at := flow.PlaceOf(p.Fset, v.Pos())
	if !p.named[at] {
		return logged
	}
	return p.care(p.field(v))
}

// careOfElement is the care that an element of a slice takes.
func (p *program) careOfElement(t types.Type) care {
	key := elementKey(t)
	if key == anyElement {
		return logged
	}
	return max(whole, p.care(p.elementsBy(key)), p.care(p.elementsBy(anyElement)))
}

func (p *program) care(known *field) care {
	switch {
	case known.foreign || known.addressed || slices.ContainsFunc(known.assigned, p.mayRunInside):
		return logged
	case len(known.assigned) > 0:
		return whole
	}
	return none
}

// mayRunInside reports whether code may run in a transaction: as a part of one, called by one,
// or called back by code that is not here.
func (p *program) mayRunInside(c code) bool {
	return slices.ContainsFunc(c, func(n ast.Node) bool { return p.planned[n] || p.reach.MayRun[flow.PlaceOf(p.Fset, n.Pos())] })
}

// gatherFields notes how a file changes fields. It comes after gatherVariables of all files.
func (p *program) gatherFields(f *source.File) {
	in := inspector.New([]*ast.File{f.Syntax})
	in.WithStack(nil, func(n ast.Node, push bool, stack []ast.Node) bool {
		if !push {
			return true
		}
		c := changes{p, f, stack}
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				c.named(s)
			}
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				c.assigned(l)
			}
		case *ast.IncDecStmt:
			c.assigned(n.X)
		case *ast.RangeStmt:
			c.assigned(n.Key)
			c.assigned(n.Value)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				c.addressed(n.X)
			}
		case *ast.SliceExpr:
			if _, ok := f.Info.TypeOf(n.X).Underlying().(*types.Array); ok {
				c.addressed(n.X)
			}
		case *ast.SelectorExpr:
			c.called(n)
		case *ast.CallExpr:
			c.builtin(n)
		}
		return true
	})
}

// Changes are what one piece of code does to fields.
type changes struct {
	p     *program
	f     *source.File
	stack []ast.Node
}

// note notes an assignment to a field.
func (c changes) note(known *field) {
	var in code
	for _, n := range c.stack {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			in = append(in, n)
		}
	}
	known.assigned = append(known.assigned, in)
}

// named notes the fields of a type that has a name: only they are of one type alone. Types
// without a name that look the same are the same. What code that is not here may do to a field
// is not known.
func (c changes) named(s *ast.StructType) {
	if c.p.exposed[c.f.Types.Path()] {
		return
	}
	for v := range c.f.Info.TypeOf(s).(*types.Struct).Fields() {
		c.p.named[flow.PlaceOf(c.p.Fset, v.Pos())] = true
	}
}

// called notes that a method gets the address of what it is called on.
func (c changes) called(e *ast.SelectorExpr) {
	s := c.f.Info.Selections[e]
	if s == nil || s.Kind() != types.MethodVal || !source.HasPointerReceiver(s.Obj().(*types.Func)) {
		return
	}
	c.p.through(s, func(known *field) { known.addressed = true })
	if !isPointer(s.Recv()) && !source.ThroughPointer(s) {
		c.addressed(e.X)
	}
}

// builtin notes the elements that functions of the language assign to.
func (c changes) builtin(call *ast.CallExpr) {
	fun := ast.Unparen(call.Fun)
	if !c.f.Info.Types[fun].IsBuiltin() {
		return
	}
	switch syntax.BuiltinName(fun) {
	case "append", "copy", "clear":
		if s, ok := c.f.Info.TypeOf(call.Args[0]).Underlying().(*types.Slice); ok && !c.p.isFresh(c.f.Info, call.Args[0]) {
			c.note(c.p.element(s.Elem()))
			c.p.eachField(s.Elem(), c.note)
		}
	case "unsafe.Slice", "unsafe.SliceData":
		c.p.elementsBy(anyElement).foreign = true
	}
}

// assigned notes an assignment to an expression: the fields on the way to it, and those in it.
func (c changes) assigned(e ast.Expr) {
	if e == nil || isBlank(e) || c.isPrivate(e) {
		return
	}
	if id, ok := e.(*ast.Ident); ok && c.f.Info.Uses[id] == nil {
		return // new
	}
	c.onTheWay(e, c.note)
	if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		if _, ok := c.f.Info.TypeOf(x.X).Underlying().(*types.Map); ok {
			return // nothing can point to what is in a map
		}
	}
	c.p.eachField(c.f.Info.TypeOf(e), c.note)
}

func (c changes) addressed(e ast.Expr) {
	c.onTheWay(e, func(known *field) { known.addressed = true })
}

// isPrivate reports whether an expression is a part of a local variable that nothing points to,
// or of what was made for such a variable and is not given away yet.
func (c changes) isPrivate(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.isPrivate(e.X)
	case *ast.StarExpr:
		return c.p.isFresh(c.f.Info, e.X)
	case *ast.SelectorExpr:
		s := c.f.Info.Selections[e]
		switch {
		case s == nil || source.ThroughPointer(s):
			return false
		case isPointer(s.Recv()):
			return c.p.isFresh(c.f.Info, e.X)
		}
		return c.isPrivate(e.X)
	case *ast.IndexExpr:
		if _, ok := c.f.Info.TypeOf(e.X).Underlying().(*types.Array); ok {
			return c.isPrivate(e.X)
		}
		return c.p.isFresh(c.f.Info, e.X)
	case *ast.Ident:
		v, ok := c.f.Info.ObjectOf(e).(*types.Var)
		return ok && v.Parent() != v.Pkg().Scope() && !c.p.variable(v).addressed
	}
	return false
}

// onTheWay calls note with the fields that an expression is a part of:
//
//	x.a.b[2]     a and b, if b is an array, and b alone if x.a is a pointer
func (c changes) onTheWay(e ast.Expr, note func(*field)) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		c.onTheWay(e.X, note)
	case *ast.IndexExpr:
		switch t := c.f.Info.TypeOf(e.X).Underlying().(type) {
		case *types.Slice:
			note(c.p.element(t.Elem()))
		case *types.Pointer:
			note(c.p.element(t.Elem().Underlying().(*types.Array).Elem()))
		case *types.Array:
			note(c.p.element(t.Elem()))
			c.onTheWay(e.X, note)
		}
	case *ast.SelectorExpr:
		s := c.f.Info.Selections[e]
		if s == nil || s.Kind() != types.FieldVal {
			return
		}
		note(c.p.field(s.Obj().(*types.Var).Origin()))
		c.p.through(s, note)
		if !isPointer(s.Recv()) && !source.ThroughPointer(s) {
			c.onTheWay(e.X, note)
		}
	}
}

// through calls note with the embedded fields that a selection passes, from the last pointer
// on.
func (p *program) through(s *types.Selection, note func(*field)) {
	var passed []*types.Var
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		v := source.FieldAt(t, i)
		t = v.Type()
		if passed = append(passed, v); isPointer(t) {
			passed = nil
		}
	}
	for _, v := range passed {
		note(p.field(v.Origin()))
	}
}

// eachField calls note with the fields of a value of a type: of a struct, of the structs in it,
// and of the elements of an array.
func (p *program) eachField(t types.Type, note func(*field)) {
	switch t := t.Underlying().(type) {
	case *types.Struct:
		for v := range t.Fields() {
			note(p.field(v.Origin()))
			p.eachField(v.Type(), note)
		}
	case *types.Array:
		p.eachField(t.Elem(), note)
	}
}
