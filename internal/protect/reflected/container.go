package reflected

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A pointer that becomes an interface value only to be in a container of the standard library is looked at by nobody, as long as
// what comes out of containers is only asserted to be of a type. If any of it goes elsewhere, all of it might be looked at.
//
//	heap.Push(&q.jobs, j)
//	func (h *jobs) Push(x any) { *h = append(*h, x.(*job)) }
//	j := heap.Pop(&q.jobs).(*job)

// looksAtNothing are functions that look at nothing behind the pointers that they have as arguments, and hand them to no other
// code; keepsIt those that hand them on as interface values, to code that is examined.
var (
	looksAtNothing = []string{"sort.Slice", "sort.SliceStable", "sort.SliceIsSorted", "runtime.KeepAlive", "runtime.SetFinalizer"}
	keepsIt        = []string{
		heapPush, "(*container/list.List).PushBack", "(*container/list.List).PushFront", "(*container/list.List).InsertBefore",
		"(*container/list.List).InsertAfter", "(*sync.Pool).Put", "(*sync/atomic.Value).Store", "(*sync/atomic.Value).Swap",
	}
)

// givesIt are functions that return what is in a container. Methods that are called Pop are others.
var givesIt = []string{"container/heap.Pop", "container/heap.Remove", "(*container/list.List).Remove", "(*sync.Pool).Get", "(*sync/atomic.Value).Load", "(*sync/atomic.Value).Swap"}

// containers are the types that have it.
var containers = []string{"container/list.List", "container/list.Element", "container/ring.Ring", "sync.Pool", "sync/atomic.Value"}

const heapPush, heapInterface, ringDo = "container/heap.Push", "container/heap.Interface", "(*container/ring.Ring).Do"

// onlyContained reports whether all uses of an interface value are to assert that it is of a type, or to have it in a container.
func (r *reflection) onlyContained(v ssa.Value, in *ssa.Function) bool {
	return !slices.ContainsFunc(*v.Referrers(), func(i ssa.Instruction) bool {
		switch i := i.(type) {
		case *ssa.DebugRef:
			return false
		case *ssa.TypeAssert:
			return types.IsInterface(i.AssertedType)
		case *ssa.BinOp:
			return !isNilCheck(i)
		case *ssa.Return:
			return !isPop(in)
		case *ssa.Store:
			a, ok := i.Addr.(*ssa.FieldAddr)
			return !ok || !isContainer(deref(a.X.Type()))
		case *ssa.Call:
			f := r.Callee(i.Common())
			return f == nil || !slices.Contains(looksAtNothing, f.FullName()) && !slices.Contains(keepsIt, f.FullName())
		}
		return true
	})
}

// isPush and isPop report whether a function is what package heap calls for an item that comes, and for one that goes.
func isPush(fn *ssa.Function) bool {
	s := fn.Signature
	return fn.Name() == "Push" && s.Recv() != nil && s.Params().Len() == 1 && isEmptyInterface(s.Params().At(0).Type())
}

func isPop(fn *ssa.Function) bool {
	s := fn.Signature
	return fn.Name() == "Pop" && s.Recv() != nil && s.Params().Len() == 0 && s.Results().Len() == 1 && isEmptyInterface(s.Results().At(0).Type())
}

func isEmptyInterface(t types.Type) bool {
	_, isParam := types.Unalias(t).(*types.TypeParam)
	i, ok := t.Underlying().(*types.Interface)
	return ok && !isParam && i.NumMethods() == 0
}

// doneWithAll reports whether a function that a ring calls with each of its values only asserts that these are of a type.
func (r *reflection) doneWithAll(c *ssa.CallCommon) bool {
	fn, ok := c.Args[len(c.Args)-1].(*ssa.Function)
	if m, isLiteral := c.Args[len(c.Args)-1].(*ssa.MakeClosure); isLiteral {
		fn, ok = m.Fn.(*ssa.Function)
	}
	return ok && fn.Parent() != nil && r.onlyContained(fn.Params[0], fn)
}

// comesOut reports whether a value may be one that a container had. What is loaded from memory has been stored there, and what
// a function returns has been handed on by it: neither is to assert a type.
func (r *reflection) comesOut(v ssa.Value, in *ssa.Function) bool {
	if !isEmptyInterface(v.Type()) {
		return false
	}
	switch v := v.(type) {
	case *ssa.Parameter:
		return isPush(in)
	case *ssa.Call:
		f := r.Callee(v.Common())
		return f != nil && slices.Contains(givesIt, f.FullName()) || v.Call.IsInvoke() && v.Call.Method.Name() == "Pop" || f != nil && f.Name() == "Pop"
	case *ssa.UnOp:
		a, ok := v.X.(*ssa.FieldAddr)
		return ok && v.Op == token.MUL && isContainer(deref(a.X.Type()))
	case *ssa.Field:
		return isContainer(v.X.Type())
	}
	return false
}

func isContainer(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && slices.Contains(containers, n.Obj().Pkg().Path()+"."+n.Obj().Name())
}

// isNilCheck reports whether a comparison is with nil.
func isNilCheck(i *ssa.BinOp) bool {
	isNil := func(v ssa.Value) bool {
		c, ok := v.(*ssa.Const)
		return ok && c.IsNil()
	}
	return isNil(i.X) || isNil(i.Y)
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// deref returns what a pointer leads to, and other types as they are.
func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
