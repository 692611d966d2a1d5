package hooks

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// LibraryCalls returns the calls of the standard library in a package's files.
func LibraryCalls(p *load.Checked) []trace.LibraryCall {
	var all []trace.LibraryCall
	for _, f := range p.Files {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name, ok := libraryCall(p.Info, call)
			if !ok {
				return true
			}
			text := excerpt(f.TextOf(call))
			// A stack trace has the line of the name, or that of the whole.
			at, whole := p.Fset.Position(call.Lparen), p.Fset.Position(call.Pos())
			all = append(all, trace.LibraryCall{File: at.Filename, Line: at.Line, Name: name, Expr: text})
			if whole.Line != at.Line {
				all = append(all, trace.LibraryCall{File: at.Filename, Line: whole.Line, Name: name, Expr: text})
			}
			return true
		})
	}
	return all
}

// libraryCall returns the name of what a call calls, if that is of a package whose path
// begins like those of the standard library, and unlike that of most modules.
func libraryCall(info *types.Info, call *ast.CallExpr) (name string, ok bool) {
	var id *ast.Ident
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	default:
		return "", false
	}
	f, ok := info.Uses[id].(*types.Func)
	if !ok || f.Pkg() == nil {
		return "", false
	}
	first, _, _ := strings.Cut(f.Pkg().Path(), "/")
	return f.Name(), !strings.Contains(first, ".")
}
