package library

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// GivenLiterals returns the function literals that a call runs before it returns, if it is one of a function of the standard library
// that does nothing else: they count as if they stood in the place of the call. What a call is of is known elsewhere.
//
//	i := sort.Search(len(x.list), func(i int) bool { return x.list[i] >= n })
func GivenLiterals(i ssa.Instruction, calleeOf func(*ssa.CallCommon) *types.Func) (list []*ssa.Function) {
	call, ok := i.(*ssa.Call)
	if !ok {
		return nil
	}
	if fn := calleeOf(call.Common()); fn == nil || !runsGiven(fn) {
		return nil
	}
	for _, a := range call.Call.Args {
		if _, ok := a.Type().Underlying().(*types.Signature); !ok {
			continue
		}
		if c, ok := a.(*ssa.MakeClosure); ok {
			a = c.Fn
		}
		fn, ok := a.(*ssa.Function)
		if !ok {
			return nil
		}
		if _, ok := fn.Syntax().(*ast.FuncLit); !ok || len(fn.Blocks) == 0 {
			return nil
		}
		list = append(list, fn)
	}
	return list
}

// WithLiterals adds the instructions of these literals, which may have such calls themselves.
func WithLiterals(all []ssa.Instruction, calleeOf func(*ssa.CallCommon) *types.Func) []ssa.Instruction {
	for n := 0; n < len(all); n++ {
		for _, l := range GivenLiterals(all[n], calleeOf) {
			for _, b := range l.Blocks {
				all = append(all, b.Instrs...)
			}
		}
	}
	return all
}

// GivenTypes returns the types of what such a call is given. Package sort goes by the type that an interface value has.
func GivenTypes(c *ssa.CallCommon) (all []types.Type) {
	for _, a := range c.Args {
		if made, ok := a.(*ssa.MakeInterface); ok {
			a = made.X
		}
		all = append(all, a.Type())
	}
	return all
}
