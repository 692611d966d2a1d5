package instrument

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/instrument/hooks"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// The standard library takes part in three ways. Some of its packages are
// rewritten as a dependency is. Some functions get a prologue, which hands a
// controlled goroutine's call to the scheduler and otherwise falls through to the
// original body. And a few files are edited or added: the runtime's random numbers,
// coroutines, the way that package testing runs tests.
//
// All of it starts from the sources of the installation that builds the program,
// and fails with a clear error if these are not as expected. What is done does not
// depend on the program, so the rebuilt standard library is in the go command's
// cache from the second program on.

// rewrittenStd are the packages that are rewritten, with the files of them that
// are, or all. A file may be followed by the one function in it.
var rewrittenStd = map[string][]string{
	"bufio":                 nil,
	"bytes":                 {"buffer.go", "reader.go"},
	"container/list":        nil,
	"container/ring":        nil,
	"context":               nil,
	"crypto/tls":            nil,
	"database/sql":          nil,
	"internal/singleflight": nil,
	"internal/sync":         {"hashtriemap.go"},
	"io":                    nil,
	"log":                   nil,
	"log/slog":              nil,
	"math/rand":             {"rand.go", "rng.go"},
	"net":                   {"cgo_unix.go", "dial.go", "dnsclient_unix.go", "lookup.go", "net.go", "pipe.go"},
	"net/http":              nil,
	"net/http/fcgi":         nil,
	"net/http/httptest":     nil,
	"net/http/httputil":     nil,
	"net/rpc":               nil,
	"os/signal":             {"signal.go"},
	"strings":               {"builder.go", "reader.go"},
	"sync":                  {"map.go", "once.go", "oncefunc.go", "waitgroup.go (*WaitGroup).Go"},
	"testing":               nil,
}

// sharedStd are those of them that are rewritten access by access: their types are what
// programs share without a lock.
var sharedStd = map[string]bool{
	"bufio": true, "bytes": true, "container/list": true, "container/ring": true, "math/rand": true, "os/signal": true, "strings": true,
}

// stdScope returns what of a standard package is rewritten.
func stdScope(pkg string) hooks.Scope {
	files := rewrittenStd[pkg]
	if files == nil {
		return nil
	}
	return func(file, function string) bool {
		for _, f := range files {
			name, only, _ := strings.Cut(f, " ")
			if name == file && (function == "" || only == "" || only == function) {
				return true
			}
		}
		return false
	}
}

// patchStd returns the files of the standard library that get prologues and edits,
// by their path below GOROOT/src. Those that were rewritten are patched on top.
func patchStd(src string, done map[string]string) (map[string]string, error) {
	out := make(map[string]string)
	names := make(map[string]bool)
	for n := range prologues {
		names[n] = true
	}
	for n := range edits {
		names[n] = true
	}
	for name := range names {
		file := filepath.Join(src, filepath.FromSlash(name))
		text, ok := done[file]
		if !ok {
			b, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("patching the standard library: %w", err)
			}
			text = string(b)
		}
		text, err := patch(name, text, prologues[name], edits[name])
		if err != nil {
			return nil, fmt.Errorf("the standard library in %s is not one that cofferdam knows: %w", src, err)
		}
		out[name] = text
	}
	for name, text := range additions {
		out[name] = *text
	}
	return out, nil
}

// patch puts prologues into functions of one file and makes edits to it.
func patch(name, text string, first map[string]string, edits []edit) (string, error) {
	usesHooks := false
	for _, p := range first {
		usesHooks = usesHooks || strings.Contains(p, "cofferdamrt.")
	}
	for _, e := range edits {
		if n := strings.Count(text, e.old); n != e.times {
			return "", fmt.Errorf("%s has %q %d times, not %d", name, strings.TrimSpace(e.old), n, e.times)
		}
		text = strings.ReplaceAll(text, e.old, e.new)
		usesHooks = usesHooks || strings.Contains(e.new, "cofferdamrt.")
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return "", err
	}
	out := source.NewBuffer([]byte(text))
	tok := fset.File(f.FileStart)
	found := make(map[string]bool)
	for _, d := range f.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Body == nil {
			continue
		}
		if p, ok := first[load.FuncName(fd)]; ok {
			found[load.FuncName(fd)] = true
			out.InsertAfter(tok.Offset(fd.Body.Lbrace)+1, " "+p+";")
		}
	}
	for fn := range first {
		if !found[fn] {
			return "", fmt.Errorf("%s has no function %s", name, fn)
		}
	}
	if usesHooks && !slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"cofferdamrt"` }) {
		out.InsertAfter(tok.Offset(f.Name.End()), `; import cofferdamrt "cofferdamrt"`)
	}
	patched, err := out.Bytes()
	return string(patched), err
}
