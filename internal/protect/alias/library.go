package alias

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// mayKeep reports whether a function of the standard library, which uses nothing but what it is given, may keep
// a slice that it is given: another argument, or a result, can hold it. A result that is or has slices is followed.
//
//	slices.Contains(s, v), sort.Ints(s), binary.BigEndian.PutUint32(s, n)      forget it
//	slices.Grow(s, n), bytes.TrimSpace(s)                                      return it
//	bytes.NewReader(s), slices.Values(s), buffer.Write(s)                      may keep it
func mayKeep(results *types.Tuple, others []types.Type) bool {
	for r := range results.Variables() {
		if canHold(r.Type(), nil) {
			return true
		}
	}
	return slices.ContainsFunc(others, canBeGiven)
}

// mayKeep asks that of a call.
func (w *walk) mayKeep(c *ssa.CallCommon, v ssa.Value) bool {
	var others []types.Type
	for _, a := range c.Args {
		if a != v {
			others = append(others, a.Type())
		}
	}
	return mayKeep(c.Signature().Results(), others)
}

// canHold reports whether a value of a type can have a slice in it that the type does not show.
func canHold(t types.Type, seen []types.Type) bool {
	for _, s := range seen {
		if s == t {
			return false
		}
	}
	seen = append(seen, t)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Slice:
		return canHold(u.Elem(), seen)
	case *types.Array:
		return canHold(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if canHold(f.Type(), seen) {
				return true
			}
		}
		return false
	case *types.Interface:
		_, param := types.Unalias(t).(*types.TypeParam)
		return !param
	}
	return true
}

// canBeGiven reports whether a function can put a slice into an argument of a type, or give it to one that is
// a function.
func canBeGiven(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan:
		return true
	case *types.Slice:
		return holdsSlice(u.Elem()) || canHold(u.Elem(), nil)
	case *types.Signature:
		for p := range u.Params().Variables() {
			if holdsSlice(p.Type()) || canHold(p.Type(), nil) && !types.IsInterface(p.Type()) {
				return true
			}
		}
	}
	return false
}

// isClone reports whether a function returns a copy of what it is given, whose elements are copied with it.
func isClone(c *ssa.CallCommon) bool {
	fn := c.StaticCallee()
	if o := fn.Origin(); o != nil {
		fn = o
	}
	name := fn.String()
	return (name == "slices.Clone" || name == "bytes.Clone") && !holdsSlice(elementOf(c.Args[0].Type()))
}

// boxed looks at a slice that becomes an interface. Package fmt prints what it is given and forgets it, sort.Slice
// sorts it: a slice without methods is no code that could do more.
func (w *walk) boxed(box *ssa.MakeInterface) {
	if types.NewMethodSet(box.X.Type()).Len() > 0 {
		w.escape(box, "it is used as an interface with methods")
		return
	}
	for _, i := range *box.Referrers() {
		switch i := i.(type) {
		case *ssa.DebugRef:
		case *ssa.Call:
			w.boxGivenTo(i, box)
		case *ssa.Store:
			for _, call := range callsWith(i) {
				if call == nil {
					w.escape(i, "it is assigned to something else")
					return
				}
				w.boxGivenTo(call, box)
			}
		default:
			w.escape(i, "it is given to other code")
		}
	}
}

// boxGivenTo looks at a call that has a slice as an interface.
func (w *walk) boxGivenTo(i *ssa.Call, box ssa.Value) {
	fn := i.Call.StaticCallee()
	switch {
	case fn == nil || fn.Object() == nil || fn.Object().Pkg() == nil:
		w.escape(i, "it is given to a function that is not known")
	case isForgetful(fn.Object().(*types.Func)):
		w.reach(i, true)
	default:
		w.escape(i, "it is given to "+fn.Name()+", which may keep it")
	}
}

// isForgetful reports whether a function of the standard library forgets the slices in interfaces that it is given: it
// has nothing to put them in. Those of package fmt take other interfaces, too, and have written a text when they return;
// so have those of package encoding/json.
func isForgetful(fn *types.Func) bool {
	switch fn.FullName() {
	case "fmt.Print", "fmt.Printf", "fmt.Println", "fmt.Sprint", "fmt.Sprintf", "fmt.Sprintln", "fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln",
		"encoding/json.Marshal", "encoding/json.MarshalIndent", "(*encoding/json.Encoder).Encode",
		"sort.Slice", "sort.SliceStable", "sort.SliceIsSorted", "reflect.DeepEqual":
		return true
	}
	return false
}

// callsWith returns the calls whose last arguments a value is stored to be one of; nil stands for something else.
//
//	fmt.Println(x.s)      an array of interfaces is made, filled, and given as a slice
func callsWith(store *ssa.Store) []*ssa.Call {
	unknown := []*ssa.Call{nil}
	at, ok := store.Addr.(*ssa.IndexAddr)
	if !ok {
		return unknown
	}
	array, ok := at.X.(*ssa.Alloc)
	if !ok || array.Comment != "varargs" {
		return unknown
	}
	var calls []*ssa.Call
	for _, i := range *array.Referrers() {
		part, ok := i.(*ssa.Slice)
		if !ok {
			continue // it is filled
		}
		for _, user := range *part.Referrers() {
			call, ok := user.(*ssa.Call)
			if !ok {
				return unknown
			}
			calls = append(calls, call)
		}
	}
	return calls
}
