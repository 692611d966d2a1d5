package locks

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// What a library is given it may call methods of, without a call of them anywhere in the program:
//
//	func (j *Job) String() string {     j.mu.Lock()
//		j.mu.Lock()                     err := fmt.Errorf("%v is over", j)     takes j.mu again
//		defer j.mu.Unlock()             j.mu.Unlock()
//
// Those are the methods of the interface that a parameter is of. A parameter of type any is looked
// into: the packages that encode and those that print each know some methods by their names.

var (
	encodingMethods = []string{"MarshalJSON", "MarshalText", "MarshalBinary", "MarshalXML", "GobEncode", "UnmarshalJSON", "UnmarshalText", "UnmarshalBinary", "UnmarshalXML", "GobDecode"}
	printingMethods = []string{"Error", "Format", "GoString", "LogValue", "String"}
)

// calledBack are the functions of the program that a call of a library's function may run because of what it
// is given, function values apart.
func (p *Program) calledBack(info *types.Info, call *ast.CallExpr, fn *types.Func) []*function {
	signature := fn.Signature()
	if p.declared[fn.Origin()] != nil || signature.Params().Len() == 0 || leavesCallbacksForLater(fn) {
		return nil
	}
	var all []*function
	for i, arg := range call.Args {
		given := info.TypeOf(arg)
		taken := parameterAt(signature, i)
		if given == nil || taken == nil {
			continue
		}
		face, ok := taken.Underlying().(*types.Interface)
		switch {
		case !ok:
		case face.NumMethods() > 0:
			for m := range face.Methods() {
				all = p.addMethod(all, given, m.Name())
			}
		case fn.Pkg() != nil:
			names := printingMethods
			if strings.HasPrefix(fn.Pkg().Path(), "encoding/") {
				names = encodingMethods
			}
			all = p.addInside(all, given, names, maxLeading)
		}
	}
	return all
}

// TakenByLibrary returns the methods that take a lock of a class among those that a library's function calls
// of what a call gives it. The library may call each of them several times.
func (p *Program) TakenByLibrary(info *types.Info, call *ast.CallExpr, class *types.Var) []*ast.FuncDecl {
	fn := calleeOf(info, call)
	if fn == nil {
		return nil
	}
	var all []*ast.FuncDecl
	for _, f := range p.calledBack(info, call, fn) {
		if d, ok := f.node.(*ast.FuncDecl); ok && p.takes[f][class] {
			all = append(all, d)
		}
	}
	return all
}

// parameterAt is the type of the parameter that the i-th argument of a call is for; nil if there is none.
func parameterAt(signature *types.Signature, i int) types.Type {
	params := signature.Params()
	if last := params.Len() - 1; signature.Variadic() && i >= last {
		if s, ok := params.At(last).Type().Underlying().(*types.Slice); ok {
			return s.Elem()
		}
		return nil
	}
	if i >= params.Len() {
		return nil
	}
	return params.At(i).Type()
}

// addInside adds the methods with some names of a type, and of what its values have in them, as far as
// reflection finds it.
func (p *Program) addInside(all []*function, t types.Type, names []string, depth int) []*function {
	before := len(all)
	for _, name := range names {
		all = p.addMethod(all, t, name)
	}
	if depth == 0 || len(all) > before {
		return all // the method decides about what is inside
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return p.addInside(all, u.Elem(), names, depth-1)
	case *types.Slice:
		return p.addInside(all, u.Elem(), names, depth-1)
	case *types.Array:
		return p.addInside(all, u.Elem(), names, depth-1)
	case *types.Map:
		return p.addInside(p.addInside(all, u.Key(), names, depth-1), u.Elem(), names, depth-1)
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() {
				all = p.addInside(all, f.Type(), names, depth-1)
			}
		}
	}
	return all
}

// addMethod adds a method of a type, if it has one that the program declares.
func (p *Program) addMethod(all []*function, t types.Type, name string) []*function {
	if len(p.methods[name]) == 0 {
		return all
	}
	isAddressable := slices.Contains(encodingMethods, name) // those packages take the address where they can
	o, _, _ := types.LookupFieldOrMethod(t, isAddressable, nil, name)
	fn, ok := o.(*types.Func)
	if !ok {
		return all
	}
	f := p.declared[fn.Origin()]
	if f == nil || slices.Contains(all, f) {
		return all
	}
	return append(all, f)
}
