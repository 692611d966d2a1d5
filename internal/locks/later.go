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

// KeepsCallbacks reports whether a function whose body is not at hand may call the functions
// and methods that it is given at another time, or on another goroutine: whether they escape
// to it. All may of which the opposite is not known.
func KeepsCallbacks(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return false // the method Error of error
	}
	path := fn.Pkg().Path()
	if names, ok := atOnce[path]; ok {
		return len(names) > 0 && !slices.Contains(names, fn.Name())
	}
	return !slices.ContainsFunc(atOnceBelow, func(above string) bool { return strings.HasPrefix(path, above) })
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
