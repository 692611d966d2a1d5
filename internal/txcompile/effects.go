package txcompile

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/flow"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/syntax"
)

// A deed is something in a statement that makes a transaction work in place before the
// statement: it cannot be undone, or cannot be expressed through a transaction.
type deed struct {
	at     token.Pos
	reason string
}

// irrevocable returns what a statement itself does that cannot be undone. The statements in
// its blocks are not a part of that; the headers of an if that is its else are, because
// nothing can be put in front of them.
func (p *program) irrevocable(f *source.File, r region, s ast.Stmt) []deed {
	switch s := s.(type) {
	case *ast.SendStmt:
		return []deed{{s.Pos(), "sends on a channel"}}
	case *ast.SelectStmt:
		return []deed{{s.Pos(), "waits in a select statement"}}
	case *ast.GoStmt:
		return []deed{{s.Pos(), "starts a goroutine"}}
	case *ast.LabeledStmt:
		return p.irrevocable(f, r, s.Stmt)
	case *ast.BlockStmt:
		return nil
	}
	var all []deed
	for _, n := range syntax.Header(s) {
		ast.Inspect(n, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}
			if d := p.deedOf(f, r, n); d.reason != "" {
				all = append(all, d)
			}
			return true
		})
	}
	// That a statement stays as it is matters to people if it is the reason to work in place.
	if reason := p.unsupported(f, r, s); reason != "" && (len(all) == 0 || p.orderMatters(f, r, s) == "") {
		all = append(all, deed{s.Pos(), reason})
	}
	if branch, ok := s.(*ast.IfStmt); ok {
		if next, ok := branch.Else.(*ast.IfStmt); ok {
			all = append(all, p.irrevocable(f, r, next)...)
		}
	}
	return all
}

// deedOf returns what a node itself does that cannot be undone.
func (p *program) deedOf(f *source.File, r region, n ast.Node) deed {
	switch n := n.(type) {
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return deed{n.Pos(), "receives from a channel"}
		}
	case *ast.CallExpr:
		switch t := p.classify(f.Info, n); t.kind {
		case unknownCall:
			if p.ownFill(f, r, n) {
				break
			}
			return deed{n.Pos(), t.reason}
		case builtin:
			switch t.name {
			case "print", "println":
				return deed{n.Pos(), "prints"}
			case "close":
				return deed{n.Pos(), "closes a channel"}
			}
		}
	case *ast.IndexExpr:
		if _, ok := types.Unalias(f.Info.TypeOf(n.X)).(*types.TypeParam); ok {
			return deed{n.Pos(), "indexes a value whose type is a type parameter"}
		}
	case *ast.SelectorExpr:
		if s := f.Info.Selections[n]; s != nil && source.HiddenPath(s, f.Types) {
			return deed{n.Pos(), "uses " + n.Sel.Name + " through a field that has no name here"}
		}
	}
	return deed{}
}

// unsupported returns why a statement cannot be expressed through a transaction, "" if it
// can.
func (p *program) unsupported(f *source.File, r region, s ast.Stmt) string {
	if reason := p.orderMatters(f, r, s); reason != "" {
		return reason
	}
	switch s := s.(type) {
	case *ast.ForStmt:
		// Each iteration has a copy of the variable, which the compiler makes plainly.
		if init, ok := s.Init.(*ast.AssignStmt); ok && init.Tok == token.DEFINE {
			for _, l := range init.Lhs {
				if v, ok := f.Info.Defs[l.(*ast.Ident)].(*types.Var); ok && p.shared(r, v) {
					return "has a loop variable, " + v.Name() + ", that outlives an iteration"
				}
			}
		}
		for _, h := range []ast.Stmt{s.Init, s.Post} {
			if reason := p.unsupportedHeader(f, r, h); reason != "" {
				return reason
			}
		}
	case *ast.IfStmt:
		return p.unsupportedHeader(f, r, s.Init)
	case *ast.SwitchStmt:
		return p.unsupportedHeader(f, r, s.Init)
	case *ast.TypeSwitchStmt:
		return p.unsupportedHeader(f, r, s.Init)
	case *ast.RangeStmt:
		return p.unsupportedRange(f, r, s)
	case *ast.DeferStmt:
		if t := p.classify(f.Info, s.Call); t.kind == builtin && t.name == "recover" {
			return "defers recover itself"
		}
	case *ast.AssignStmt:
		if len(s.Lhs) == 2 && len(s.Rhs) == 1 && syntax.IsCommaOK(s.Rhs[0]) && s.Tok == token.ASSIGN && p.sharedPlace(f, r, s.Lhs[1]) &&
			types.Unalias(f.Info.TypeOf(s.Lhs[1])) != types.Typ[types.Bool] {
			return "assigns whether there was a value to a type of its own"
		}
	}
	return ""
}

// unsupportedHeader is about a statement in the header of another, which must stay one simple
// statement.
func (p *program) unsupportedHeader(f *source.File, r region, s ast.Stmt) string {
	assign, ok := s.(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE {
		return ""
	}
	for _, l := range assign.Lhs {
		if v, ok := f.Info.Uses[l.(*ast.Ident)].(*types.Var); ok && p.shared(r, v) {
			return "declares variables and assigns to " + v.Name() + " in one header"
		}
	}
	return ""
}

func (p *program) unsupportedRange(f *source.File, r region, s *ast.RangeStmt) string {
	switch f.Info.TypeOf(s.X).Underlying().(type) {
	case *types.Chan:
		return "receives from a channel"
	case *types.Interface:
		return "ranges over a type parameter"
	}
	if s.Tok == token.ASSIGN {
		for _, e := range []ast.Expr{s.Key, s.Value} {
			if e == nil {
				continue
			}
			if id, ok := ast.Unparen(e).(*ast.Ident); !ok || id.Name != "_" && p.sharedPlace(f, r, id) {
				return "ranges with variables that are shared"
			}
		}
	}
	return ""
}

// inPlace returns why a whole region runs in place, and where that is seen; "" if it does
// not. Such a function is there once: a type that it declares is one type.
func (p *program) inPlace(f *source.File, r region) (reason string, at token.Pos) {
	lit, isLiteral := r.root.(*ast.FuncLit)
	twice := !isLiteral || !p.immediate(lit) // the code is there once more, for plain use
	ast.Inspect(bodyOf(r.root), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			if label := p.labels[f.Info.Defs[n.Label]]; label.jumped && label.left {
				reason, at = "goes to "+n.Label.Name+" and leaves it by name", n.Pos()
			}
		case *ast.TypeSpec:
			if twice && p.boxed[flow.PlaceOf(p.Fset, n.Name.Pos())] {
				reason, at = "declares a type, "+n.Name.Name+", whose values become those of an interface", n.Pos()
			}
		}
		return true
	})
	if results := syntax.SignatureOf(r.root).Results; results != nil && reason == "" {
		for _, field := range results.List {
			for _, name := range field.Names {
				if v, ok := f.Info.Defs[name].(*types.Var); ok && p.shared(r, v) {
					return "has a result, " + name.Name + ", that others may refer to", name.Pos()
				}
			}
		}
	}
	return reason, at
}
