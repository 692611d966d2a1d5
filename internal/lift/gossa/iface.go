package gossa

import (
	"fmt"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// typeSymbol names a type where an interface says what it holds. Identical types have one
// name, though they may be written in several ways: parameters of a function type have
// names that do not count. Different types have different names, though they may be
// written alike: two functions may each declare a type t.
func (p *Program) typeSymbol(t types.Type) string {
	if name, ok := p.typeNames.At(t).(string); ok {
		return name
	}
	name := "type " + types.TypeString(t, nil)
	if p.typesNamed[name]++; p.typesNamed[name] > 1 {
		name += fmt.Sprintf("#%d", p.typesNamed[name])
	}
	p.typeNames.Set(t, name)
	return name
}

// liftInterface lifts conversions to interfaces and type assertions. An interface is the
// symbol of the dynamic type, then the data word:
//
//	var v any = x        r2:8 = private alloc 8; private store r2 := r1; r3:16 = {type int, r2}
//	v.(int)              test "failed type assertion" if r3[0:8] != type int; r4:8 = private load r3[8:16]
func (l *lifter) liftInterface(in ssa.Instruction) {
	switch in := in.(type) {
	case *ssa.ChangeInterface:
		l.assign(in, l.value(in.X))
	case *ssa.MakeInterface:
		l.assign(in, ir.Concat(ir.Symbol(l.program.typeSymbol(in.X.Type())), l.boxed(in.X)))
	case *ssa.TypeAssert:
		l.liftAssert(in)
	}
}

// boxed is the data word of an interface that holds v.
func (l *lifter) boxed(v ssa.Value) *ir.Expr {
	x := l.value(v)
	if heldDirectly(v.Type()) {
		return x
	}
	a := l.newTemp(8)
	l.emit(&ir.Instr{Op: ir.Alloc, Dst: a, Operand: ir.Number(8, uint64(x.Size)), Private: true})
	if x.Size > 0 {
		l.emit(&ir.Instr{Op: ir.Store, Size: x.Size, Operand: ir.Register(a, 8), Value: x, Private: true})
	}
	return ir.Register(a, 8)
}

// liftAssert lifts x.(T). With two results a failure gives a zero value, which needs
// blocks of its own.
func (l *lifter) liftAssert(in *ssa.TypeAssert) {
	x := l.value(in.X)
	word := ir.Extract(x, 0, 8)
	some := ir.Binary(ir.OpNe, ir.Unsigned, word, ir.Number(8, 0))
	_, toIface := in.AssertedType.Underlying().(*types.Interface)
	ok := ir.Binary(ir.OpEq, ir.Unsigned, word, ir.Symbol(l.program.typeSymbol(in.AssertedType)))
	if toIface {
		// Which types implement the interface is not known here; nil never does.
		ok = some
		if in.AssertedType.Underlying().(*types.Interface).NumMethods() > 0 {
			ok = ir.Binary(ir.OpAnd, ir.Unsigned, some, ir.Opaque("implements", 1))
		}
	}
	size := l.program.size(in.AssertedType)
	if !in.CommaOk {
		l.emit(&ir.Instr{Op: ir.Test, Cause: ir.WrongType, Operand: ir.Unary(ir.OpNot, ir.Unsigned, ok), Origin: l.siteOrigin(in, event.None)})
		l.emit(&ir.Instr{Op: ir.Assign, Dst: l.registerOf(in), Operand: l.unboxed(in, x, size, toIface)})
		return
	}
	from := l.block
	l.emit(&ir.Instr{Op: ir.Branch, Operand: ok})
	yes, no, join := l.lifted.NewBlock(), l.lifted.NewBlock(), l.lifted.NewBlock()
	from.LinkTo(yes)
	from.LinkTo(no)
	l.block = yes
	held := l.newTemp(size)
	l.emit(&ir.Instr{Op: ir.Assign, Dst: held, Operand: l.unboxed(in, x, size, toIface)})
	l.emit(&ir.Instr{Op: ir.Jump})
	yes.LinkTo(join)
	l.block = no
	l.emit(&ir.Instr{Op: ir.Jump})
	no.LinkTo(join)
	l.block = join
	l.emit(&ir.Instr{
		Op: ir.Phi, Dst: l.registerOf(in),
		Args: []*ir.Expr{ir.Concat(ir.Register(held, size), ir.Number(1, 1)), ir.Const(ir.Zero(size + 1))},
	})
}

// unboxed is what an interface holds, once its type is known: the data word itself, or what
// it points to. The memory there never changes, so that loading it makes no event.
func (l *lifter) unboxed(in *ssa.TypeAssert, x *ir.Expr, size int, toIface bool) *ir.Expr {
	if toIface {
		return x
	}
	data := ir.Extract(x, 8, 8)
	if heldDirectly(in.AssertedType) || size == 0 {
		return ir.Extract(data, 0, size)
	}
	v := l.newTemp(size)
	l.emit(&ir.Instr{Op: ir.Load, Dst: v, Size: size, Operand: data, Private: true})
	return ir.Register(v, size)
}

// fillMethodTables fills the tables by which a dynamic type leads to its methods. A method
// that takes its receiver by value is given the data word, and unboxes it.
func (p *Program) fillMethodTables(prog *ssa.Program) {
	for _, t := range prog.RuntimeTypes() {
		set := prog.MethodSets.MethodSet(t)
		table := map[string]*ir.Func{}
		for i := range set.Len() {
			m := prog.MethodValue(set.At(i))
			if m == nil || p.lifted[m] == nil {
				continue
			}
			fn := p.lifted[m]
			if !heldDirectly(t) {
				fn = p.unboxingWrapper(fn, p.size(t))
			}
			table[m.Name()] = fn
		}
		if len(table) > 0 {
			p.Methods[p.typeSymbol(t)] = table
		}
	}
}

// unboxingWrapper makes a function that a dynamic call can reach, for a method that takes
// its receiver by value: it is given the data word and loads the receiver from there.
func (p *Program) unboxingWrapper(fn *ir.Func, size int) *ir.Func {
	w := &ir.Func{Name: "unboxing " + fn.Name, ResultSize: fn.ResultSize, Origin: fn.Origin, TestCode: fn.TestCode}
	data := w.NewReg("", 8)
	w.Params = append(w.Params, data)
	args := []*ir.Expr{ir.Const(ir.Bytes(nil))}
	block := w.NewBlock()
	if size > 0 {
		recv := w.NewReg("", size)
		block.Add(&ir.Instr{Op: ir.Load, Dst: recv, Size: size, Operand: ir.Register(data, 8), Private: true})
		args[0] = ir.Register(recv, size)
	}
	for _, r := range fn.Params[1:] {
		n := w.NewReg("", fn.RegSizes[r])
		w.Params = append(w.Params, n)
		args = append(args, ir.Register(n, fn.RegSizes[r]))
	}
	call := block.Add(&ir.Instr{Op: ir.Call, Callee: fn, Args: args, Size: fn.ResultSize})
	ret := &ir.Instr{Op: ir.Return}
	if fn.ResultSize > 0 {
		call.Dst = w.NewReg("", fn.ResultSize)
		ret.Operand = ir.Register(call.Dst, fn.ResultSize)
	}
	block.Add(ret)
	p.Funcs = append(p.Funcs, w)
	return w
}
