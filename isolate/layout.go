package isolate

import (
	"fmt"
	"reflect"
	"strings"
)

// checkNoPointers reports, with the path of the field, that a type holds a
// pointer that the collector would have to see.
func checkNoPointers(t reflect.Type) error {
	path, bad := heapPointer(t)
	if bad == nil {
		return nil
	}
	at := fmt.Sprintf("%v", t)
	if path != "" {
		at = fmt.Sprintf("%v: field %s is a %v, which", t, path, bad)
	}
	return fmt.Errorf("%s holds a pointer into the Go heap: the collector does not look into guarded memory; "+
		"use numbers, arrays of bytes, or an isolate.Ref to another object of the guard", at)
}

// heapPointer finds the first field that holds a pointer, and its type.
func heapPointer(t reflect.Type) (path string, bad reflect.Type) {
	switch t.Kind() {
	case reflect.Bool, reflect.Uintptr, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "", nil
	case reflect.Array:
		if t.Len() == 0 {
			return "", nil
		}
		path, bad = heapPointer(t.Elem())
		return "[0]" + dotted(path), bad
	case reflect.Struct:
		for f := range t.Fields() {
			if path, bad = heapPointer(f.Type); bad != nil {
				return f.Name + dotted(path), bad
			}
		}
		return "", nil
	case reflect.Pointer, reflect.UnsafePointer, reflect.String, reflect.Slice, reflect.Map,
		reflect.Chan, reflect.Func, reflect.Interface:
		return "", t
	default:
		panic(fmt.Sprintf("isolate: unknown kind of type %v", t))
	}
}

// fieldPath names the field at an offset into an object, or a slice of objects.
func fieldPath(t reflect.Type, offset uintptr, slice bool) string {
	var b strings.Builder
	if slice {
		size := max(t.Size(), 1)
		fmt.Fprintf(&b, "[]%s[%d]", typeName(t), offset/size)
		offset %= size
	} else {
		b.WriteString(typeName(t))
	}
	for {
		switch t.Kind() {
		case reflect.Array:
			size := t.Elem().Size()
			if size == 0 {
				return b.String()
			}
			fmt.Fprintf(&b, "[%d]", offset/size)
			t, offset = t.Elem(), offset%size
		case reflect.Struct:
			f, ok := fieldAt(t, offset)
			if !ok {
				return b.String()
			}
			b.WriteString("." + f.Name)
			t, offset = f.Type, offset-f.Offset
		default:
			return b.String()
		}
	}
}

// typeName is the name of a type without its package, or its structure.
func typeName(t reflect.Type) string {
	if name := t.Name(); name != "" {
		return name
	}
	return t.String()
}

// fieldAt is the field of a struct that covers an offset, if it is not padding.
func fieldAt(t reflect.Type, offset uintptr) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if f.Offset <= offset && offset < f.Offset+f.Type.Size() {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// dotted puts a dot before a path that begins with a name.
func dotted(path string) string {
	if path == "" || path[0] == '[' {
		return path
	}
	return "." + path
}
