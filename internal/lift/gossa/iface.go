package gossa

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

func typeSymbol(t types.Type) string { return "type " + types.TypeString(t, nil) }

func (l *lifter) iface(in ssa.Instruction) {
	switch in := in.(type) {
	case *ssa.ChangeInterface:
		l.assign(in, l.value(in.X))
	case *ssa.MakeInterface:
		l.assign(in, ir.Concat(ir.Symbol(typeSymbol(in.X.Type())), l.boxed(in.X)))
	case *ssa.TypeAssert:
		l.assert(in)
	}
}

// boxed is the data word of an interface that holds v.
func (l *lifter) boxed(v ssa.Value) *ir.Expr {
	x := l.value(v)
	if direct(v.Type()) {
		return x
	}
	a := l.temp(8)
	l.emit(&ir.Instr{Op: ir.Alloc, Dst: a, X: ir.Num(8, uint64(x.Size)), Private: true})
	if x.Size > 0 {
		l.emit(&ir.Instr{Op: ir.Store, Size: x.Size, X: ir.R(a, 8), Val: x, Private: true})
	}
	return ir.R(a, 8)
}

// assert lifts x.(T). With two results a failure gives a zero value, which needs
// blocks of its own.
func (l *lifter) assert(in *ssa.TypeAssert) {
	x := l.value(in.X)
	word := ir.Extract(x, 0, 8)
	some := ir.Binary(ir.OpNe, ir.Unsigned, word, ir.Num(8, 0))
	_, toIface := in.AssertedType.Underlying().(*types.Interface)
	ok := ir.Binary(ir.OpEq, ir.Unsigned, word, ir.Symbol(typeSymbol(in.AssertedType)))
	if toIface {
		// Which types implement the interface is not known here; nil never does.
		ok = some
		if in.AssertedType.Underlying().(*types.Interface).NumMethods() > 0 {
			ok = ir.Binary(ir.OpAnd, ir.Unsigned, some, ir.Opaque("implements", 1))
		}
	}
	size := l.p.size(in.AssertedType)
	if !in.CommaOk {
		l.emit(&ir.Instr{Op: ir.Test, Why: ir.WrongType, X: ir.Unary(ir.OpNot, ir.Unsigned, ok), Pos: l.site(in, "")})
		l.emit(&ir.Instr{Op: ir.Assign, Dst: l.reg(in), X: l.unboxed(in, x, size, toIface)})
		return
	}
	from := l.cur
	l.emit(&ir.Instr{Op: ir.Branch, X: ok})
	yes, no, join := l.out.NewBlock(), l.out.NewBlock(), l.out.NewBlock()
	from.To(yes)
	from.To(no)
	l.cur = yes
	held := l.temp(size)
	l.emit(&ir.Instr{Op: ir.Assign, Dst: held, X: l.unboxed(in, x, size, toIface)})
	l.emit(&ir.Instr{Op: ir.Jump})
	yes.To(join)
	l.cur = no
	l.emit(&ir.Instr{Op: ir.Jump})
	no.To(join)
	l.cur = join
	l.emit(&ir.Instr{
		Op: ir.Phi, Dst: l.reg(in),
		Args: []*ir.Expr{ir.Concat(ir.R(held, size), ir.Num(1, 1)), ir.Const(ir.Bytes(make([]byte, size+1)))},
	})
}

func (l *lifter) unboxed(in *ssa.TypeAssert, x *ir.Expr, size int, toIface bool) *ir.Expr {
	if toIface {
		return x
	}
	data := ir.Extract(x, 8, 8)
	if direct(in.AssertedType) || size == 0 {
		return ir.Extract(data, 0, size)
	}
	v := l.temp(size)
	l.emit(&ir.Instr{Op: ir.Load, Dst: v, Size: size, X: data, Private: true})
	return ir.R(v, size)
}

// methods fills the tables by which a dynamic type leads to its methods. A method
// that takes its receiver by value is given the data word, and unboxes it.
func (p *Program) methods(prog *ssa.Program) {
	for _, t := range prog.RuntimeTypes() {
		set := prog.MethodSets.MethodSet(t)
		table := map[string]*ir.Func{}
		for i := range set.Len() {
			m := prog.MethodValue(set.At(i))
			if m == nil || p.funcs[m] == nil {
				continue
			}
			f := p.funcs[m]
			if !direct(t) {
				f = p.unboxing(f, p.size(t))
			}
			table[m.Name()] = f
		}
		if len(table) > 0 {
			p.Methods[typeSymbol(t)] = table
		}
	}
}

func (p *Program) unboxing(f *ir.Func, size int) *ir.Func {
	w := &ir.Func{Name: "unboxing " + f.Name, Results: f.Results, Pos: f.Pos, Test: f.Test}
	data := w.NewReg("", 8)
	w.Params = append(w.Params, data)
	args := []*ir.Expr{ir.Const(ir.Bytes(nil))}
	b := w.NewBlock()
	if size > 0 {
		recv := w.NewReg("", size)
		b.Add(&ir.Instr{Op: ir.Load, Dst: recv, Size: size, X: ir.R(data, 8), Private: true})
		args[0] = ir.R(recv, size)
	}
	for _, r := range f.Params[1:] {
		n := w.NewReg("", f.Sizes[r])
		w.Params = append(w.Params, n)
		args = append(args, ir.R(n, f.Sizes[r]))
	}
	call := b.Add(&ir.Instr{Op: ir.Call, Callee: f, Args: args, Size: f.Results})
	ret := &ir.Instr{Op: ir.Return}
	if f.Results > 0 {
		call.Dst = w.NewReg("", f.Results)
		ret.X = ir.R(call.Dst, f.Results)
	}
	b.Add(ret)
	p.Funcs = append(p.Funcs, w)
	return w
}
