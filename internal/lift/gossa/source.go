package gossa

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// indexSyntax indexes a file's expressions by the positions that go/ssa gives to the
// instructions it makes of them.
func (p *Program) indexSyntax(f *ast.File) {
	put := func(pos token.Pos, n ast.Node) {
		if _, ok := p.syntax[pos]; !ok && pos.IsValid() {
			p.syntax[pos] = n
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			put(n.Sel.Pos(), n)
		case *ast.IndexExpr:
			put(n.Lbrack, n)
		case *ast.StarExpr:
			put(n.Star, n)
		case *ast.CallExpr:
			put(n.Lparen, n)
			put(n.Rparen, n) // new(T)
		case *ast.UnaryExpr:
			put(n.OpPos, n)
			if c, ok := ast.Unparen(n.X).(*ast.CompositeLit); ok && n.Op == token.AND {
				put(c.Lbrace, n)
			}
		case *ast.CompositeLit:
			put(n.Lbrace, n)
		case *ast.SliceExpr:
			put(n.Lbrack, n)
		case *ast.TypeAssertExpr:
			put(n.Lparen, n)
		case *ast.SendStmt:
			put(n.Arrow, n)
		case *ast.SelectStmt:
			put(n.Select, n)
		case *ast.GoStmt:
			put(n.Go, n)
		case *ast.RangeStmt:
			put(n.For, n)
			if n.Value != nil {
				p.rangedOver[n.Value.Pos()] = n.X
			}
		case *ast.FuncLit:
			put(n.Type.Func, n)
		}
		return true
	})
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			put(id.Pos(), id)
		}
		return true
	})
}

// nameNode is what names a function: its name or, of a literal, itself.
func (p *Program) nameNode(fn *ssa.Function) ast.Node {
	switch s := fn.Syntax().(type) {
	case *ast.FuncDecl:
		return s.Name
	case *ast.FuncLit:
		return s
	}
	return nil
}

// noteExprs notes the expressions that values were made for. go/ssa puts a reference
// after the value; of a store, after the store and for the value that was stored.
func (l *lifter) noteExprs() {
	for _, b := range l.source.Blocks {
		for i, in := range b.Instrs {
			ref, ok := in.(*ssa.DebugRef)
			if !ok || ref.IsAddr {
				continue
			}
			if i > 0 {
				if st, ok := b.Instrs[i-1].(*ssa.Store); ok && st.Val == ref.X {
					l.program.exprOf[st] = ref.Expr
					continue
				}
			}
			if v, ok := ref.X.(ssa.Instruction); ok && l.program.exprOf[v] == nil {
				l.program.exprOf[v] = ref.Expr
			}
		}
	}
}

// nodeOf is the syntax behind an instruction; nil if there is none.
func (p *Program) nodeOf(in ssa.Instruction) ast.Node {
	// What refers to an allocation takes its address; what allocates is elsewhere.
	if _, ok := in.(*ssa.Alloc); !ok {
		if e := p.exprOf[in]; e != nil {
			if id, ok := e.(*ast.Ident); ok {
				if s, ok := p.syntax[id.Pos()].(*ast.SelectorExpr); ok && s.Sel == id {
					return s // go/ssa refers to a field that is stored to by its name alone
				}
			}
			return e
		}
	}
	if n := p.syntax[in.Pos()]; n != nil {
		return n
	}
	return nil
}

// siteOrigin records an instruction's origin. kind is that of the event it makes, None if
// it makes none.
func (l *lifter) siteOrigin(in ssa.Instruction, kind event.Kind) int {
	return l.program.addOrigin(Origin{Func: l.source, Instr: in, Node: l.program.nodeOf(in), Kind: kind})
}

// accessOrigin records the origin of a load or store. Where go/ssa kept no expression for
// it, the one of its address is taken.
func (l *lifter) accessOrigin(in ssa.Instruction, addr ssa.Value, kind event.Kind) int {
	var n ast.Node
	if e := l.program.exprOf[in]; e != nil {
		// An element that a range loop loads has the loop's variable for an
		// expression; what is loaded from is what the loop goes over.
		if x := l.program.rangedOver[e.Pos()]; x != nil {
			n = x
		}
	}
	if n == nil {
		n = l.program.nodeOf(in)
	}
	if _, ok := addr.(ssa.Instruction); ok && n == nil {
		n = l.program.syntax[addr.Pos()]
	}
	if r, ok := n.(*ast.RangeStmt); ok {
		n = r.X
	}
	return l.program.addOrigin(Origin{Func: l.source, Instr: in, Node: n, Kind: kind, Data: l.program.dataAt(addr)})
}

// atomicOrigin records the origin of an operation of sync/atomic, whose first argument is the
// address.
func (l *lifter) atomicOrigin(in ssa.CallInstruction, kind event.Kind) int {
	return l.program.addOrigin(Origin{Func: l.source, Instr: in, Node: l.program.nodeOf(in), Kind: kind, Data: l.program.dataAt(in.Common().Args[0])})
}

// mapOrigin records the origin of an access to an element of a map. In a range loop the
// expression is the map that the loop goes over.
func (l *lifter) mapOrigin(in ssa.Instruction, m ssa.Value, kind event.Kind) int {
	n := l.program.nodeOf(in)
	if r, ok := n.(*ast.RangeStmt); ok {
		n = r.X
	}
	return l.program.addOrigin(Origin{Func: l.source, Instr: in, Node: n, Kind: kind, Data: l.program.elementOf(m)})
}
