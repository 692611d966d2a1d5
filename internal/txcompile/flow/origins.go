package flow

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
)

// Origins are the functions that a value can be, found by following it back to where it comes
// from:
//
//	func try(f func()) { stm.Atomic(f) }     the arguments of all calls of try
//	if c { f = a } else { f = b }            both
//
// What comes out of memory, or out of a function that is called through a value, is unknown.
type origins struct {
	*Flow
	seen      map[ssa.Value]bool
	functions []*ssa.Function
	unknown   bool
}

func (o *origins) follow(v ssa.Value) {
	if o.seen[v] || o.unknown {
		return
	}
	o.seen[v] = true
	switch v := v.(type) {
	case *ssa.Function:
		o.functions = append(o.functions, v)
	case *ssa.MakeClosure:
		o.functions = append(o.functions, v.Fn.(*ssa.Function))
	case *ssa.Phi:
		for _, edge := range v.Edges {
			o.follow(edge)
		}
	case *ssa.ChangeType:
		o.follow(v.X)
	case *ssa.Const: // nil, which panics
	case *ssa.Parameter:
		o.followParameter(v)
	default:
		o.unknown = true
	}
}

// followParameter follows the arguments of all calls of a function, unless it can be called
// from where there is no telling.
func (o *origins) followParameter(v *ssa.Parameter) {
	fn := v.Parent()
	node := o.rough.Nodes[fn]
	if node == nil || o.values[fn] || fn.Signature.Recv() != nil || fn.Parent() != nil || fn.Object() != nil && fn.Object().Exported() && fn.Pkg != nil && fn.Pkg.Pkg.Name() != "main" {
		o.unknown = true
		return
	}
	for _, e := range node.In {
		if e.Site != nil && e.Site.Common().StaticCallee() == fn { // by signature others could, too
			o.follow(e.Site.Common().Args[slices.Index(fn.Params, v)])
		}
	}
}

// isElsewhere reports whether a call through a value or an interface is known to call code that
// is not here: a method of a type of a library, or what a library has returned.
//
//	ctx, cancel := context.WithCancel(parent)
//	stm.Atomic(func() { cancel() })
//
// A transaction works in place from there on, which is found when it runs; this is to tell
// people beforehand.
func (f *Flow) isElsewhere(caller *ssa.Function, call ssa.CallInstruction) bool {
	if call.Common().StaticCallee() != nil {
		return false
	}
	callees := f.called(f.precise, caller, call)
	if len(callees) == 0 {
		return f.isReturnedByLibrary(call.Common().Value, make(map[ssa.Value]bool))
	}
	return slices.ContainsFunc(callees, func(fn *ssa.Function) bool { return fn.Blocks == nil && fn.Syntax() == nil })
}

// ReadsToCall reports whether Go reads memory to call a method of a type through an interface, or
// a method expression: the value that a pointer points to, if that is the receiver, or an embedded
// pointer in what a pointer points to. A value in an interface never changes.
func ReadsToCall(receiver types.Type, method *types.Func) bool {
	throughPointer := false
	if p, ok := receiver.Underlying().(*types.Pointer); ok {
		receiver, throughPointer = p.Elem(), true
	}
	found, path, _ := types.LookupFieldOrMethod(receiver, true, method.Pkg(), method.Name())
	if found == nil {
		return true
	}
	for _, embedded := range path[:len(path)-1] {
		receiver = receiver.Underlying().(*types.Struct).Field(embedded).Type()
		if p, ok := receiver.Underlying().(*types.Pointer); ok {
			if throughPointer {
				return true
			}
			receiver, throughPointer = p.Elem(), true
		}
	}
	_, takesPointer := method.Signature().Recv().Type().Underlying().(*types.Pointer)
	return throughPointer && !takesPointer
}

// isReading reports whether a function is one that go/ssa has made for Go's reading to call a method.
func isReading(fn *ssa.Function) bool {
	method, ok := fn.Object().(*types.Func)
	if !ok || fn.Synthetic == "" || fn.Syntax() != nil || method.Signature().Recv() == nil {
		return false
	}
	receiver := fn.Signature.Recv()
	if receiver == nil && fn.Signature.Params().Len() > 0 {
		receiver = fn.Signature.Params().At(0)
	}
	return receiver != nil && ReadsToCall(receiver.Type(), method)
}

// isReturnedByLibrary reports whether a value can be what a library has returned.
func (f *Flow) isReturnedByLibrary(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Call:
		callee := v.Common().StaticCallee()
		return callee != nil && callee.Blocks == nil && !library.IsTranslated(callee)
	case *ssa.Extract:
		return f.isReturnedByLibrary(v.Tuple, seen)
	case *ssa.Phi:
		return slices.ContainsFunc(v.Edges, func(edge ssa.Value) bool { return f.isReturnedByLibrary(edge, seen) })
	case *ssa.ChangeInterface:
		return f.isReturnedByLibrary(v.X, seen)
	case *ssa.ChangeType:
		return f.isReturnedByLibrary(v.X, seen)
	case *ssa.UnOp:
		return v.Op == token.MUL && f.isStoredInVariable(v.X, seen)
	case *ssa.FreeVar:
		return slices.ContainsFunc(bindings(v), func(bound ssa.Value) bool { return f.isReturnedByLibrary(bound, seen) })
	}
	return false
}

// isStoredInVariable reports whether what a library has returned is assigned to a variable of a function.
func (f *Flow) isStoredInVariable(address ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[address] {
		return false
	}
	seen[address] = true
	switch address := address.(type) {
	case *ssa.FreeVar:
		return slices.ContainsFunc(bindings(address), func(bound ssa.Value) bool { return f.isStoredInVariable(bound, seen) })
	case *ssa.Alloc:
		return slices.ContainsFunc(*address.Referrers(), func(use ssa.Instruction) bool {
			store, ok := use.(*ssa.Store)
			return ok && store.Addr == address && f.isReturnedByLibrary(store.Val, seen)
		})
	}
	return false
}

// bindings are what a variable of a closure is outside of it.
func bindings(v *ssa.FreeVar) []ssa.Value {
	fn := v.Parent()
	at := slices.Index(fn.FreeVars, v)
	var all []ssa.Value
	for _, b := range fn.Parent().Blocks {
		for _, instr := range b.Instrs {
			if closure, ok := instr.(*ssa.MakeClosure); ok && closure.Fn == fn {
				all = append(all, closure.Bindings[at])
			}
		}
	}
	return all
}

// describe is what a call through a value or an interface calls, for people.
func describe(call *ssa.CallCommon) string { return callee(call) + " that comes from elsewhere" }

// describeReading says what is called where Go reads memory for it.
func describeReading(call *ssa.CallCommon) string {
	return callee(call) + " that leads to its receiver by a pointer, which is read first"
}

func callee(call *ssa.CallCommon) string {
	if call.IsInvoke() {
		return call.Method.Name() + " of " + aOr(types.TypeString(call.Value.Type(), shortName))
	}
	return "a function"
}

// aOr is a name with its article.
func aOr(name string) string {
	if slices.Contains([]byte("aeiou"), name[0]) {
		return "an " + name
	}
	return "a " + name
}

func shortName(p *types.Package) string { return p.Name() }
