package repair

import (
	"go/ast"
	"go/build"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSectionsAnywhere puts sections around statements that nobody chose, in functions of
// the standard library: what comes out must compile, and hold its lock on every way. Where
// no section can be, the reason is one that is told.
func TestSectionsAnywhere(t *testing.T) {
	written, refused := 0, 0
	for _, path := range []string{"bufio", "encoding/json", "go/printer", "net/textproto", "strconv", "text/tabwriter", "text/template/parse", "archive/zip"} {
		t.Run(path, func(t *testing.T) {
			texts := sourceOf(t, path)
			p := &Program{source: parse(t, texts)}
			for seed := range uint64(2) {
				w, r := sections(t, p, texts, rand.New(rand.NewPCG(seed, 1)))
				written += w
				refused += r
			}
		})
	}
	t.Logf("%d sections written, %d refused", written, refused)
	if written < 10*refused {
		t.Errorf("%d sections written, %d refused: too many", written, refused)
	}
}

// sourceOf reads a package of the standard library.
func sourceOf(t *testing.T, path string) map[string][]byte {
	t.Helper()
	pkg, err := build.Import(path, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, name := range pkg.GoFiles {
		if texts[name], err = os.ReadFile(filepath.Join(pkg.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// sections covers some statements of each function of a program, all with one new lock of
// the package, and looks at the outcome.
func sections(t *testing.T, p *Program, texts map[string][]byte, random *rand.Rand) (written, refused int) {
	t.Helper()
	e := newEdits(p.fset)
	var l *lock
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		f := p.files[name]
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || len(fn.Body.List) == 0 {
				continue
			}
			r := somewhere(p, f, fn, random)
			if l == nil {
				l = p.newGlobal([]*Region{r}, &data{})
				if err := l.declare(e); err != nil {
					t.Fatal(err)
				}
			}
			if p.blocks(r.list[r.from:r.to+1], l) != "" {
				continue
			}
			// What a refused section has changed already is of no use.
			alone := newEdits(p.fset)
			if err := p.cover(alone, r, l); err != nil {
				refused++
				continue
			}
			for f, list := range alone.files {
				e.files[f] = append(e.files[f], list...)
			}
			written++
		}
	}
	patch, err := e.patch(nil)
	if err != nil {
		t.Fatal(err)
	}
	after := newAudit(parse(t, patch.over(texts)))
	before := newAudit(p.source)
	for leak := range after.leaks {
		if !before.leaks[leak] {
			t.Errorf("%s", leak)
		}
	}
	return written, refused
}

// somewhere is a run of statements of a function.
func somewhere(p *Program, f *file, fn *ast.FuncDecl, random *rand.Rand) *Region {
	var lists [][]ast.Stmt
	within(fn.Body.List, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.BlockStmt:
			if !clauses(n) {
				lists = append(lists, n.List)
			}
		case *ast.CaseClause:
			lists = append(lists, n.Body)
		}
	})
	r := &Region{file: f, fn: fn, body: fn.Body, list: fn.Body.List}
	if some := random.IntN(len(lists) + 1); some < len(lists) && len(lists[some]) > 0 {
		r.list = lists[some]
	}
	r.from = random.IntN(len(r.list))
	r.to = r.from + random.IntN(len(r.list)-r.from)
	return r
}
