package syntax

import (
	"go/ast"
	"go/token"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Closing is a statement that closes a channel.
type Closing struct {
	File    *source.File
	Channel ast.Expr
	Call    *ast.CallExpr
	// Replaced is the call, or the select around it that looks whether the channel is closed.
	Replaced ast.Node
}

// Closings are the statements of a file that close a channel.
func Closings(f *source.File) []Closing {
	var all []Closing
	Inspect(f, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || !IsBuiltin(f.Info, call, "close") || len(call.Args) != 1 {
			return
		}
		c := Closing{File: f, Channel: ast.Unparen(call.Args[0]), Call: call, Replaced: call}
		if s := selectAround(f, c.Channel, around); s != nil {
			c.Replaced = s
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
			if back, ok := receive.Body[0].(*ast.ReturnStmt); !ok || len(back.Results) > 0 || !EndsFunction(s, around[:len(around)-4]) {
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
