package gossa

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// go/ssa evaluates the operands of an expression from left to right. The compiler makes the
// calls and receives of a statement first and then loads what else it needs, and so does an
// instrumented program (package instrument, order.go). A recorded run can be followed only
// in that order. So where a statement has a call after a load, the load is lifted behind it:
//
//	y = x.n + f()      t0 = &x.n             t0 = f()
//	                   t1 = *t0         ->   t1 = &x.n
//	                   t2 = f()              t2 = *t1
//	                   t3 = t1 + t2          t3 = t2 + t0

// A span is a piece of the source whose calls are made before its loads. In those that have
// fixed set nothing can be made ahead, and all is done from left to right.
type span struct {
	pos, end token.Pos
	fixed    bool
}

// indexSpans notes the spans of a file.
func (p *Program) indexSpans(f *ast.File) {
	add := func(n ast.Node, fixed bool) {
		if n != nil {
			p.spans = append(p.spans, span{n.Pos(), n.End(), fixed})
		}
	}
	simple := func(s ast.Stmt) {
		if s != nil {
			add(s, true)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			add(n, false)
			if len(n.Lhs) > 1 {
				// What the left sides load is loaded before the right sides.
				p.spans = append(p.spans, span{n.Rhs[0].Pos(), n.Rhs[len(n.Rhs)-1].End(), false})
			}
		case *ast.ExprStmt, *ast.ReturnStmt, *ast.SendStmt, *ast.IncDecStmt, *ast.DeclStmt, *ast.GoStmt, *ast.DeferStmt:
			add(n, false)
		case *ast.GenDecl:
			add(n, true)
		case *ast.IfStmt:
			simple(n.Init)
			add(n.Cond, n.Init != nil)
		case *ast.ForStmt:
			simple(n.Init)
			simple(n.Post)
			if n.Cond != nil {
				add(n.Cond, false)
			}
		case *ast.SwitchStmt:
			simple(n.Init)
			if n.Tag != nil {
				add(n.Tag, n.Init != nil)
			}
		case *ast.TypeSwitchStmt:
			simple(n.Init)
			simple(n.Assign)
		case *ast.RangeStmt:
			add(n.X, false)
		case *ast.CommClause:
			simple(n.Comm)
		case *ast.CaseClause:
			for _, e := range n.List {
				add(e, true)
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				add(n.Y, true)
			}
		}
		return true
	})
	// The innermost span at a position is the one that begins last; of two that begin
	// together, the one that is fixed or the shorter one.
	slices.SortStableFunc(p.spans, func(a, b span) int {
		switch {
		case a.pos != b.pos:
			return int(a.pos - b.pos)
		case a.fixed != b.fixed:
			if b.fixed {
				return -1
			}
			return 1
		}
		return int(b.end - a.end)
	})
}

// spanAt returns the index of the innermost span at a position, -1 if there is none in which
// something can be made ahead.
func (p *Program) spanAt(pos token.Pos) int {
	if !pos.IsValid() {
		return -1
	}
	n, _ := slices.BinarySearchFunc(p.spans, pos, func(s span, pos token.Pos) int {
		if s.pos <= pos {
			return -1
		}
		return 1
	})
	for i := n - 1; i >= 0; i-- {
		if s := p.spans[i]; s.end >= pos {
			if s.fixed {
				return -1
			}
			return i
		}
	}
	return -1
}

// spanOf is spanAt for the source of an instruction.
func (p *Program) spanOf(in ssa.Instruction) int {
	if n := p.nodeOf(in); n != nil {
		return p.spanAt(n.Pos())
	}
	return p.spanAt(in.Pos())
}

// evaluated returns the instructions of a block in the order of the compiler.
func (p *Program) evaluated(b *ssa.BasicBlock) []ssa.Instruction {
	order := slices.Clone(b.Instrs)
	for i := len(order) - 1; i >= 0; i-- {
		needs := useOf(order[i])
		if needs == nil {
			continue
		}
		at := p.spanOf(order[i])
		to := i
		for j := i + 1; j < len(order) && !needs(order[j]); j++ {
			if isCall(order[j]) && at >= 0 && p.spanOf(order[j]) == at {
				to = j
			}
			if j == len(order)-1 {
				to = i // its use is elsewhere
			}
		}
		if to > i {
			in := order[i]
			copy(order[i:], order[i+1:to+1])
			order[to] = in
		}
	}
	return order
}

// useOf reports of an instruction that can be made later which others need it; nil if it cannot.
// What a composite literal holds is needed when the literal is, and not when a part of it is
// filled in.
func useOf(in ssa.Instruction) func(ssa.Instruction) bool {
	if store, ok := in.(*ssa.Store); ok {
		literal := literalOf(store.Addr)
		if literal == nil {
			return nil
		}
		return func(other ssa.Instruction) bool {
			switch other.(type) {
			case *ssa.FieldAddr, *ssa.IndexAddr:
				return false
			}
			return uses(other, literal)
		}
	}
	v, ok := in.(ssa.Value)
	if !ok || !movable(in) {
		return nil
	}
	return func(other ssa.Instruction) bool { return uses(other, v) }
}

// literalOf is the composite literal, or the array for the arguments of a variadic function, that
// an address is a part of; nil if it is of none.
func literalOf(addr ssa.Value) *ssa.Alloc {
	for {
		switch at := addr.(type) {
		case *ssa.FieldAddr:
			addr = at.X
		case *ssa.IndexAddr:
			addr = at.X
		case *ssa.Alloc:
			switch at.Comment {
			case "complit", "slicelit", "varargs":
				return at
			}
			return nil
		default:
			return nil
		}
	}
}

// movable reports whether an instruction only computes or loads, so that it can be made right
// before its value is needed.
func movable(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.UnOp:
		return in.Op != token.ARROW
	case *ssa.Lookup:
		return !in.CommaOk
	case *ssa.TypeAssert:
		return !in.CommaOk
	case *ssa.Call:
		b, ok := in.Call.Value.(*ssa.Builtin)
		return ok && pureBuiltin(b.Name())
	case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Field, *ssa.Index, *ssa.BinOp, *ssa.Convert, *ssa.ChangeType, *ssa.Slice,
		*ssa.MakeInterface, *ssa.ChangeInterface, *ssa.SliceToArrayPointer:
		return true
	}
	return false
}

// pureBuiltin reports whether the compiler evaluates a built-in function with the loads.
func pureBuiltin(name string) bool {
	switch name {
	case "len", "cap", "real", "imag", "complex":
		return true
	}
	return false
}

// isCall reports whether an instruction is what the compiler makes first.
func isCall(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.UnOp:
		return in.Op == token.ARROW
	case *ssa.Call:
		b, ok := in.Call.Value.(*ssa.Builtin)
		if !ok {
			return true
		}
		switch b.Name() {
		case "append", "copy", "max", "min", "recover":
			return true
		}
	}
	return false
}

// uses reports whether an instruction needs a value. A reference for debuggers does not.
func uses(in ssa.Instruction, v ssa.Value) bool {
	if _, ok := in.(*ssa.DebugRef); ok {
		return false
	}
	for _, op := range in.Operands(nil) {
		if *op == v {
			return true
		}
	}
	return false
}
