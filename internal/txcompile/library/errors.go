package library

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// ofErrors are functions that read errors and call their methods, and do nothing else but with
// what is flat. Those of package fmt call Error; those of package errors call Is and Unwrap, of
// all that an error, their first argument, wraps.
var ofErrors = []string{"errors.Is", "errors.Unwrap", "fmt.Errorf", "fmt.Sprint", "fmt.Sprintf", "fmt.Sprintln"}

// IsOfErrors reports whether a function can be called as it is if methods of the errors that it is
// given can.
func IsOfErrors(info *types.Info, callee *types.Func, call *ast.CallExpr) bool {
	if call.Ellipsis.IsValid() || !slices.Contains(ofErrors, callee.FullName()) {
		return false
	}
	for i, e := range call.Args {
		if t := info.TypeOf(e); !IsFlat(t) && !(IsError(t) && isWrittenByError(info, callee, call, i)) {
			return false
		}
	}
	return true
}

// IsError reports whether a type is error.
func IsError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// isWrittenByError reports whether an argument is written as what its method Error returns, if
// it is written at all. Other verbs than those of strings write what is in its memory.
func isWrittenByError(info *types.Info, callee *types.Func, call *ast.CallExpr, i int) bool {
	if !strings.HasSuffix(callee.Name(), "f") {
		return true
	}
	format := info.Types[call.Args[0]].Value
	if format == nil || i == 0 {
		return false
	}
	verbs, ok := verbsOf(constant.StringVal(format))
	return ok && i <= len(verbs) && strings.ContainsRune("vswqxX", verbs[i-1])
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
