package gossa

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
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

// Behind returns what data is that a function has by way of a parameter, as the innermost of its
// callers names it that does not have it from a parameter as well, and the calls by which that caller
// hands it on. Without such a caller there are no calls, and the data is as it was.
//
//	func (s *set) add(k string) { (*s)[k] = true }
//	func (c *cache) Put(k string) { c.keys.add(k) }      cache.keys, by the call of add
func (p *Program) Behind(first Data, callers []*ssa.Function) (Data, []ssa.CallInstruction) {
	data := first
	for _, caller := range callers {
		calls := callsIn(caller, data.Parameter.Parent())
		if len(calls) == 0 {
			break
		}
		given := p.argumentFor(calls[0], data.Parameter)
		for _, call := range calls[1:] {
			if p.argumentFor(call, data.Parameter) != given {
				return first, nil
			}
		}
		given.Element = given.Element || first.Element
		if data = given; data.Parameter == nil {
			if data.String() == "" {
				break
			}
			return data, calls
		}
	}
	return first, nil
}

// callsIn are the calls of a function that another makes, as far as they say which they call.
func callsIn(caller, callee *ssa.Function) []ssa.CallInstruction {
	var all []ssa.CallInstruction
	for _, b := range caller.Blocks {
		for _, i := range b.Instrs {
			if call, ok := i.(ssa.CallInstruction); ok && call.Common().StaticCallee() == callee {
				all = append(all, call)
			}
		}
	}
	return all
}

// argumentFor is the argument of a call for a parameter of the function that it calls.
func (p *Program) argumentFor(call ssa.CallInstruction, parameter *ssa.Parameter) Data {
	index := slices.Index(parameter.Parent().Params, parameter)
	if index < 0 || index >= len(call.Common().Args) {
		return Data{}
	}
	arg := call.Common().Args[index]
	if _, address := arg.Type().Underlying().(*types.Pointer); address {
		return p.dataAt(arg)
	}
	return p.elementOf(arg)
}
