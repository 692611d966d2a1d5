package txcompile

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
)

// A kept variable is one from around stm.Atomic that the transaction assigns to, and that
// nothing but the function around it and the transaction can reach. It needs no log: what it
// was is kept beside the transaction, and each attempt begins by putting that back.
//
//	stm.Atomic(func() { sum += x.n })      { sum_was := sum; stm.Compiled(func(tx *stm.Tx) { sum = sum_was; sum += stm.Load(tx, &x.n) }) }
//
// A log would have the variable on the heap: its address is given to stm.Store. With options
// the function may be run by two goroutines at once (stm.Clone), and the log remains.

// keptSize is up to how many bytes a variable is kept: all of it is copied for each attempt.
const keptSize = 64

// kept reports whether a variable that a region assigns to is put back when an attempt begins.
// One that is lent there is not, because a copy of it does not have what it leads to, unless what
// the copy says is there never changes.
func (p *program) kept(r region, v *types.Var) bool {
	lit, ok := r.root.(*ast.FuncLit)
	if !ok || p.keeping[lit] == nil || slices.ContainsFunc(p.variable(v).lent, r.has) && !library.OnlyAppends(v.Type()) {
		return false
	}
	f := p.FileOf(lit)
	return !source.HasTypeParam(v.Type()) && f.Package.TypesSizes.Sizeof(v.Type()) <= keptSize
}

// gatherKeeping notes the statements that begin with a transaction, so that what it assigns to
// can be kept in front of them.
func (p *program) gatherKeeping(f *source.File) {
	in := inspector.New([]*ast.File{f.Syntax})
	in.WithStack([]ast.Node{(*ast.ExprStmt)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		call, ok := ast.Unparen(n.(*ast.ExprStmt).X).(*ast.CallExpr)
		if !push || !ok {
			return true
		}
		lit := atomicLiteral(f.Info, call)
		if lit == nil || typeutil.StaticCallee(f.Info, call).Signature().Recv() != nil {
			return true
		}
		first, around := ast.Stmt(n.(*ast.ExprStmt)), stack[len(stack)-2]
		if s, ok := around.(*ast.IfStmt); ok && s.Init == first {
			first, around = s, stack[len(stack)-3]
		}
		switch around.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			p.keeping[lit] = first
			p.keepers[first] = lit
		}
		return true
	})
}

// keptBy returns the variables that a transaction's literal keeps, in the order of their
// declarations.
func (p *program) keptBy(f *source.File, lit *ast.FuncLit) []*types.Var {
	r := region{lit}
	if p.keeping[lit] == nil {
		return nil
	}
	if reason, _ := p.inPlace(f, r); reason != "" {
		return nil
	}
	var all []*types.Var
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := f.Info.Uses[id].(*types.Var)
		if ok && !v.IsField() && !r.has(v.Pos()) && !isPackageLevel(v) && slices.ContainsFunc(p.variable(v).assigned, r.has) && !p.shared(r, v) && !slices.Contains(all, v) {
			all = append(all, v)
		}
		return true
	})
	slices.SortFunc(all, func(a, b *types.Var) int { return int(a.Pos() - b.Pos()) })
	return all
}

func isPackageLevel(v *types.Var) bool { return v.Pkg() != nil && v.Parent() == v.Pkg().Scope() }

// keep is what stands around a statement that begins with a transaction: a block, so that no
// goto jumps over a variable, and what is kept is not declared twice.
func (w *writer) keep(s ast.Stmt) []piece {
	lit := w.p.keepers[s]
	if lit == nil {
		return nil
	}
	kept := w.p.keptBy(w.f, lit)
	if len(kept) == 0 {
		return nil
	}
	return []piece{
		{s.Pos(), s.Pos(), "{ " + w.copies(kept, ":=", w.p.suffix+was, "") + " "},
		{s.End(), s.End(), " }"},
	}
}

// putBack is what an attempt begins with.
func (w *writer) putBack(lit *ast.FuncLit) string {
	kept := w.p.keptBy(w.f, lit)
	if len(kept) == 0 {
		return ""
	}
	return " " + w.copies(kept, "=", "", w.p.suffix+was)
}

// was is at the end of the names of what is kept.
const was = "_was"

// copies is an assignment of all variables, with suffixes to their names on both sides.
func (w *writer) copies(vars []*types.Var, op, to, from string) string {
	var left, right []string
	for _, v := range vars {
		left = append(left, v.Name()+to)
		right = append(right, v.Name()+from)
	}
	return strings.Join(left, ", ") + " " + op + " " + strings.Join(right, ", ") + ";"
}

// inOrder sorts pieces by where they begin.
func inOrder(pieces []piece) []piece {
	slices.SortStableFunc(pieces, func(a, b piece) int { return int(a.from - b.from) })
	return pieces
}
