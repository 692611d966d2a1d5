package gossa

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Data is the variable behind an access: a global, a field of a struct type, or a
// variable that a function declares. Element says that it is what the variable
// leads to (an element of a slice or map, what a pointer points to).
type Data struct {
	Global  *types.Var
	Field   *types.Var
	Struct  types.Type // that has the field
	Local   *types.Var
	Element bool
	// Parameter is what leads to it, if nothing else is known of it: Local is its name.
	Parameter *ssa.Parameter
}

// String is the data as a person of the project calls it: a field with its type but not
// the package, which the place of the access says.
func (d Data) String() string {
	s := ""
	switch {
	case d.Field != nil:
		s = types.TypeString(d.Struct, func(*types.Package) string { return "" }) + "." + d.Field.Name()
	case d.Global != nil:
		s = d.Global.Pkg().Name() + "." + d.Global.Name()
	case d.Local != nil:
		s = d.Local.Name()
	default:
		return ""
	}
	if d.Element {
		return "what " + s + " holds"
	}
	return s
}

// dataAt finds the variable that an address is of.
func (p *Program) dataAt(addr ssa.Value) Data {
	switch a := addr.(type) {
	case *ssa.Global:
		v, _ := a.Object().(*types.Var)
		return Data{Global: v}
	case *ssa.FieldAddr:
		t := pointee(a.X.Type())
		s := t.Underlying().(*types.Struct)
		return Data{Field: s.Field(a.Field), Struct: t}
	case *ssa.IndexAddr:
		if _, ok := a.X.Type().Underlying().(*types.Pointer); ok {
			return p.dataAt(a.X)
		}
		return p.elementOf(a.X)
	case *ssa.FreeVar:
		return Data{Local: types.NewVar(a.Pos(), nil, a.Name(), deref(a.Type()))}
	case *ssa.Alloc:
		if a.Comment != "" && a.Pos().IsValid() {
			return Data{Local: types.NewVar(a.Pos(), nil, a.Comment, pointee(a.Type()))}
		}
	case *ssa.UnOp:
		return p.elementOf(a)
	case *ssa.Parameter:
		return Data{Local: types.NewVar(a.Pos(), nil, a.Name(), a.Type()), Element: true, Parameter: a}
	}
	return Data{}
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// elementOf is what a loaded value (a slice, a map, a pointer) leads to.
func (p *Program) elementOf(v ssa.Value) Data {
	switch v := v.(type) {
	case *ssa.UnOp:
		d := p.dataAt(v.X)
		d.Element = true
		return d
	case *ssa.Slice:
		return p.elementOf(v.X)
	case *ssa.Parameter:
		return Data{Local: types.NewVar(v.Pos(), nil, v.Name(), v.Type()), Element: true, Parameter: v}
	}
	return Data{}
}

// Behind returns what an access touches, as the innermost of the calls in progress names it that
// does not have it from a parameter, and the point of that call; the access itself if it names the
// data, or no call does.
//
//	func (s *set) add(k string) { (*s)[k] = true }
//	func (c *cache) Put(k string) { c.keys.add(k) }      cache.keys, by the call of add
func (p *Program) Behind(at ir.Point) (Data, ir.Point) {
	first := p.Origin(at.Instr).Data
	data, point := first, at
	for data.Parameter != nil {
		caller := point.Context.Parent
		if caller == nil || point.Context.Call == nil {
			return first, at
		}
		fn := data.Parameter.Parent()
		point = ir.Point{Context: caller, Instr: point.Context.Call}
		call, ok := p.Origin(point.Instr).Instr.(ssa.CallInstruction)
		if !ok {
			return first, at
		}
		arg := argumentFor(call.Common(), fn, data.Parameter)
		if arg == nil {
			return first, at
		}
		if _, address := arg.Type().Underlying().(*types.Pointer); address {
			data = p.dataAt(arg)
		} else {
			data = p.elementOf(arg)
		}
		data.Element = data.Element || first.Element
	}
	if data == (Data{}) {
		return first, at
	}
	return data, point
}

// argumentFor is what a call gives a function for a parameter, nil if that cannot be told.
func argumentFor(call *ssa.CallCommon, fn *ssa.Function, parameter *ssa.Parameter) ssa.Value {
	index := slices.Index(fn.Params, parameter)
	if call.IsInvoke() {
		index--
	}
	if index < 0 || index >= len(call.Args) {
		return nil
	}
	return call.Args[index]
}
