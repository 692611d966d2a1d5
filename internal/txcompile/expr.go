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

// Names that nothing else has.
func (w *writer) tx() string       { return "tx" + w.p.suffix }
func (w *writer) stm() string      { return "stm" + w.p.suffix }
func (w *writer) compiled() string { return "compiled" + w.p.suffix }

func (w *writer) temporary(word string) string {
	*w.temporaries++
	return word + strconv.Itoa(*w.temporaries) + w.p.suffix
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
		return w.load("*" + w.expr(e.X))
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
		place, shared := w.place(e)
		if shared {
			return w.load(place)
		}
		return place
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
	place, shared := w.place(e)
	if shared {
		return w.load(place)
	}
	return place
}

func isFunction(info *types.Info, e ast.Expr) bool {
	_, ok := info.TypeOf(e).Underlying().(*types.Signature)
	return ok
}

// place returns the text that denotes what an expression denotes, without reading it, and
// whether that is shared. The pointers on the way are read.
//
//	x.next.n     stm.Load(tx, &x.next).n
func (w *writer) place(e ast.Expr) (text string, shared bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return w.place(e.X)
	case *ast.Ident:
		v, ok := w.info().Uses[e].(*types.Var)
		if !ok {
			v, ok = w.info().Defs[e].(*types.Var)
		}
		return e.Name, ok && w.p.shared(w.region, v)
	case *ast.StarExpr:
		return "*" + w.expr(e.X), true
	case *ast.SelectorExpr:
		s := w.info().Selections[e]
		if s == nil {
			v, ok := w.info().Uses[e.Sel].(*types.Var)
			return w.f.TextOf(e), ok && w.p.shared(w.region, v)
		}
		o := w.owner(e.X, s)
		return o.text + "." + e.Sel.Name, o.shared
	case *ast.IndexExpr:
		switch w.info().TypeOf(e.X).Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return w.values(e, e.X, e.Index), true
		case *types.Array:
			text, shared = w.place(e.X)
			return parenthesised(text) + "[" + w.expr(e.Index) + "]", shared
		}
	}
	return w.expr(e), false // a value that has no place
}

// An owner is what a field or method is selected from: the value of a pointer, or a place.
type owner struct {
	text    string
	pointer bool
	shared  bool // what is selected from it is
}

// owner returns what a selection selects from, through what is embedded. If it passes no
// pointer that is not in the source, and a field is selected, what is embedded is not named:
// it might not have a name here.
func (w *writer) owner(x ast.Expr, s *types.Selection) owner {
	o := owner{pointer: isPointer(s.Recv())}
	if o.pointer {
		o.text, o.shared = w.expr(x), true
	} else {
		o.text, o.shared = w.place(x)
		o.text = parenthesised(o.text)
	}
	if s.Kind() == types.FieldVal && !throughPointer(s) {
		return o
	}
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		field := fieldAt(t, i)
		o.text += "." + field.Name()
		t = field.Type()
		if o.pointer = isPointer(t); o.pointer {
			if o.shared {
				o.text = w.load(o.text)
			}
			o.shared = true
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
	byPointer := hasPointerReceiver(s.Obj().(*types.Func))
	switch {
	case byPointer:
		return o.text
	case o.pointer:
		return w.load("*" + o.text)
	case o.shared:
		return w.load(o.text)
	}
	return o.text
}
