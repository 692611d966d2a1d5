package txcompile

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A writer writes the code of a region as it is in a transaction. Everything it returns is
// text; what it does not change is copied from the source.
type writer struct {
	p *program
	f *source.File
	region
	temporaries *int // how many names were made up
}

func (w *writer) info() *types.Info { return w.f.Info }

// Names that nothing else has, a clone among it: the suffix is not at their end.
func (w *writer) tx() string       { return "tx" + w.p.suffix + "_" }
func (w *writer) stm() string      { return "stm" + w.p.suffix + "_" }
func (w *writer) compiled() string { return "compiled" + w.p.suffix + "_" }

func (w *writer) temporary(word string) string {
	*w.temporaries++
	return word + w.p.suffix + strconv.Itoa(*w.temporaries)
}

// A piece is a new text for a part of the source.
type piece struct {
	from, to token.Pos
	text     string
}

func (w *writer) value(e ast.Expr) piece { return piece{e.Pos(), e.End(), w.expr(e)} }

// splice returns the source between two positions with some parts, in their order, replaced.
// Where a new text has not as many lines as the old one, what follows says which line it is.
func (w *writer) splice(from, to token.Pos, pieces ...piece) string {
	var out strings.Builder
	for _, c := range pieces {
		out.WriteString(w.f.Between(from, c.from))
		out.WriteString(c.text)
		if strings.Count(c.text, "\n") != strings.Count(w.f.Between(c.from, c.to), "\n") {
			out.WriteString(w.line(c.to))
		}
		from = c.to
	}
	out.WriteString(w.f.Between(from, to))
	return out.String()
}

func (w *writer) spliceNode(n ast.Node, pieces ...piece) string {
	return w.splice(n.Pos(), n.End(), pieces...)
}

// values is a node with some of its expressions replaced by their values.
func (w *writer) values(n ast.Node, exprs ...ast.Expr) string {
	var all []piece
	for _, e := range exprs {
		if e != nil {
			all = append(all, w.value(e))
		}
	}
	return w.spliceNode(n, all...)
}

// line says which line of the source follows.
func (w *writer) line(at token.Pos) string {
	pos := w.f.Fset.PositionFor(at, false)
	return fmt.Sprintf("/*line :%d:%d*/", pos.Line, pos.Column)
}

// read is the value of a place.
func (w *writer) read(place string, how care) string {
	switch how {
	case none:
		return place
	case whole:
		return w.stm() + ".LoadWhole(" + w.tx() + ", &" + place + ")"
	}
	return w.load(place)
}

// load is the value of a shared place.
func (w *writer) load(place string) string {
	if pointer, ok := strings.CutPrefix(place, "*"); ok {
		return w.stm() + ".Load(" + w.tx() + ", " + pointer + ")"
	}
	return w.stm() + ".Load(" + w.tx() + ", &" + place + ")"
}

// expr returns the text of an expression's value.
func (w *writer) expr(e ast.Expr) string {
	tv := w.info().Types[e]
	if tv.IsType() || tv.Value != nil || tv.IsNil() || tv.IsBuiltin() {
		return w.f.TextOf(e)
	}
	if w.p.dualValue(w.info(), e) {
		if sel, ok := e.(*ast.SelectorExpr); ok {
			return w.noted(w.selector(sel))
		}
		return w.noted(w.f.TextOf(e))
	}
	switch e := e.(type) {
	case *ast.Ident:
		if v, ok := w.info().Uses[e].(*types.Var); ok && w.p.shared(w.region, v) {
			return w.load(e.Name)
		}
	case *ast.ParenExpr:
		return w.values(e, e.X)
	case *ast.SelectorExpr:
		return w.selector(e)
	case *ast.StarExpr:
		return w.read(w.place(e))
	case *ast.IndexExpr:
		return w.index(e)
	case *ast.SliceExpr:
		base := piece{e.X.Pos(), e.X.End(), w.sliced(e.X)}
		pieces := []piece{base}
		for _, bound := range []ast.Expr{e.Low, e.High, e.Max} {
			if bound != nil {
				pieces = append(pieces, w.value(bound))
			}
		}
		return w.spliceNode(e, pieces...)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			if _, ok := ast.Unparen(e.X).(*ast.CompositeLit); !ok {
				place, _ := w.place(e.X)
				if pointer, ok := strings.CutPrefix(place, "*"); ok {
					return pointer
				}
				return "&" + place
			}
		}
		return w.values(e, e.X)
	case *ast.BinaryExpr:
		return w.values(e, e.X, e.Y)
	case *ast.TypeAssertExpr:
		return w.values(e, e.X)
	case *ast.CompositeLit:
		return w.composite(e)
	case *ast.FuncLit:
		return w.literal(e)
	case *ast.CallExpr:
		return w.call(e)
	}
	return w.f.TextOf(e)
}

// sliced is the operand of a slice expression: an array is a place.
func (w *writer) sliced(x ast.Expr) string {
	if _, ok := w.info().TypeOf(x).Underlying().(*types.Array); ok {
		place, _ := w.place(x)
		return parenthesised(place)
	}
	return w.expr(x)
}

func parenthesised(place string) string {
	if strings.HasPrefix(place, "*") {
		return "(" + place + ")"
	}
	return place
}

