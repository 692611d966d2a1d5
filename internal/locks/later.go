package locks

import (
	"go/types"
	"slices"
	"strings"
)

// atOnce are packages of the standard library, and functions of others of them, whose
// functions have called what they are given when they return, if they call it at all, and
// on the goroutine that called them, or while it waits. An empty list means all functions.
var atOnce = map[string][]string{
	"bufio": nil, "bytes": nil, "cmp": nil, "container/heap": nil, "container/list": nil, "container/ring": nil, "database/sql/driver": nil,
	"errors": nil, "fmt": nil, "hash": nil, "io": nil, "io/fs": nil, "iter": nil, "log": nil, "log/slog": nil, "maps": nil, "os": nil,
	"path": nil, "path/filepath": nil, "reflect": nil, "regexp": nil, "slices": nil, "sort": nil, "strconv": nil, "strings": nil,
	"unicode": nil, "unicode/utf8": nil,
	"context":        {"WithValue", "Cause"},
	"expvar":         {"Do"},
	"flag":           {"Parse", "Visit", "VisitAll"},
	"go/ast":         nil,
	"go/types":       nil,
	"net/http":       {"Error", "Redirect", "NewRequest", "NewRequestWithContext", "ReadRequest", "ReadResponse", "SetCookie", "MaxBytesReader"},
	"sync":           {"Do", "Range"},
	"sync/atomic":    nil,
	"testing":        {"Run", "Fuzz", "AllocsPerRun", "Benchmark", "Log", "Logf", "Error", "Errorf", "Fatal", "Fatalf", "Skip", "Skipf"},
	"testing/fstest": nil,
	"testing/quick":  nil,
	"time":           {"Format", "Parse"},
}

// atOnceBelow are those with all packages below them.
var atOnceBelow = []string{"compress/", "crypto/", "encoding/", "hash/", "html/", "image/", "math/", "text/"}

// setters are functions of such packages that put what they are given into an object, or a
// variable, that calls it later: a logger calls its writer on any goroutine that logs.
// TestSettersAreThoseOfTheStandardLibrary holds them against the bodies of these packages.
var setters = []string{"Init", "RegisterHash", "Reset", "SetDefault", "SetOutput", "Split"}

// holders are packages of the standard library that return what they are given, or keep it, and
// never call it.
var holders = []string{"cmp", "container/heap", "container/list", "container/ring", "context", "errors", "go/ast", "go/types", "iter", "maps", "reflect", "slices", "sync/atomic"}

// KeepsCallbacks reports whether a function whose body is not at hand may call the functions
// and methods that it is given at another time, or on another goroutine: whether they escape
// to it. All may of which the opposite is not known.
//
//	http.HandleFunc("/", f)         f escapes: the package is not known
//	slog.New(h)                     h escapes into the logger that is returned
//	log.SetOutput(w)                w escapes into a variable
//	sort.Slice(s, less)             less has been called when Slice returns
func KeepsCallbacks(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return false // the method Error of error
	}
	path := fn.Pkg().Path()
	names, known := atOnce[path]
	switch {
	case known && len(names) > 0:
		return !slices.Contains(names, fn.Name())
	case !known && !slices.ContainsFunc(atOnceBelow, func(above string) bool { return strings.HasPrefix(path, above) }):
		return true
	}
	return !slices.Contains(holders, path) && takesCallback(fn) && (slices.Contains(setters, fn.Name()) || returnsObject(fn))
}

// takesCallback reports whether a function has a parameter by which functions or methods get
// to it. An empty interface does not count: of what it holds the standard library calls but a
// few methods, which print.
func takesCallback(fn *types.Func) bool {
	for v := range fn.Signature().Params().Variables() {
		if holdsCallback(v.Type(), make(map[types.Type]bool)) {
			return true
		}
	}
	return false
}

// returnsObject reports whether a function returns something that a callback may escape in. An
// error does not: what it calls is called to print it. A value of a type parameter is one that
// the function was given.
func returnsObject(fn *types.Func) bool {
	for v := range fn.Signature().Results().Variables() {
		if t := v.Type(); !types.Identical(t, types.Universe.Lookup("error").Type()) && holdsCallback(t, make(map[types.Type]bool)) {
			return true
		}
	}
	return false
}

// holdsCallback reports whether functions or methods can be reached from a value of a type.
func holdsCallback(t types.Type, seen map[types.Type]bool) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok || seen[t] {
		return false
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Interface:
		return u.NumMethods() > 0
	case *types.Pointer:
		return holdsCallback(u.Elem(), seen)
	case *types.Slice:
		return holdsCallback(u.Elem(), seen)
	case *types.Array:
		return holdsCallback(u.Elem(), seen)
	case *types.Chan:
		return holdsCallback(u.Elem(), seen)
	case *types.Map:
		return holdsCallback(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if holdsCallback(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

// laterNames are how packages of the field call functions that run their callbacks later,
// or on another goroutine.
var laterNames = []string{"Go", "TryGo", "AfterFunc", "Handle", "HandleFunc", "HandlerFunc", "Submit", "Schedule", "Spawn",
	"Async", "Notify", "SetFinalizer", "AddCleanup", "Cleanup", "Subscribe", "On", "Register", "RegisterFunc", "OnceFunc"}

// leavesCallbacksForLater reports whether a function whose body is not at hand is known, by its
// name, not to run its callbacks before it returns. It is the other side of KeepsCallbacks: what
// may run at once may take a lock again that the caller holds, and what may run later may not have
// the lock, so of a function that is not known both are to be expected.
func leavesCallbacksForLater(fn *types.Func) bool {
	return slices.ContainsFunc(laterNames, func(word string) bool {
		return fn.Name() == word || len(word) > 2 && strings.HasPrefix(fn.Name(), word)
	})
}
