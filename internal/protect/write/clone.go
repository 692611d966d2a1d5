package write

import (
	"fmt"
	"go/ast"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// clone adds a clone of a function to its file, with the positions of the original.
//
//	t.shift(2)                      t.cofferdam0c1(&v, 2)
//	func (t *T) shift(d int) {      func (t *T) cofferdam0c1(q0 *int, d int) {
//		t.n += d                        (*q0) += d
//	}                               }
func (f *fileWriter) clone(c *plan.Clone) error {
	edits := f.file.EditInPlace()
	name := f.cloneName(c)
	param := func(i int) string { return name + "q" + strconv.Itoa(i) }
	var params strings.Builder
	for i, v := range c.Vars {
		fmt.Fprintf(&params, "%s *%s, ", param(i), v.Spelling)
	}
	f.redirectCells(edits, c.Sites)
	edits.Replace(c.Decl.Name, name)
	edits.InsertAfter(c.Decl.Type.Params.Opening+1, params.String())
	for _, r := range c.Redirects {
		edits.Replace(r.Node, "(*"+param(r.Var)+")"+r.Rest.Selectors())
	}
	for _, call := range c.Calls {
		f.redirectCall(edits, call, param)
	}
	f.redirectSites(edits, c.Sites)
	text, err := edits.Buffer().Range(f.file.Offset(c.Decl.Type.Func), f.file.Offset(c.Decl.End()))
	if err != nil {
		return err
	}
	at := f.file.Fset.Position(c.Decl.Pos())
	f.tail = append(f.tail, fmt.Sprintf("/*line :%d:%d*/%s", at.Line, max(at.Column, 1), text))
	return nil
}

func (u *packageWriter) cloneName(c *plan.Clone) string {
	return c.Name(u.bySyntax[c.File.Syntax].prefix)
}

// redirectCall turns a call into that of a clone. The function arg returns the address of
// a variable's copy.
func (f *fileWriter) redirectCall(edits *source.Edits, c plan.ClonedCall, arg func(i int) string) {
	edits.Replace(calledName(c.Expr.Fun), f.cloneName(c.Clone))
	var args strings.Builder
	for _, i := range c.Vars {
		args.WriteString(arg(i) + ", ")
	}
	edits.InsertAfter(c.Expr.Lparen+1, args.String())
}

// calledName returns the identifier that names the function of a call.
func calledName(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	panic(fmt.Sprintf("protect: a call of %T", e))
}
