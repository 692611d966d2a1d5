package hooks

import (
	"go/ast"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// send returns the text of a send:
//
//	ch <- v   ->   cofferdamrt.To(ch).Send(v, 7)
func (r *rewriter) send(s *ast.SendStmt) string {
	r.together(s.Chan, s.Value)
	return r.rt + ".To(" + r.value(s.Chan) + ").Send(" + r.newlines(s.Chan.End(), s.Value.Pos()) + r.value(s.Value) + ", " + r.site(event.Send, s) + ")"
}

// receive returns the text of a receive, by the hook of that name:
//
//	<-ch   ->   cofferdamrt.Recv(ch, 7)
func (r *rewriter) receive(e *ast.UnaryExpr, hook string) string {
	return r.hook(hook, r.newlines(e.Pos(), e.X.Pos())+r.value(e.X), r.site(event.Recv, e))
}

// received returns the operation if e is a receive.
func received(e ast.Expr) *ast.UnaryExpr {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	if !ok || u.Op.String() != "<-" {
		return nil
	}
	return u
}
