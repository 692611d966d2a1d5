package cover

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Code is a program's source with what is known of its locks.
type Code struct {
	*source.Program
	// Original returns the name that a file has in the program without changes: another, if
	// the file is in a copy of a dependency. Nil means that no name is another.
	Original func(name string) string

	locks *locks.Program
	// usesFound is what uses returns, nil before the first call.
	usesFound *source.Uses
}

// NewCode returns the code of a program.
func NewCode(p *source.Program) *Code {
	var units []locks.Unit
	index := make(map[*packages.Package]int)
	for _, f := range p.Files() {
		i, ok := index[f.Package]
		if !ok {
			i = len(units)
			index[f.Package] = i
			units = append(units, locks.Unit{Info: f.Info})
		}
		units[i].Files = append(units[i].Files, f.Syntax)
	}
	return &Code{Program: p, locks: locks.NewProgram(units...)}
}

// Locks returns what is known of the program's locks.
func (code *Code) Locks() *locks.Program { return code.locks }

// uses is how the program uses its functions and fields.
func (code *Code) uses() *source.Uses {
	if code.usesFound == nil {
		code.usesFound = source.NewUses(code.Program)
	}
	return code.usesFound
}

// OriginalName returns the name that a file has in the program without changes.
func (code *Code) OriginalName(f *source.File) string {
	if code.Original == nil {
		return f.Name
	}
	return code.Original(f.Name)
}

// ByOriginal returns the file that has a name in the program without changes, nil if there
// is none.
func (code *Code) ByOriginal(name string) *source.File {
	for _, f := range code.Files() {
		if code.OriginalName(f) == name {
			return f
		}
	}
	return nil
}

// VariableAt returns the variable that is declared with a name at a position, nil if none
// is.
func (code *Code) VariableAt(pos token.Pos, name string) *types.Var {
	f := code.fileAt(pos)
	if f == nil {
		return nil
	}
	for id, o := range f.Info.Defs {
		if v, ok := o.(*types.Var); ok && id.Pos() == pos && id.Name == name {
			return v
		}
	}
	return nil
}

// AccessAt returns the expression that accesses data at a position: the selection of a field
// whose name is there, or the innermost expression; nil if the program has none there.
func (code *Code) AccessAt(pos token.Pos) ast.Expr {
	f := code.fileAt(pos)
	if f == nil {
		return nil
	}
	var found ast.Expr
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if n == nil || pos < n.Pos() || n.End() <= pos {
			return false
		}
		switch n := n.(type) {
		case ast.Stmt:
			found = nil
		case *ast.SelectorExpr:
			found = n
			return pos < n.Sel.Pos()
		case ast.Expr:
			found = n
		}
		return true
	})
	return found
}

// fileAt is the file that a position is in, nil if it is not the program's.
func (code *Code) fileAt(pos token.Pos) *source.File {
	return code.File(code.Fset.PositionFor(pos, false).Filename)
}

// An operation is a call that takes or releases a lock.
type operation struct {
	class *types.Var // the field or variable that declares the lock; nil if that is not known
	verb  locks.Verb
	read  bool
}

func (o operation) takes() bool { return o.verb != locks.Release }

// operationOf tells whether a call is an operation on a lock, and which.
func (code *Code) operationOf(info *types.Info, call *ast.CallExpr) (operation, bool) {
	op, ok := code.locks.Op(info, call)
	if !ok {
		return operation{}, false
	}
	return operation{code.locks.Places.ClassOf(op), op.Verb, op.Mode == locks.Read}, true
}

// isOn reports whether an operation is on a lock that the program has.
func (code *Code) isOn(o operation, l *Lock) bool { return o.class != nil && o.class == code.class(l) }

// class is what all operations on a lock have in common; nil if the program does not have
// the lock.
func (code *Code) class(l *Lock) *types.Var {
	if l.object == nil {
		return nil
	}
	return code.locks.Places.Canonical(l.object)
}

// Canonical returns the one variable that stands for all that are declared at the same place, as
// those of a package and of its variant for tests are.
func (code *Code) Canonical(v *types.Var) *types.Var { return code.locks.Places.Canonical(v) }

// LockTakenAt returns the field or variable whose lock a line of a file takes, nil if it
// takes none.
func (code *Code) LockTakenAt(f *source.File, line int) *types.Var {
	var found *types.Var
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && f.Line(call.Pos()) == line {
			if op, ok := code.operationOf(f.Info, call); ok && op.takes() && op.class != nil {
				found = op.class
			}
		}
		return true
	})
	return found
}

// callee returns the declaration of the function that a call calls, with the file that it is
// in; nil if it is not one of the program.
func (code *Code) callee(info *types.Info, call *ast.CallExpr) (*ast.FuncDecl, *source.File) {
	fn, ok := info.Uses[source.CalleeName(call)].(*types.Func)
	if !ok {
		return nil, nil
	}
	d := code.Declaration(fn.Origin())
	if d == nil || d.Body == nil {
		return nil, nil
	}
	return d, code.FileOf(d)
}

// EnclosingFunction returns the innermost function of a file that a node is in: an
// *ast.FuncDecl or an *ast.FuncLit.
func EnclosingFunction(f *source.File, n ast.Node) ast.Node {
	switch n.(type) {
	case *ast.FuncDecl, *ast.FuncLit:
		return n
	}
	return statement.FunctionAround(f.Syntax, n)
}