func (w *writer) composite(e *ast.CompositeLit) string {
	_, isStruct := w.info().TypeOf(e).Underlying().(*types.Struct)
	if ptr, ok := w.info().TypeOf(e).Underlying().(*types.Pointer); ok { // elided &T
		_, isStruct = ptr.Elem().Underlying().(*types.Struct)
	}
	var all []piece
	for _, elem := range e.Elts {
		if kv, ok := elem.(*ast.KeyValueExpr); ok {
			if !isStruct {
				all = append(all, w.value(kv.Key))
			}
			elem = kv.Value
		}
		all = append(all, w.value(elem))
	}
	return w.spliceNode(e, all...)
}

// selector is the value of a selector expression that is not called.
func (w *writer) selector(e *ast.SelectorExpr) string {
	s := w.info().Selections[e]
	if s == nil { // of a package
		if v, ok := w.info().Uses[e.Sel].(*types.Var); ok && w.p.shared(w.region, v) {
			return w.load(w.f.TextOf(e))
		}
		return w.f.TextOf(e)
	}
	switch s.Kind() {
	case types.FieldVal:
		return w.read(w.place(e))
	case types.MethodVal:
		return w.receiver(e, s) + "." + e.Sel.Name
	}
	return w.f.TextOf(e)
}

// index is the value of an index expression.
func (w *writer) index(e *ast.IndexExpr) string {
	if w.info().Types[e.X].IsType() || isFunction(w.info(), e.X) {
		return w.f.TextOf(e) // an instance of something generic
	}
	switch w.info().TypeOf(e.X).Underlying().(type) {
	case *types.Map:
		get := ".Get("
		if _, ok := w.info().TypeOf(e).(*types.Tuple); ok {
			get = ".Find("
		}
		return w.compiled() + ".In(" + w.tx() + ", " + w.expr(e.X) + ")" + get + w.expr(e.Index) + ")"
	case *types.Basic, *types.Interface: // a string, or a type parameter
		return w.values(e, e.X, e.Index)
	}
	return w.read(w.place(e))
}

func isFunction(info *types.Info, e ast.Expr) bool {
	_, ok := info.TypeOf(e).Underlying().(*types.Signature)
	return ok
}

// place returns the text that denotes what an expression denotes, without reading it, and
// the care that reading it takes. The pointers on the way are read.
//
//	x.next.n     stm.Load(tx, &x.next).n
func (w *writer) place(e ast.Expr) (text string, how care) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return w.place(e.X)
	case *ast.Ident:
		v, ok := w.info().ObjectOf(e).(*types.Var)
		if ok && w.p.shared(w.region, v) {
			return e.Name, logged
		}
		return e.Name, none
	case *ast.StarExpr:
		return "*" + w.expr(e.X), w.behind(e.X)
	case *ast.SelectorExpr:
		s := w.info().Selections[e]
		if s == nil {
			if v, ok := w.info().Uses[e.Sel].(*types.Var); ok && w.p.shared(w.region, v) {
				return w.f.TextOf(e), logged
			}
			return w.f.TextOf(e), none
		}
		o := w.owner(e.X, s)
		if o.inMemory {
			o.care = min(o.care, w.p.careOf(s.Obj().(*types.Var).Origin()))
		}
		return o.text + "." + e.Sel.Name, o.care
	case *ast.IndexExpr:
		switch t := w.info().TypeOf(e.X).Underlying().(type) {
		case *types.Slice:
			return w.values(e, e.X, e.Index), min(w.behind(e.X), w.p.careOfElement(t.Elem()))
		case *types.Pointer:
			return w.values(e, e.X, e.Index), w.behind(e.X)
		case *types.Array:
			text, how = w.place(e.X)
			return parenthesised(text) + "[" + w.expr(e.Index) + "]", how
		}
	}
	return w.expr(e), none // a value that has no place
}

// behind is the care that it takes to read what a pointer or slice refers to.
func (w *writer) behind(e ast.Expr) care {
	if w.p.isFresh(w.info(), e) {
		return none
	}
	return logged
}

// An owner is what a field or method is selected from: the value of a pointer, or a place.
type owner struct {
	text     string
	pointer  bool
	care     care // of what is selected from it
	inMemory bool // it is not a part of a variable that nothing points to
}

// owner returns what a selection selects from, through what is embedded. If it passes no
// pointer that is not in the source, and a field is selected, what is embedded is not named:
// it might not have a name here.
func (w *writer) owner(x ast.Expr, s *types.Selection) owner {
	o := owner{pointer: isPointer(s.Recv())}
	if o.pointer {
		o.text, o.care, o.inMemory = w.expr(x), w.behind(x), true
	} else {
		o.text, o.care = w.place(x)
		o.text, o.inMemory = parenthesised(o.text), !changes{w.p, w.f, nil}.isPrivate(x)
	}
	if s.Kind() == types.FieldVal && !source.ThroughPointer(s) {
		return o
	}
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		field := source.FieldAt(t, i)
		o.text += "." + field.Name()
		if o.inMemory {
			o.care = min(o.care, w.p.careOf(field.Origin()))
		}
		t = field.Type()
		if o.pointer = isPointer(t); o.pointer {
			o.text = w.read(o.text, o.care)
			o.care, o.inMemory = logged, true
		}
	}
	return o
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// receiver returns the receiver of a method, as the method takes it: the address of a place
// for a pointer, what it holds for a value.
func (w *writer) receiver(e *ast.SelectorExpr, s *types.Selection) string {
	o := w.owner(e.X, s)
	byPointer := source.HasPointerReceiver(s.Obj().(*types.Func))
	switch {
	case byPointer:
		return o.text
	case o.pointer:
		return w.load("*" + o.text)
	}
	return w.read(o.text, o.care)
}
