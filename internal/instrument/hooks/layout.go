package hooks

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"
)

// layout describes how a value lies in memory, as package trace reads it: the names of
// the basic types, pointer, slice, interface, duration and time, [nxm]T for arrays of n elements of m bytes, and
// struct{0 name T; 8 name T} with the offsets of the fields. It is empty where that is
// not known, as for a type parameter.
func layout(t types.Type, sizes types.Sizes) string {
	text, ok := appendLayout(t, sizes, 0)
	if !ok || len(text) > maxLayout {
		return ""
	}
	return text
}

// entryLayout describes what a map holds for a key: map{K}V.
func entryLayout(m *types.Map, sizes types.Sizes) string {
	key, value := layout(m.Key(), sizes), layout(m.Elem(), sizes)
	if key == "" || value == "" {
		return ""
	}
	return "map{" + key + "}" + value
}

// maxLayout is how long a layout can be: no more of a value is recorded than an event
// holds, so that of what is longer most could not be shown.
const maxLayout = 200

func appendLayout(t types.Type, sizes types.Sizes, depth int) (text string, ok bool) {
	if _, param := types.Unalias(t).(*types.TypeParam); param || depth > 4 || sizes == nil {
		return "", false
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" {
		switch n.Obj().Name() {
		case "Duration":
			return "duration", true
		case "Time":
			return "time", true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.UnsafePointer {
			return "pointer", true
		}
		return u.Name(), u.Kind() != types.Invalid && u.Info()&types.IsUntyped == 0
	case *types.Pointer, *types.Chan, *types.Map, *types.Signature:
		return "pointer", true
	case *types.Slice:
		return "slice", true
	case *types.Interface:
		return "interface", true
	case *types.Array:
		elem, ok := appendLayout(u.Elem(), sizes, depth+1)
		if !ok || hasParam(u.Elem()) {
			return "", false
		}
		return fmt.Sprintf("[%dx%d]%s", u.Len(), sizes.Sizeof(u.Elem()), elem), true
	case *types.Struct:
		return structLayout(u, sizes, depth)
	}
	return "", false
}

func structLayout(s *types.Struct, sizes types.Sizes, depth int) (string, bool) {
	var fields []*types.Var
	for f := range s.Fields() {
		if hasParam(f.Type()) {
			return "", false
		}
		fields = append(fields, f)
	}
	offsets := sizes.Offsetsof(fields)
	parts := make([]string, len(fields))
	for i, f := range fields {
		text, ok := appendLayout(f.Type(), sizes, depth+1)
		if !ok {
			return "", false
		}
		parts[i] = strconv.FormatInt(offsets[i], 10) + " " + f.Name() + " " + text
	}
	return "struct{" + strings.Join(parts, "; ") + "}", true
}

// hasParam reports whether the size of a type depends on a type parameter.
func hasParam(t types.Type) bool {
	switch u := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Named:
		return hasParam(u.Underlying())
	case *types.Array:
		return hasParam(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if hasParam(f.Type()) {
				return true
			}
		}
	}
	return false
}
