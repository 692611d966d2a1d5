package lockset

import (
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/printed"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// recordReflection records what a function of the standard library does to what it is given as interfaces, and
// finds by reflection:
//
//	json.NewEncoder(w).Encode(m)     a read of the exported fields of what m points to
//	json.Unmarshal(data, m)          a write of them
//	json.Marshal(list)               a read of those of each element, and of what the elements point to
//	fmt.Println(m)                   a read of all fields
func (r *recorder) recordReflection(fn *ssa.Function, args []ssa.Value, instr ssa.Instruction, paths []locks.Path) {
	if fn == nil || fn.Object() == nil || fn.Object().Pkg() == nil || len(fn.Blocks) > 0 {
		return
	}
	how, ok := reflecting[fn.Object().Pkg().Path()]
	if !ok {
		return
	}
	kind := Read
	if slices.ContainsFunc(writingWords, func(word string) bool { return strings.Contains(fn.Name(), word) }) {
		kind = Write
	}
	alone := printed.AddressesAlone(fn, args)
	for _, arg := range args {
		for _, x := range r.asInterfaces(arg, 0) {
			if alone[x] {
				continue
			}
			found := &reflected{recorder: r, how: how, kind: kind, instr: instr, value: x, paths: paths, seen: make(map[types.Type]bool)}
			found.recordFrom(x.Type(), r.values.Place(x))
		}
	}
}

// A reflected is what is found by reflection in one value.
type reflected struct {
	*recorder
	how   reflection
	kind  Kind
	instr ssa.Instruction
	value ssa.Value
	paths []locks.Path
	seen  map[types.Type]bool // structs that were entered: they may lead to themselves
}

// recordFrom records what reflection finds, beginning at a value of a type. The value is a copy unless it is a pointer.
func (r *reflected) recordFrom(t types.Type, base *locks.Place) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		r.recordIn(p.Elem(), base, true)
		return
	}
	r.recordIn(t, base, false)
}

// recordIn records what reflection finds in memory of a type. Memory that is not shared is a copy, which was an access
// where it was made; what it refers to is shared again.
func (r *reflected) recordIn(t types.Type, base *locks.Place, shared bool) {
	if base == nil {
		return
	}
	element := func() *locks.Place { return r.Places.Extend(base, locks.Step{Field: locks.Element}) }
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if !r.how.stopsAtPointers {
			r.recordIn(u.Elem(), base, true)
		}
	case *types.Slice:
		r.recordIn(u.Elem(), element(), true)
	case *types.Array:
		r.recordIn(u.Elem(), element(), shared)
	case *types.Map: // its elements are no variables: they are read as copies
		r.recordIn(u.Elem(), element(), false)
	case *types.Struct:
		r.inStruct(t, u, base, shared)
	}
}

func (r *reflected) inStruct(t types.Type, st *types.Struct, base *locks.Place, shared bool) {
	if r.seen[t] || r.kind == Read && hasMethod(types.NewPointer(t), r.how.instead) {
		return
	}
	r.seen[t] = true
	for i := range st.NumFields() {
		f := r.Places.Canonical(st.Field(i))
		if !r.how.unexported && !f.Exported() || r.how.tag != "" && reflect.StructTag(st.Tag(i)).Get(r.how.tag) == "-" {
			continue
		}
		if shared && !HasOwnLock(f.Type()) {
			r.recordAccess(f, base, r.kind, r.instr, r.value, r.paths)
		}
		if !locks.IsLock(f.Type()) {
			r.recordIn(f.Type(), r.Places.Extend(base, locks.Step{Field: f}), shared)
		}
	}
}

// A reflection is how the functions of a package look at structs.
type reflection struct {
	unexported      bool // the other fields, too
	stopsAtPointers bool // of those that are found in what it is given
	// tag is the key of tags that leave fields out, with "-".
	tag string
	// instead are methods that are called if a struct has one of them.
	instead []string
}

// reflecting are packages of the standard library that find fields by reflection.
var reflecting = map[string]reflection{
	"encoding/json": {tag: "json", instead: []string{"MarshalJSON", "MarshalText"}},
	"encoding/xml":  {tag: "xml", instead: []string{"MarshalXML", "MarshalText"}},
	"encoding/gob":  {instead: []string{"GobEncode", "MarshalBinary"}},
	"fmt":           {unexported: true, stopsAtPointers: true, instead: []string{"Format", "GoString", "Error", "String"}},
	"log":           {unexported: true, stopsAtPointers: true, instead: []string{"Format", "GoString", "Error", "String"}},
	"text/template": {}, "html/template": {},
}

// hasMethod reports whether a type has one of some methods.
func hasMethod(t types.Type, names []string) bool {
	methods := types.NewMethodSet(t)
	return slices.ContainsFunc(names, func(name string) bool { return methods.Lookup(nil, name) != nil })
}

// asInterfaces are the values that an argument hands on as interfaces: one, those of a list of
// arguments, and those that were put into a map, slice or struct of interfaces before:
//
//	json.Marshal(map[string]any{"items": s.items})
func (r *recorder) asInterfaces(arg ssa.Value, depth int) []ssa.Value {
	const deepest = 4
	var all []ssa.Value
	switch v := arg.(type) {
	case *ssa.MakeInterface:
		all, arg = append(all, v.X), v.X
	case *ssa.Slice: // of the array that a list of arguments is
	default:
		return nil
	}
	root := rootValue(r.values.Place(arg))
	if local, ok := arg.(*ssa.Alloc); ok {
		root = local
	}
	if depth < deepest && root != nil {
		for _, s := range r.storedIn(r.ctx.fn)[root] {
			all = append(all, r.asInterfaces(s.value, depth+1)...)
		}
	}
	return all
}
