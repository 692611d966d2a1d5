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
	// From and To are where the call is, with the select that looks whether the channel is closed
	// already. Text is what is done if it is not: the call, with what comes between the look and it.
	From, To token.Pos
	Text     string
}

// Closings are the statements of a file that close a channel.
func Closings(f *source.File) []Closing {
	var all []Closing
	Inspect(f, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || !IsBuiltin(f.Info, call, "close") || len(call.Args) != 1 {
			return
		}
		c := Closing{File: f, Channel: ast.Unparen(call.Args[0]), Call: call, From: call.Pos(), To: call.End(), Text: f.TextOf(call)}
		if s, done := selectAround(f, c.Channel, around); s != nil {
			c.From, c.To, c.Text = s.Pos(), s.End(), done
		} else if s, done := selectBefore(f, c.Channel, around); s != nil {
			c.From, c.Text = s.Pos(), done
		}
		all = append(all, c)
	})
	return all
}

// selectAround is the select statement that closes a channel if it is not closed, and what it does then;
// nil if a close is in none.
//
//	select {
//	case <-c:
//	default:
//		err = e
//		close(c)
//	}
func selectAround(f *source.File, channel ast.Expr, around []ast.Node) (s *ast.SelectStmt, done string) {
	if len(around) < 4 {
		return nil, ""
	}
	clause, ok := around[len(around)-2].(*ast.CommClause)
	if !ok || clause.Comm != nil || !isLast(clause.Body, around[len(around)-1]) || !goesStraightOn(clause.Body) {
		return nil, ""
	}
	s, ok = around[len(around)-4].(*ast.SelectStmt)
	if !ok || !looksAt(f, s, channel, EndsFunction(s, around[:len(around)-4])) {
		return nil, ""
	}
	return s, f.Between(clause.Body[0].Pos(), clause.Body[len(clause.Body)-1].End())
}

// selectBefore is the select statement that ends the function if a channel is closed, where the last
// thing that the function does is to close it, and what it does in between; nil if there is none.
//
//	select {
//	case <-c:
//		return
//	default:
//	}
//	err = e
//	close(c)
func selectBefore(f *source.File, channel ast.Expr, around []ast.Node) (s *ast.SelectStmt, done string) {
	closing, ok := around[len(around)-1].(*ast.ExprStmt)
	if !ok || !EndsFunction(closing, around[:len(around)-1]) {
		return nil, ""
	}
	list, last := ListAround(closing, around[:len(around)-1])
	for i := last - 1; i >= 0; i-- {
		s, ok := list[i].(*ast.SelectStmt)
		if ok && looksAt(f, s, channel, true) && isEmptyDefault(s) && goesStraightOn(list[i+1:last+1]) {
			return s, f.Between(list[i+1].Pos(), closing.End())
		}
	}
	return nil, ""
}

func isLast(list []ast.Stmt, n ast.Node) bool {
	return len(list) > 0 && ast.Node(list[len(list)-1]) == n
}

// isEmptyDefault reports whether a select does nothing if none of its operations can be done.
func isEmptyDefault(s *ast.SelectStmt) bool {
	for _, clause := range s.Body.List {
		if c := clause.(*ast.CommClause); c.Comm == nil {
			return len(c.Body) == 0
		}
	}
	return false
}

// goesStraightOn reports whether statements can be done in a function literal instead: no control
// leaves them before their end, and nothing is left to the end of the function.
func goesStraightOn(list []ast.Stmt) bool {
	straight := true
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt, *ast.BranchStmt, *ast.DeferStmt, *ast.LabeledStmt:
				straight = false
			}
			return straight
		})
	}
	return straight
}

// looksAt reports whether a select does nothing but look whether a channel is closed, and goes on
// behind itself if it is, or ends the function, where that is the same.
func looksAt(f *source.File, s *ast.SelectStmt, channel ast.Expr, mayReturn bool) bool {
	if len(s.Body.List) != 2 {
		return false
	}
	receives, others := 0, 0
	for _, other := range s.Body.List {
		receive := other.(*ast.CommClause)
		if receive.Comm == nil {
			others++
			continue
		}
		if len(receive.Body) > 1 {
			return false
		}
		if len(receive.Body) == 1 {
			if back, ok := receive.Body[0].(*ast.ReturnStmt); !ok || len(back.Results) > 0 || !mayReturn {
				return false
			}
		}
		e, ok := receive.Comm.(*ast.ExprStmt)
		if !ok {
			return false
		}
		from, ok := ast.Unparen(e.X).(*ast.UnaryExpr)
		if !ok || from.Op != token.ARROW || f.TextOf(from.X) != f.TextOf(channel) {
			return false
		}
		receives++
	}
	return receives == 1 && others == 1
}
