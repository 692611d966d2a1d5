package hooks

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// allocated returns the text of &T{...}:
//
//	&T{}   ->   cofferdamrt.New(&T{}, 7)
func (r *rewriter) allocated(e *ast.UnaryExpr) string {
	text := r.spliced(e, r.part(e.X, r.value(e.X)))
	if r.mode != Memory {
		return text
	}
	return r.hook("New", text, r.site(event.Alloc, e))
}

// declared returns statements that announce variables which others may reach.
//
//	x := 1   ->   x := 1; cofferdamrt.Var(&x, 7)
func (r *rewriter) declared(ids ...*ast.Ident) string {
	if r.mode != Memory {
		return ""
	}
	var b strings.Builder
	for _, id := range ids {
		x, ok := r.info.Defs[id].(*types.Var)
		if !ok || id.Name == "_" || !r.vars.local(x) {
			continue
		}
		b.WriteString("; " + r.hook("Var", "&"+id.Name, r.site(event.Alloc, id)))
	}
	return b.String()
}
