package hooks

import (
	"go/ast"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A hoister binds the operands of places to variables.
type hoister struct {
	*rewriter
	assigned []ast.Expr // what the statement assigns to
	bound    []string
}

func (h *hoister) text() string {
	if len(h.bound) == 0 {
		return ""
	}
	return strings.Join(h.bound, "; ") + "; "
}

// bind returns the text that stands for an operand's value from now on.
func (h *hoister) bind(e ast.Expr, value func(ast.Expr) string) string {
	if h.constant(e) {
		return h.verbatim(e)
	}
	if id, ok := e.(*ast.Ident); ok && h.isPlace(e) && !h.shared(e) && !h.assigns(id) {
		return id.Name
	}
	v := h.name()
	h.bound = append(h.bound, v+" := "+value(e))
	return v
}

// assigns reports whether the statement assigns to a variable.
func (h *hoister) assigns(id *ast.Ident) bool {
	for _, a := range h.assigned {
		if x, ok := ast.Unparen(a).(*ast.Ident); ok && x.Name == id.Name {
			return true
		}
	}
	return false
}

// store returns the text of an assignment with its operands bound, up to the value and after it.
func (h *hoister) store(lhs ast.Expr) (begin, end string) {
	if x := mapIndex(h.rewriter, lhs); x != nil && h.hooked(lhs) {
		m := h.bind(x.X, h.value)
		k := h.bind(x.Index, h.value)
		return h.hook("Map", m) + ".Set(" + k + ", ", ", " + h.entrySite(event.MapWrite, lhs, x.X) + ")"
	}
	text := h.place(lhs)
	if h.hooked(lhs) {
		text = "*" + h.hook("W", "&"+text, h.site(event.Store, lhs))
	}
	return text + " = ", ""
}

// place returns the text of a place whose operands are bound.
func (h *hoister) place(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return "(" + h.place(e.X) + ")"
	case *ast.SelectorExpr:
		s := h.info.Selections[e]
		if s == nil {
			return h.verbatim(e)
		}
		if isPointer(h.typeOf(e.X)) && len(s.Index()) == 1 {
			return h.bind(e.X, h.value) + "." + e.Sel.Name
		}
		if len(s.Index()) == 1 && h.isPlace(e.X) {
			return h.place(e.X) + "." + e.Sel.Name
		}
		v := h.name()
		h.bound = append(h.bound, v+" := &"+h.field(e))
		return "(*" + v + ")"
	case *ast.IndexExpr:
		t := h.typeOf(e.X)
		if isArray(t) {
			x := h.place(e.X)
			return x + "[" + h.bind(e.Index, h.value) + "]"
		}
		x := h.bind(e.X, h.value)
		return x + "[" + h.bind(e.Index, h.value) + "]"
	case *ast.StarExpr:
		return "(*" + h.bind(e.X, h.value) + ")"
	}
	return h.verbatim(e)
}
