// Package printed says which arguments a call such as fmt.Printf reads. To print an object reads its fields, so that
// package lockset counts such a call as accesses; but %p and %T print an address and a type, and read none.
package printed

import (
	"go/constant"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// AddressesAlone are the pointers of which a call prints nothing but the type or the address, by the verbs
// of its format: what they point to is not looked at. It returns nil for a call without a format that is
// known.
//
//	fmt.Sprintf("node %p of %T has %v", n, n, m)     reads m's fields, and none of n's
func AddressesAlone(fn *ssa.Function, args []ssa.Value) map[ssa.Value]bool {
	list, verbs := formatOf(fn, args)
	if verbs == nil {
		return nil
	}
	alone := make(map[ssa.Value]bool)
	for at, x := range list {
		looksAt := at >= len(verbs) || verbs[at] != 'T' && verbs[at] != 'p'
		if was, printed := alone[x]; !printed || was {
			alone[x] = !looksAt
		}
	}
	return alone
}

// formatOf returns what a call prints by a format that is known, by its place in the list of arguments, and
// the verbs for it; no verbs if they are not known.
func formatOf(fn *ssa.Function, args []ssa.Value) (map[int]ssa.Value, []rune) {
	if !fn.Signature.Variadic() || !strings.HasSuffix(fn.Name(), "f") || len(args) < 2 {
		return nil, nil
	}
	format, ok := args[len(args)-2].(*ssa.Const)
	slice, also := args[len(args)-1].(*ssa.Slice)
	if !ok || !also || format.Value == nil || format.Value.Kind() != constant.String {
		return nil, nil
	}
	return elementsOf(slice), verbsOf(constant.StringVal(format.Value))
}

// elementsOf are the values that were made interfaces and put into the array of a list of arguments, by their
// places in it.
func elementsOf(list *ssa.Slice) map[int]ssa.Value {
	all := make(map[int]ssa.Value)
	array, ok := list.X.(*ssa.Alloc)
	if !ok {
		return nil
	}
	for _, r := range *array.Referrers() {
		element, ok := r.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		at, ok := element.Index.(*ssa.Const)
		if !ok {
			continue
		}
		for _, user := range *element.Referrers() {
			store, ok := user.(*ssa.Store)
			if !ok {
				continue
			}
			if made, ok := store.Val.(*ssa.MakeInterface); ok && isPointer(made.X.Type()) {
				all[int(at.Int64())] = made.X
			}
		}
	}
	return all
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// verbsOf returns the verbs of a format, one for each argument; '*' for one that is a width or a precision.
// It returns none if the format says which argument a verb is for.
func verbsOf(format string) []rune {
	var verbs []rune
	inVerb := false
	for _, c := range format {
		switch {
		case !inVerb:
			inVerb = c == '%'
		case strings.ContainsRune("+-# 0123456789.", c):
		case c == '*':
			verbs = append(verbs, c)
		case c == '[':
			return nil
		default:
			if c != '%' {
				verbs = append(verbs, c)
			}
			inVerb = false
		}
	}
	return verbs
}
