package cover

import (
	"fmt"
	"go/ast"
	"go/build"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/locks/audit"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// TestSectionsAnywhere puts sections around statements that nobody chose, in functions of
// the standard library: what comes out must compile, and hold its lock on every way. Where
// no section can be, the reason is one that is told.
func TestSectionsAnywhere(t *testing.T) {
	written, refused := 0, 0
	for _, path := range []string{"bufio", "encoding/json", "go/printer", "net/textproto", "strconv", "text/tabwriter", "text/template/parse", "archive/zip"} {
		t.Run(path, func(t *testing.T) {
			texts := sourceOf(t, path)
			code := parse(t, texts)
			for seed := range uint64(2) {
				w, r := sections(t, code, texts, rand.New(rand.NewPCG(seed, 1)))
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

// sections covers some statements of each function of a program, each with a lock of its
// own, because functions call each other, and looks at the outcome.
func sections(t *testing.T, code *Code, texts map[string][]byte, random *rand.Rand) (written, refused int) {
	t.Helper()
	e := newEdits()
	for _, f := range code.Files() {
		for _, d := range f.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || len(fn.Body.List) == 0 {
				continue
			}
			r := somewhere(f, fn, random)
			name := fmt.Sprintf("sectionMu%d", written)
			l := &Lock{Words: "the mutex " + name, variable: name, pkg: f.Types}
			if code.whatMayWait(r.statements(), l) != "" {
				continue
			}
			// What a refused section has changed already is of no use.
			if err := code.cover(newEdits(), r, nil, l); err != nil {
				refused++
				continue
			}
			if err := code.cover(e, r, nil, l); err != nil {
				t.Fatal(err)
			}
			sync, err := e.of(f).ImportStd("sync")
			if err != nil {
				t.Fatal(err)
			}
			e.of(f).Append("var " + name + " " + sync + ".Mutex")
			written++
		}
	}
	patch, err := code.patch(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, misuse := range audit.Misuses(code.Locks(), parse(t, patch.Over(texts)).Locks()) {
		t.Error(misuse)
	}
	return written, refused
}

// somewhere is a run of statements of a function.
func somewhere(f *source.File, fn *ast.FuncDecl, random *rand.Rand) *Region {
	var lists [][]ast.Stmt
	statement.Each(fn.Body.List, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.BlockStmt:
			if !statement.HasClauses(n) {
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
