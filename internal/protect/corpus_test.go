package protect

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/load"
)

// TestCorpusTypeChecks rewrites packages of the standard library that use locks
// heavily, and this module's own. What comes of it must be correct Go, with every line
// where it was. Auto is tolerate for what it does not isolate.
func TestCorpusTypeChecks(t *testing.T) {
	patterns := []string{
		"context", "database/sql", "expvar", "go/token", "internal/poll", "io", "log", "log/slog",
		"net", "net/http", "net/rpc", "os/exec", "os/signal", "runtime/pprof", "testing", "time",
		module + "internal/finding", module + "isolate", module + "stm", module + "internal/rt",
	}
	pkgs, err := load.Packages(load.Config{Patterns: patterns})
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := load.List(load.Config{Patterns: append(patterns, module+"tolerate", module+"internal/protect/watch", module+"internal/protect/aside", module+"internal/protect/wicket")})
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]*packages.Package)
	packages.Visit(hooks, nil, func(p *packages.Package) { listed[p.PkgPath] = p })
	known := Analyse(pkgs)
	for _, mode := range []Mode{Auto, Detect} {
		plan, err := known.Rewrite(Config{Mode: mode, Least: 0.3})
		if err != nil {
			t.Fatal(err)
		}
		sections, isolated := 0, 0
		for _, s := range plan.Sections {
			if len(s.Protected) > 0 {
				sections++
			}
			if len(s.Isolated) > 0 {
				isolated++
			}
		}
		t.Logf("%s: %d files, %d sections with copies, %d on pages", mode, len(plan.Files), sections, isolated)
		if sections < 50 {
			t.Errorf("only %d sections of so many packages have copies", sections)
		}
		for _, p := range pkgs {
			checkPackage(t, listed, plan, p)
		}
	}
}

// checkPackage type-checks a package with its rewritten files.
func checkPackage(t *testing.T, listed map[string]*packages.Package, plan *Program, p *packages.Package) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	changed := false
	for _, f := range p.Syntax {
		name := p.Fset.File(f.FileStart).Name()
		var source any
		if text, ok := plan.Files[name]; ok {
			source, changed = text.Text, true
		}
		parsed, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		files = append(files, parsed)
	}
	if !changed {
		return
	}
	imports := make(map[string]*packages.Package)
	for path, i := range p.Imports {
		imports[path] = listed[i.PkgPath]
	}
	imports["cofferdamrt/tolerate"] = listed[module+"tolerate"]
	imports["cofferdamrt/protect/watch"] = listed[module+"internal/protect/watch"]
	imports["cofferdamrt/protect/aside"] = listed[module+"internal/protect/aside"]
	imports["cofferdamrt/protect/wicket"] = listed[module+"internal/protect/wicket"]
	with := &packages.Package{PkgPath: p.PkgPath, Name: p.Name, Imports: imports}
	wrong := 0
	conf := types.Config{Importer: load.NewChecker().Importer(with), Sizes: p.TypesSizes, Error: func(err error) {
		// cgo is not processed here.
		if wrong++; wrong <= 3 && !strings.Contains(err.Error(), "_C") {
			t.Error(err)
		}
	}}
	_, _ = conf.Check(p.PkgPath, fset, files, nil)
}
