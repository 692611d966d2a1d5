package hooks

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

var update = flag.Bool("update", false, "write what the rewriter makes into the test files")

const rtPath = "github.com/cofferdam-go/cofferdam/internal/rt"

// listed returns the packages that the files of testdata/rewrite import, and rt.
func listed(t *testing.T) map[string]*packages.Package {
	t.Helper()
	all, err := load.List(load.Config{Patterns: []string{rtPath, "fmt", "runtime", "sync", "sync/atomic", "time", "unsafe"}})
	if err != nil {
		t.Fatal(err)
	}
	imports := make(map[string]*packages.Package)
	for _, p := range all {
		imports[p.PkgPath] = p
	}
	imports["cofferdamrt"] = imports[rtPath]
	return imports
}

// TestRewrite holds what each construct becomes. An archive's comment says what it
// is about; a line "mode: sync" or "go: 1.21" in it changes how it is rewritten.
// Every rewritten file is type-checked.
func TestRewrite(t *testing.T) {
	imports := listed(t)
	names, err := filepath.Glob("testdata/rewrite/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			mode, lang := Memory, "1.26"
			for line := range strings.SplitSeq(string(a.Comment), "\n") {
				if line == "mode: sync" {
					mode = Sync
				}
				if v, ok := strings.CutPrefix(line, "go: "); ok {
					lang = v
				}
			}
			p := &packages.Package{PkgPath: "example.com/p", Name: "p", Imports: imports, Module: &packages.Module{GoVersion: lang}, TypesSizes: types.SizesFor("gc", "amd64")}
			c := parse(t, p, string(a.Files[0].Data))
			got, missed := string(a.Files[0].Data), ""
			for _, f := range Rewrite(c, mode, nil) {
				got = f.Text(0)
				for _, m := range f.Missed {
					missed += m.What + ": " + m.Why + "\n"
				}
			}
			parse(t, p, got)
			want := []txtar.File{a.Files[0], {Name: "out.go", Data: []byte(got)}}
			if missed != "" {
				want = append(want, txtar.File{Name: "missed", Data: []byte(missed)})
			}
			if *update {
				a.Files = want
				if err := os.WriteFile(name, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(&txtar.Archive{Files: a.Files})), string(txtar.Format(&txtar.Archive{Files: want}))); diff != "" {
				t.Errorf("the rewriter makes something else (-recorded +made):\n%s", diff)
			}
		})
	}
}

// parse type-checks a file of a package.
func parse(t *testing.T, p *packages.Package, text string) *load.Checked {
	t.Helper()
	c := &load.Checked{Package: p, Fset: token.NewFileSet(), Info: load.NewInfo()}
	f, err := parser.ParseFile(c.Fset, "in.go", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	file, err := source.NewFile(c.Fset, f, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: load.NewChecker().Importer(p), Sizes: p.TypesSizes, GoVersion: c.Language()}
	if file.Types, err = conf.Check(p.PkgPath, c.Fset, []*ast.File{f}, c.Info); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	file.Package, file.Info = p, c.Info
	c.Files = []*source.File{file}
	return c
}
