package library

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// writers are functions that write out what they are given, and call its methods Error and String.
// They touch nothing else but what is flat.
var writers = []string{"fmt.Errorf", "fmt.Sprint", "fmt.Sprintf", "fmt.Sprintln"}

// fillers are the same with somewhere to write to, their first argument.
var fillers = []string{"fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln"}

// IsFiller reports whether a function writes out what it is given to its first argument.
func IsFiller(callee *types.Func) bool { return slices.Contains(fillers, callee.FullName()) }

// lookers are functions that look through what an error wraps, their first argument, and call
// the methods Is and Unwrap of all that. What else errors.Is is given is compared, and no more.
var lookers = []string{"errors.AsType", "errors.Is", "errors.Unwrap"}

// IsLooker reports whether a function looks through what an error wraps.
func IsLooker(callee *types.Func, call *ast.CallExpr) bool {
	return !call.Ellipsis.IsValid() && slices.Contains(lookers, callee.FullName())
}

// IsAs reports whether a call is of errors.As, with a target whose type can be seen.
func IsAs(info *types.Info, callee *types.Func, call *ast.CallExpr) bool {
	if callee.FullName() != "errors.As" || len(call.Args) != 2 {
		return false
	}
	_, ok := info.TypeOf(call.Args[1]).Underlying().(*types.Pointer)
	return ok
}

// A Written says what becomes of an argument of a function that writes out what it is given.
type Written uint8

const (
	AsIs       Written = iota // it leads nowhere, and has no methods that are called
	AsElements                // the elements of a slice, which lead nowhere
	AsError                   // what its method Error returns
	AsMethods                 // what its method Error or String returns, or what it is, if it leads nowhere
	AsValue                   // what it is, which must lead nowhere, whatever its methods are
	AsValues                  // likewise, each of a slice of them
	Unknown
)

// Writes says what becomes of each argument of a call of a function that writes out what it is
// given. It is not ok if the function is none, or cannot be called as it is.
func Writes(info *types.Info, callee *types.Func, call *ast.CallExpr) (all []Written, ok bool) {
	if !slices.Contains(writers, callee.FullName()) && !IsFiller(callee) {
		return nil, false
	}
	for i := range call.Args {
		how := written(info, callee, call, i)
		if how == Unknown {
			return nil, false
		}
		all = append(all, how)
	}
	return all, true
}

func written(info *types.Info, callee *types.Func, call *ast.CallExpr, i int) Written {
	first := 0 // of the arguments that are written out
	if IsFiller(callee) {
		first++
	}
	t, verb := info.TypeOf(call.Args[i]), 'v'
	if i < first {
		return AsIs
	}
	if strings.HasSuffix(callee.Name(), "f") && i > first {
		verb = verbOf(info.Types[call.Args[first]].Value, i-first-1)
	}
	asText := strings.ContainsRune("vswqxX", verb)
	switch {
	case call.Ellipsis.IsValid() && i == len(call.Args)-1:
		return AsValues
	case isFlat(t, isWrittenOut), verb == 'T':
		return AsIs
	case verb == 'p':
		return Unknown
	case IsError(t) && asText:
		return AsError
	case types.IsInterface(t) && asText:
		return AsMethods
	case types.IsInterface(t):
		return AsValue
	case asText && hasText(t):
		return AsMethods
	}
	if s, ok := types.Unalias(t).(*types.Slice); ok && verb != 0 && isFlat(s.Elem(), isWrittenOut) {
		return AsElements
	}
	return Unknown
}

// verbOf is the verb of an argument by a format, 0 if it cannot be seen.
func verbOf(format constant.Value, argument int) rune {
	if format == nil {
		return 0
	}
	verbs, ok := verbsOf(constant.StringVal(format))
	if !ok || argument >= len(verbs) {
		return 0
	}
	return verbs[argument]
}

// IsError reports whether a type is error.
func IsError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// IsTypeParam reports whether a type is a type parameter.
func IsTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

// isWrittenOut reports whether package fmt calls a method of the name of what it writes.
func isWrittenOut(method string) bool {
	return slices.Contains([]string{"Error", "String", "Format", "GoString"}, method)
}

// hasText reports whether a type has a method that says what is written of it, and none that
// writes by itself.
func hasText(t types.Type) bool {
	methods := types.NewMethodSet(t)
	has := func(name string) bool { return methods.Lookup(nil, name) != nil }
	return (has("Error") || has("String")) && !has("Format")
}

// verbsOf returns the verbs of a format, one for each argument in turn. It is not ok with flags
// that change that, or how an error is written.
func verbsOf(format string) (verbs []rune, ok bool) {
	const flags = "+- 0123456789."
	inVerb := false
	for _, c := range format {
		switch {
		case !inVerb:
			inVerb = c == '%'
		case c == '#' || c == '*' || c == '[':
			return nil, false
		case !strings.ContainsRune(flags, c):
			inVerb = false
			if c != '%' {
				verbs = append(verbs, c)
			}
		}
	}
	return verbs, true
}
