package hooks

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/load"
)

var corpus = flag.String("corpus", "", "more packages to rewrite and type-check, by patterns")

// TestRewrittenPackagesTypeCheck rewrites real packages in memory mode, function by
// function what the hooks will see, and type-checks the result.
func TestRewrittenPackagesTypeCheck(t *testing.T) {
	patterns := strings.Fields("bufio bytes container/... database/sql encoding/json go/types internal/sync log/slog net net/http/httptest sort sync testing text/template golang.org/x/tools/go/ssa golang.org/x/tools/go/packages")
	if *corpus != "" {
		patterns = strings.Fields(*corpus)
	}
	all, err := load.List(load.Config{Patterns: append(patterns, "github.com/cofferdam-go/cofferdam/internal/rt"), Tests: *corpus != ""})
	if err != nil {
		t.Fatal(err)
	}
	var rt *packages.Package
	for _, p := range all {
		if p.PkgPath == "github.com/cofferdam-go/cofferdam/internal/rt" {
			rt = p
		}
	}
	checker := load.NewChecker()
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	var mu sync.Mutex
	sites, files, missed := 0, 0, 0
	for _, p := range load.Variants(all) {
		if !root(all, p) || p == rt || len(p.GoFiles) == 0 {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			limit <- struct{}{}
			defer func() { <-limit }()
			c, err := checker.Check(p)
			if err != nil {
				t.Errorf("before rewriting: %v", err)
				return
			}
			for _, mode := range []Mode{Sync, Memory, Library} {
				out := Rewrite(c, mode, nil)
				if err := checkRewritten(checker, c, out, rt); err != nil {
					t.Errorf("%s in mode %v: %v", p.PkgPath, mode, err)
				}
				mu.Lock()
				files += len(out)
				for _, f := range out {
					sites += len(f.Sites)
					missed += len(f.Missed)
				}
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	t.Logf("%d files, %d sites, %d constructs left alone", files, sites, missed)
}

func root(all []*packages.Package, p *packages.Package) bool {
	for _, r := range all {
		if r == p {
			return true
		}
	}
	return false
}

// checkRewritten type-checks a package with some of its files rewritten.
func checkRewritten(checker *load.Checker, c *load.Checked, out []File, rt *packages.Package) error {
	fset := token.NewFileSet()
	texts := make(map[string]string)
	for _, f := range out {
		texts[f.Name] = f.Text(0)
	}
	var files []*ast.File
	for _, f := range c.Files {
		text, ok := texts[f.Name]
		if !ok {
			text = string(f.Text)
		}
		if before, after := strings.Count(string(f.Text), "\n"), strings.Count(text, "\n"); after < before {
			return fmt.Errorf("%s has lost lines", f.Name)
		}
		syntax, err := parser.ParseFile(fset, f.Name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, syntax)
	}
	imports := make(map[string]*packages.Package)
	for path, p := range c.Imports {
		imports[path] = p
	}
	imports["cofferdamrt"] = rt
	p := *c.Package
	p.Imports = imports
	var wrong []string
	conf := types.Config{
		Importer:    checker.Importer(&p),
		FakeImportC: true,
		Sizes:       p.TypesSizes,
		GoVersion:   c.Language(),
		Error: func(err error) {
			if len(wrong) < 5 {
				e := err.(types.Error)
				wrong = append(wrong, err.Error()+"\n\t"+lineOf(texts, e))
			}
		},
	}
	if _, err := conf.Check(p.PkgPath, fset, files, nil); err != nil && !importsC(files) {
		return fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// lineOf returns the rewritten line that an error is about.
func lineOf(texts map[string]string, e types.Error) string {
	p := e.Fset.PositionFor(e.Pos, false)
	lines := strings.Split(texts[p.Filename], "\n")
	if p.Line <= len(lines) {
		return lines[p.Line-1]
	}
	return ""
}

func importsC(files []*ast.File) bool {
	for _, f := range files {
		for _, i := range f.Imports {
			if i.Path.Value == `"C"` {
				return true
			}
		}
	}
	return false
}
