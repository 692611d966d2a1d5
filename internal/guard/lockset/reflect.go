package lockset

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// reflect records what a function of the standard library does to the structs that it is given
// pointers to as interfaces, and whose fields it finds by reflection:
//
//	json.NewEncoder(w).Encode(m)     a read of the exported fields of what m points to
//	json.Unmarshal(data, m)          a write of them
//	fmt.Println(m)                   a read of all fields
func (r *recorder) reflect(fn *ssa.Function, args []ssa.Value, instr ssa.Instruction, paths []locks.Path) {
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
	for _, arg := range args {
		for _, x := range asInterfaces(arg) {
			r.reflectedFields(x, how, kind, instr, paths)
		}
	}
}

// reflectedFields records an access to the fields of a struct that a value points to.
func (r *recorder) reflectedFields(x ssa.Value, how reflection, kind Kind, instr ssa.Instruction, paths []locks.Path) {
	p, ok := x.Type().Underlying().(*types.Pointer)
	if !ok {
		return // a copy, which was an access where it was made
	}
	st, ok := p.Elem().Underlying().(*types.Struct)
	base := r.values.Place(x)
	if !ok || base == nil || r.isFresh(r.ctx, base, instr) || kind == Read && hasMethod(x.Type(), how.instead) {
		return
	}
	r.fieldsOf(st, base, kind, instr, x, paths, func(f *types.Var) bool { return how.unexported || f.Exported() })
}

// A reflection is how the functions of a package look at structs.
type reflection struct {
	unexported bool // the other fields, too
	// instead are methods that are called if a struct has one of them.
	instead []string
}

// reflecting are packages of the standard library that find fields by reflection.
var reflecting = map[string]reflection{
	"encoding/json": {instead: []string{"MarshalJSON", "MarshalText"}},
	"encoding/xml":  {instead: []string{"MarshalXML", "MarshalText"}},
	"encoding/gob":  {instead: []string{"GobEncode", "MarshalBinary"}},
	"fmt":           {unexported: true, instead: []string{"Format", "GoString", "Error", "String"}},
	"log":           {unexported: true, instead: []string{"Format", "GoString", "Error", "String"}},
	"text/template": {}, "html/template": {},
}

// hasMethod reports whether a type has one of some methods.
func hasMethod(t types.Type, names []string) bool {
	methods := types.NewMethodSet(t)
	return slices.ContainsFunc(names, func(name string) bool { return methods.Lookup(nil, name) != nil })
}

// asInterfaces are the values that an argument hands on as interfaces: one, or those of a list of
// arguments.
func asInterfaces(arg ssa.Value) []ssa.Value {
	switch arg := arg.(type) {
	case *ssa.MakeInterface:
		return []ssa.Value{arg.X}
	case *ssa.Slice:
		array, ok := arg.X.(*ssa.Alloc)
		if !ok {
			return nil
		}
		var all []ssa.Value
		for _, use := range *array.Referrers() {
			element, ok := use.(*ssa.IndexAddr)
			if !ok {
				continue
			}
			for _, set := range *element.Referrers() {
				if store, ok := set.(*ssa.Store); ok {
					all = append(all, asInterfaces(store.Val)...)
				}
			}
		}
		return all
	}
	return nil
}
