package tolerate

import (
	"bytes"
	"cmp"
	"reflect"
	"strings"
	"unsafe"
)

// A Merge is what a straight section makes of a part of a variable, a number say, that both
// it and careless code have changed. A rewriter that has seen how the section changes it
// knows more than the closed form of the paper, by which the careless value stays:
//
//	x.n += 2                      Adding: both changes count, as if the section had come last
//	x.peak = max(x.peak, n)       Raising: the greater value stays
//	x.log = append(x.log, e)      Appending: what the section appended comes behind theirs
//	x.state = next(x.state)       Keeping: what the section wrote stands
//
// The first three are what the section would have done had it come after the careless write,
// whatever that was.
type Merge string

const (
	Yielding  Merge = ""       // the closed form: the careless value stays
	Keeping   Merge = "ours"   // the section's value stays
	Adding    Merge = "delta"  // see [Delta]
	Raising   Merge = "max"    // see [Max]
	Lowering  Merge = "min"    // see [Min]
	Appending Merge = "append" // see [Append]
	Refusing  Merge = "refuse" // see [Refuse]
)

// resolver returns the function that resolves variables of a type, nil for the closed form.
func (m Merge) resolver(t *typed) func(result, theirs, ours, before unsafe.Pointer) {
	switch m {
	case Yielding:
		return nil
	case Refusing:
		return func(_, theirs, ours, before unsafe.Pointer) {
			panic(&Refusal{Theirs: t.box(theirs), Ours: t.box(ours), Before: t.box(before)})
		}
	}
	return func(result, theirs, ours, before unsafe.Pointer) {
		m.parts(t.reflected, result, theirs, ours, before)
	}
}

// parts merges each part of a value by itself.
func (m Merge) parts(t reflect.Type, result, theirs, ours, before unsafe.Pointer) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			m.parts(f.Type, unsafe.Add(result, f.Offset), unsafe.Add(theirs, f.Offset), unsafe.Add(ours, f.Offset), unsafe.Add(before, f.Offset))
		}
	case reflect.Array:
		size := t.Elem().Size()
		for i := range t.Len() {
			at := uintptr(i) * size
			m.parts(t.Elem(), unsafe.Add(result, at), unsafe.Add(theirs, at), unsafe.Add(ours, at), unsafe.Add(before, at))
		}
	default:
		at := func(p unsafe.Pointer) reflect.Value { return reflect.NewAt(t, p).Elem() }
		same := func(p unsafe.Pointer) bool {
			return bytes.Equal(unsafe.Slice((*byte)(p), t.Size()), unsafe.Slice((*byte)(before), t.Size()))
		}
		switch {
		case same(ours):
			at(result).Set(at(theirs))
		case same(theirs):
			at(result).Set(at(ours))
		default:
			m.leaf(at(result), at(theirs), at(ours), at(before))
		}
	}
}

// leaf merges what both have changed. What cannot be merged is the section's.
func (m Merge) leaf(result, theirs, ours, before reflect.Value) {
	result.Set(ours)
	switch k := ours.Kind(); {
	case m == Appending && k == reflect.Slice:
		if n := before.Len(); ours.Len() >= n {
			result.Set(reflect.AppendSlice(theirs.Slice3(0, theirs.Len(), theirs.Len()), ours.Slice(n, ours.Len())))
		}
	case m == Appending && k == reflect.String:
		if added, ok := strings.CutPrefix(ours.String(), before.String()); ok {
			result.SetString(theirs.String() + added)
		}
	case ours.CanInt():
		result.SetInt(merged(m, theirs.Int(), ours.Int(), before.Int()))
	case ours.CanUint():
		result.SetUint(merged(m, theirs.Uint(), ours.Uint(), before.Uint()))
	case ours.CanFloat():
		result.SetFloat(merged(m, theirs.Float(), ours.Float(), before.Float()))
	}
}

func merged[T interface {
	Number
	cmp.Ordered
}](m Merge, theirs, ours, before T) T {
	switch m {
	case Adding:
		return Delta(theirs, ours, before)
	case Raising:
		return Max(theirs, ours, before)
	case Lowering:
		return Min(theirs, ours, before)
	}
	return ours
}
