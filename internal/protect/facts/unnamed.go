package facts

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// anyValue stands for the functions that the call of a function value may be of: those that are
// used as values, and all literals.
const anyValue = "a function value"

// calledByLibrary are the methods by which functions of the library call what they are given.
var calledByLibrary = []string{
	"Close", "Error", "Format", "GoString", "Len", "Less", "LogValue", "MarshalBinary", "MarshalJSON", "MarshalText", "Pop", "Push",
	"Read", "RoundTrip", "Scan", "ServeHTTP", "String", "Swap", "UnmarshalJSON", "UnmarshalText", "Write",
}

// A dispatch knows which functions code may run that does not name them.
type dispatch struct {
	values  []FuncKey            // functions that are values
	methods map[string][]FuncKey // methods, by their names, of what is made an interface
}

// observeValue notes the functions that an instruction makes values of:
//
//	f := x.inc               a method as a value
//	var w io.Writer = x      all methods of x
func (f *Facts) observeValue(i ssa.Instruction) {
	switch i := i.(type) {
	case *ssa.DebugRef:
		return
	case *ssa.MakeInterface:
		methods := types.NewMethodSet(i.X.Type())
		for k := range methods.Len() {
			m := methods.At(k).Obj().(*types.Func)
			if key := FuncKeyOf(m); !slices.Contains(f.dispatch.methods[m.Name()], key) {
				f.dispatch.methods[m.Name()] = append(f.dispatch.methods[m.Name()], key)
			}
		}
		return
	}
	called := func(ssa.Value) bool { return false }
	if c, ok := i.(ssa.CallInstruction); ok && !c.Common().IsInvoke() {
		called = func(v ssa.Value) bool { return v == c.Common().Value }
	}
	var buffer [8]*ssa.Value
	for _, operand := range i.Operands(buffer[:0]) {
		if fn, ok := (*operand).(*ssa.Function); ok && !called(fn) {
			if o, ok := fn.Object().(*types.Func); ok {
				f.dispatch.values = append(f.dispatch.values, FuncKeyOf(o))
			}
		}
	}
}

// A Code is functions and function literals.
type Code struct {
	Functions map[FuncKey]bool
	Literals  map[*ast.BlockStmt]bool // by their bodies
}

// Runs returns all code that a statement may run by its calls: of functions by name, of
// methods of interfaces, of function values, and what these call in turn.
func (f *Facts) Runs(s *Statement) Code {
	if s.runs.Functions == nil {
		s.runs = f.runs(s)
	}
	return s.runs
}

func (f *Facts) runs(s *Statement) Code {
	all := Code{make(map[FuncKey]bool), make(map[*ast.BlockStmt]bool)}
	names := make(map[string]bool)
	var visit func(calls []Call, own *Effect)
	visitFunction := func(k FuncKey) {
		if e := f.effects[k]; e != nil && !all.Functions[k] {
			all.Functions[k] = true
			visit(e.Calls, e)
		}
	}
	visitLiteral := func(body *ast.BlockStmt) {
		if !all.Literals[body] {
			all.Literals[body] = true
			inner := f.Body(body)
			visit(inner.Calls, &inner.own)
		}
	}
	visit = func(calls []Call, own *Effect) {
		for _, c := range calls {
			visitFunction(FuncKeyOf(c.Func))
		}
		for body := range own.literals {
			visitLiteral(body)
		}
		for name := range own.unknown {
			if names[name] {
				continue
			}
			names[name] = true
			for _, k := range f.dispatch.methods[name] {
				visitFunction(k)
			}
			if name != anyValue {
				continue
			}
			for _, k := range f.dispatch.values {
				visitFunction(k)
			}
			for body, fn := range f.code.functions {
				if _, ok := fn.Syntax().(*ast.FuncLit); ok {
					visitLiteral(body)
				}
			}
		}
	}
	visit(s.Calls, &s.own)
	return all
}

// callsUnknown notes a call of code that is not known: of a function value, or by the name of a
// method.
func (e *Effect) callsUnknown(names ...string) {
	for _, name := range names {
		e.unknown = note(e.unknown, name)
	}
}

// callsBack notes what a function may call whose body is not at hand.
func (e *Effect) callsBack(fn *types.Func) {
	for v := range fn.Signature().Params().Variables() {
		t := v.Type()
		if s, ok := t.Underlying().(*types.Slice); ok {
			t = s.Elem()
		}
		switch t.Underlying().(type) {
		case *types.Signature:
			e.callsUnknown(anyValue)
		case *types.Interface:
			e.callsUnknown(calledByLibrary...)
		}
	}
}
