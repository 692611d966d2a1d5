package instrument

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/instrument/hooks"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// The standard library takes part in three ways. Its packages are rewritten, so that the
// accesses that they make for the program are seen, and in some of them goroutines and
// channels are under control. Some functions get a prologue, which hands a
// controlled goroutine's call to the scheduler and otherwise falls through to the
// original body. And a few files are edited or added: the runtime's random numbers,
// coroutines, the way that package testing runs tests.
//
// All of it starts from the sources of the installation that builds the program,
// and fails with a clear error if these are not as expected. What is done does not
// depend on the program, so the rebuilt standard library is in the go command's
// cache from the second program on.

// controlledStd are the packages whose goroutines and channels are under control, with the
// files of them that are rewritten, or all. A file may be followed by the one function in it.
var controlledStd = map[string][]string{
	"context":               nil,
	"crypto/tls":            nil,
	"database/sql":          nil,
	"internal/singleflight": nil,
	"internal/sync":         {"hashtriemap.go"},
	"io":                    nil,
	"log":                   nil,
	"log/slog":              nil,
	"net":                   {"cgo_unix.go", "dial.go", "dnsclient_unix.go", "lookup.go", "net.go", "pipe.go"},
	"net/http":              nil,
	"net/http/fcgi":         nil,
	"net/http/httptest":     nil,
	"net/http/httputil":     nil,
	"net/rpc":               nil,
	"net/textproto":         nil,
	"os/signal":             {"signal.go"},
	"sync":                  {"map.go", "once.go", "oncefunc.go", "waitgroup.go (*WaitGroup).Go"},
	"testing":               nil,
}

// partlyStd are packages of which only some files are rewritten access by access: in the rest
// of them the runtime does what matters.
var partlyStd = map[string][]string{
	"internal/reflectlite": {"swapper.go"},
	"os/signal":            {"signal.go"},
	"reflect":              {"swapper.go"},
}

// withoutAccesses are packages and trees of them (with a slash at the end) whose accesses
// have no hooks.
//
//   - What is below the hooks, or beside them: the runtime, what it consists of, and what
//     the hooks import.
//   - What stands at the border of what can be controlled, and is patched there: locks,
//     time, files, system calls, reflection.
//   - Package testing, whose memory is not the program's.
//   - What talks to networks: its buffers pass through system calls and the network in
//     memory, whose order is seen there.
//   - Cryptography that is checked against a sum of its own code when a program starts.
var withoutAccesses = []string{
	"internal/", "runtime", "runtime/", "math/bits", "sync", "sync/", "unsafe",
	"iter", "net", "os", "os/", "plugin", "reflect", "structs", "syscall", "time", "unique", "vendor/", "weak",
	"testing", "testing/",
	"net/http", "net/http/", "net/rpc", "crypto/tls",
	"crypto/internal/",
}

// stdMode returns how a package of the standard library is built, as far as its path tells:
// see seesAll.
func stdMode(path string) hooks.Mode {
	_, partly := partlyStd[path]
	_, controlled := controlledStd[path]
	without := slices.ContainsFunc(withoutAccesses, func(p string) bool {
		return p == path || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p)
	})
	switch {
	case partly, !without:
		return hooks.Library
	case controlled:
		return hooks.Sync
	}
	return hooks.Plain
}

// seesAll reports whether all that orders the accesses of a package has hooks. In one that uses
// channels which are not under control it does not: what it hands over by them would seem
// to race.
func seesAll(p *load.Checked) bool {
	_, controlled := controlledStd[p.PkgPath]
	_, partly := partlyStd[p.PkgPath]
	if controlled || partly {
		return true
	}
	for _, f := range p.Files {
		if slices.ContainsFunc(f.Syntax.Decls, func(d ast.Decl) bool { return usesChannels(p.Info, d) }) {
			return false
		}
	}
	return true
}

// usesChannels reports whether there are go statements or operations on channels in a piece of
// syntax.
func usesChannels(info *types.Info, n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.RangeStmt:
			if t := info.TypeOf(n.X); t != nil {
				_, isChannel := t.Underlying().(*types.Chan)
				found = found || isChannel
			}
		}
		return !found
	})
	return found
}

// stdScope returns what of a standard package is rewritten.
func stdScope(pkg string) hooks.Scope {
	files := controlledStd[pkg]
	if some, ok := partlyStd[pkg]; ok {
		files = some
	}
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
