// Package panictext says what Go's runtime prints for the value of a panic. The runtime has
// no function for it, and package fmt, which says something else, cannot be imported below
// package sync.
package panictext

import (
	"runtime"
	"strconv"
	"unsafe"
)

// Of returns what the runtime prints for a panic with the given value, after
// "panic: ".
func Of(value any) (text string) {
	defer func() {
		if recover() != nil {
			text = "panic while printing panic value"
		}
	}()
	switch v := value.(type) {
	case error:
		return indent(v.Error())
	case interface{ String() string }:
		return indent(v.String())
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int8:
		return strconv.Itoa(int(v))
	case int16:
		return strconv.Itoa(int(v))
	case int32:
		return strconv.Itoa(int(v))
	case int64:
		return strconv.FormatInt(v, 10)
	case uint:
		return strconv.FormatUint(uint64(v), 10)
	case uint8:
		return strconv.FormatUint(uint64(v), 10)
	case uint16:
		return strconv.FormatUint(uint64(v), 10)
	case uint32:
		return strconv.FormatUint(uint64(v), 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case uintptr:
		return strconv.FormatUint(uint64(v), 10)
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case complex64:
		return strconv.FormatComplex(complex128(v), 'g', -1, 64)
	case complex128:
		return strconv.FormatComplex(v, 'g', -1, 128)
	case string:
		return indent(v)
	}
	return customText(value)
}

// The numbers that the runtime gives to the basic kinds of types, from bool to
// complex128, and to string.
const (
	kindBool       = 1
	kindComplex128 = 16
	kindString     = 24
)

// basics are values of the basic types, by the numbers of their kinds.
var basics = [kindComplex128 + 1]any{
	nil, false, int(0), int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0), uint64(0),
	uintptr(0), float32(0), float64(0), complex64(0), complex128(0),
}

// An eface is how the runtime represents an interface value.
type eface struct {
	typ *struct {
		_    [2]uintptr // size, pointers
		_    uint32     // hash
		_    [3]uint8   // flags, alignments
		kind uint8
	}
	data unsafe.Pointer
}

// customText is Of for a type that the program has defined.
func customText(value any) string {
	e := (*eface)(unsafe.Pointer(&value))
	name := typeName(value)
	switch kind := e.typ.kind & 31; {
	case kind == kindString:
		return name + `("` + indent(*(*string)(e.data)) + `")`
	case kind >= kindBool && kind < kindComplex128-1:
		return name + "(" + Of(e.as(basics[kind])) + ")"
	case kind >= kindComplex128-1 && kind <= kindComplex128:
		return name + Of(e.as(basics[kind]))
	}
	return "(" + name + ") 0x" + strconv.FormatUint(uint64(uintptr(e.data)), 16)
}

// as returns the value with the type of another.
func (e *eface) as(other any) any {
	(*eface)(unsafe.Pointer(&other)).data = e.data
	return other
}

// typeName returns the name of a value's type as the runtime spells it. The runtime
// says it in the error of a type assertion that fails, and nowhere else that can be
// reached from here.
func typeName(value any) (name string) {
	defer func() {
		err, ok := recover().(runtime.Error)
		if !ok {
			return
		}
		const start, end = "interface conversion: ", " is not "
		text := err.Error()
		if len(text) < len(start) {
			return
		}
		text = text[len(start):]
		for i := 0; i+len(end) <= len(text); i++ {
			if text[i:i+len(end)] == end {
				name = text[:i]
				return
			}
		}
	}()
	_ = value.(interface{ nobodyHasThisMethod() })
	return ""
}

// indent puts a tab behind each line break, as the runtime does.
func indent(text string) string {
	var b []byte
	for i := range len(text) {
		b = append(b, text[i])
		if text[i] == '\n' {
			b = append(b, '\t')
		}
	}
	return string(b)
}
