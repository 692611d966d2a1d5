package write

import (
	"fmt"
	"go/ast"

	"github.com/cofferdam-go/cofferdam/internal/protect/use"
)

// visit has uses of variables without their lock tell what they do; package use shows how.
func (f *fileWriter) visit() {
	for _, v := range f.file.Visits {
		f.edits.ImportInLine(f.hooks(), "cofferdamrt/tolerate")
		if v.Stmt == nil {
			f.read(v)
		}
	}
	for _, v := range f.file.Visits { // whose values have their loads written by now
		if v.Stmt != nil {
			f.store(v)
		}
	}
}

func (f *fileWriter) read(v use.Visit) {
	before, after := f.hooks()+".Read(&", fmt.Sprintf(", %t)", v.Updates)
	if v.Later {
		before, after = "(*"+f.hooks()+".Reading(&", fmt.Sprintf(", %t))", v.Updates)
	}
	f.edits.InsertBefore(v.Expr.Pos(), before)
	f.edits.InsertAfter(v.Expr.End(), after)
}

func (f *fileWriter) store(v use.Visit) {
	pointer, value := f.names+"k", f.names+"w"
	enter := fmt.Sprintf("; defer %s.Write(%s, %t)(); *%s", f.hooks(), pointer, v.Updates, pointer)
	if v.Value == nil {
		f.edits.InsertBefore(v.Stmt.Pos(), "func() { "+pointer+" := &")
		f.edits.InsertAfter(v.Expr.End(), enter)
		f.edits.InsertAfter(v.Stmt.End(), " }()")
		return
	}
	name := f.edits.ChangedText(v.Expr)
	f.edits.SupersedeBetween(v.Expr.Pos(), v.Value.Pos(), "{ "+value+" := ")
	f.edits.InsertAfter(v.Stmt.End(), fmt.Sprintf("; func() { %s := &%s%s %s %s }() }", pointer, name, enter, v.Stmt.(*ast.AssignStmt).Tok, value))
}
