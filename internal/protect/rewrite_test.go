package protect

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/load"
)

var update = flag.Bool("update", false, "write what the rewriter makes into the test files")

const module = "github.com/cofferdam-go/cofferdam/"

// listed returns the packages that the files of testdata/rewrite import, and the
// hooks.
func listed(t *testing.T) map[string]*packages.Package {
	t.Helper()
	all, err := load.List(load.Config{Patterns: []string{module + "tolerate", module + "internal/protect/watch", module + "internal/protect/aside", module + "internal/protect/wicket", "fmt", "sync", "time", "errors", "strings", "sync/atomic", "os", "sort"}})
	if err != nil {
		t.Fatal(err)
	}
	imports := make(map[string]*packages.Package)
	for _, p := range all {
		imports[p.PkgPath] = p
	}
	imports["cofferdamrt/tolerate"] = imports[module+"tolerate"]
	imports["cofferdamrt/protect/watch"] = imports[module+"internal/protect/watch"]
	imports["cofferdamrt/protect/aside"] = imports[module+"internal/protect/aside"]
	imports["cofferdamrt/protect/wicket"] = imports[module+"internal/protect/wicket"]
	return imports
}

// TestRewrite holds what sections become. An archive's comment says what it is
// about; a line "mode: detect" in it changes how it is rewritten. The summary is
// held too, and every rewritten file is type-checked and has its lines where they
// were.
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
			c := Config{Mode: Tolerate, Least: 0.5, Patterns: []string{"."}}
			for line := range strings.SplitSeq(string(a.Comment), "\n") {
				c.Maps = c.Maps || line == "maps: true"
				if m, ok := strings.CutPrefix(line, "mode: "); ok {
					c.Mode = Mode(m)
				}
			}
			in := a.Files[0]
			out, summary := rewriteOne(t, c, in.Data)
			check(t, imports, out)
			checkLines(t, string(in.Data), out)
			want := []txtar.File{in, {Name: "out.go", Data: []byte(out)}, {Name: "summary", Data: []byte(summary)}}
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

// rewriteOne rewrites a package of one file, after it was rewritten in all modes.
func rewriteOne(t *testing.T, c Config, source []byte) (out, summary string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "in.go")
	for name, text := range map[string][]byte{file: source, filepath.Join(dir, "go.mod"): []byte("module example.com/p\n\ngo 1.26\n")} {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	pkgs, err := load.Packages(load.Config{Dir: dir, Patterns: []string{"."}})
	if err != nil {
		t.Fatal(err)
	}
	known := Analyse(pkgs)
	for _, mode := range Modes { // plans that were made of the same program must not show
		other := c
		other.Mode, other.Maps = mode, !c.Maps
		if _, err := known.Rewrite(other); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := known.Rewrite(c)
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := plan.Files[file]; ok {
		return strings.ReplaceAll(f.Text, dir, ""), plan.String()
	}
	return string(source), plan.String()
}

// check type-checks a rewritten file.
func check(t *testing.T, imports map[string]*packages.Package, text string) {
	t.Helper()
	p := &packages.Package{PkgPath: "example.com/p", Name: "p", Imports: imports, Module: &packages.Module{GoVersion: "1.26"}, TypesSizes: types.SizesFor("gc", "amd64")}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "out.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: load.NewChecker().Importer(p), Sizes: p.TypesSizes}
	if _, err := conf.Check(p.PkgPath, fset, []*ast.File{f}, load.NewInfo()); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// checkLines checks that each line still begins and ends with what it did.
func checkLines(t *testing.T, in, out string) {
	t.Helper()
	before, after := strings.Split(strings.TrimRight(in, "\n"), "\n"), strings.Split(out, "\n")
	if len(after) < len(before) {
		t.Fatalf("%d lines became %d", len(before), len(after))
	}
	for i, l := range before {
		// What is inserted stands between words: take those of our own away, and
		// the others are there, in their order. What was put on pages has lost its
		// name where it was declared.
		rest := after[i]
		if moved := regexp.MustCompile(`^\t[a-z]+( +)`).ReplaceAllString(l, "\t_$1"); moved == rest {
			continue
		}
		for _, w := range strings.FieldsFunc(l, func(r rune) bool { return !('a' <= r && r <= 'z') }) {
			_, tail, ok := strings.Cut(rest, w)
			if !ok && !strings.Contains(after[i], "cofferdam") {
				t.Errorf("line %d: %q became %q", i+1, l, after[i])
				break
			}
			rest = tail
		}
	}
}

// TestNamesOfTheProgramAreNotTaken: a program may use any name.
func TestNamesOfTheProgramAreNotTaken(t *testing.T) {
	const source = `package p

import "sync"

var cofferdamrt, _cofferdam struct {
	mu sync.Mutex
	n  int
}

func f() {
	cofferdamrt.mu.Lock()
	cofferdamrt.n++
	cofferdamrt.mu.Unlock()
}
`
	out, _ := rewriteOne(t, Config{Mode: Tolerate, Least: 0.5}, []byte(source))
	if !strings.Contains(out, "__cofferdamrt ") {
		t.Errorf("the hooks have a name that the program uses:\n%s", out)
	}
	check(t, listed(t), out)
}
