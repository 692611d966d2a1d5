package cover

import (
	"flag"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/locks/audit"
	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

var update = flag.Bool("update", false, "rewrite what the patches are to be")

// std reads packages of the standard library, once for all tests.
var std = sync.OnceValue(func() types.Importer { return importer.Default() })

// parse makes the code of one package of source texts.
func parse(t testing.TB, texts map[string][]byte) *Code {
	t.Helper()
	k := &packages.Package{PkgPath: "p", Fset: token.NewFileSet(), TypesInfo: load.NewInfo()}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		f, err := parser.ParseFile(k.Fset, name, texts[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%v\n%s", err, texts[name])
		}
		k.Syntax = append(k.Syntax, f)
	}
	var err error
	if k.Types, err = (&types.Config{Importer: std()}).Check("p", k.Fset, k.Syntax, k.TypesInfo); err != nil {
		t.Fatal(err)
	}
	p, err := source.Read([]*packages.Package{k}, texts)
	if err != nil {
		t.Fatal(err)
	}
	return NewCode(p)
}

// A marked is an expression that a section is for, in the source of a test as «r:expr» or
// «w:expr», with a number where a function has several sections.
type marked struct {
	file     string
	from, to int
	write    bool
	section  string
}

var mark = regexp.MustCompile(`«([rw])(\d*):([^»]*)»`)

// unmark takes the marks out of a source text.
func unmark(name string, text []byte) (plain []byte, marks []marked) {
	at := 0
	for _, m := range mark.FindAllSubmatchIndex(text, -1) {
		plain = append(plain, text[at:m[0]]...)
		from := len(plain)
		plain = append(plain, text[m[6]:m[7]]...)
		marks = append(marks, marked{name, from, len(plain), text[m[2]] == 'w', string(text[m[4]:m[5]])})
		at = m[1]
	}
	return append(plain, text[at:]...), marks
}

// regionsOf are the regions for the marked expressions.
func regionsOf(t *testing.T, code *Code, marks []marked) []*Region {
	t.Helper()
	type key struct {
		fn      ast.Node
		section string
	}
	nodes := map[key][]ast.Node{}
	write := map[key]bool{}
	var order []key
	for _, m := range marks {
		f := code.File(m.file)
		base := code.Fset.File(f.Syntax.Pos())
		var found ast.Node
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if n != nil && n.Pos() == base.Pos(m.from) && n.End() == base.Pos(m.to) {
				found = n
			}
			return true
		})
		if found == nil {
			t.Fatalf("no expression at %s:%d", m.file, base.Line(base.Pos(m.from)))
		}
		k := key{EnclosingFunction(f, found), m.section}
		if nodes[k] == nil {
			order = append(order, k)
		}
		nodes[k] = append(nodes[k], found)
		write[k] = write[k] || m.write
	}
	var all []*Region
	for _, k := range order {
		r := code.Region(k.fn, nodes[k])
		if r == nil {
			t.Fatalf("no region for the marks in the function at %s", code.Fset.Position(k.fn.Pos()))
		}
		r.Write = write[k]
		all = append(all, r)
	}
	return all
}

// lockOf is the lock that a test names: "T.f" is a mutex that struct T has, "v" a variable
// of the package, "new T.f" a new one above the field f of T, "local v" a new one beside
// the variable v, "package" a new one of the package, "package v w" one for its variables v and w. It
// comes with what a new one guards.
func lockOf(t *testing.T, code *Code, spec string, regions []*Region) (l *Lock, guarded []dataname.Name) {
	t.Helper()
	scope := regions[0].file.Types.Scope()
	kind, rest, _ := strings.Cut(spec, " ")
	switch kind {
	case "package":
		d := new(Data)
		for _, name := range strings.Fields(rest) {
			d.AddGlobal(scope.Lookup(name).(*types.Var))
		}
		return code.newGlobal(regions, d), d.Names(code)
	case "local":
		for _, f := range code.Files() {
			for id, o := range f.Info.Defs {
				if v, ok := o.(*types.Var); ok && id.Name == rest && !v.IsField() && v.Parent() != scope {
					return code.newLocal([]*types.Var{v}), nil
				}
			}
		}
	case "new":
		owner, name, _ := strings.Cut(rest, ".")
		n := named(scope.Lookup(owner).Type())
		dataname.EachField(n, func(path string, v *types.Var) {
			if path == name {
				l, guarded = code.newField(n, []*types.Var{v}), []dataname.Name{{Package: n.Obj().Pkg().Path(), Owner: owner, Name: name}}
			}
		})
		if l != nil {
			return l, guarded
		}
	default:
		owner, name, ok := strings.Cut(spec, ".")
		if !ok {
			return code.existing(scope.Lookup(spec).(*types.Var)), nil
		}
		n := named(scope.Lookup(owner).Type())
		if o, _, _ := types.LookupFieldOrMethod(n, true, n.Obj().Pkg(), name); o != nil {
			return code.existing(o.(*types.Var)), nil
		}
	}
	t.Fatalf("there is no lock %q", spec)
	return nil, nil
}

// TestPatch writes locks around the marked expressions of small programs, and compares
// the change with the wanted one. Each must compile and hold the locks on every way.
func TestPatch(t *testing.T) {
	files, err := filepath.Glob("testdata/patch/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := patchOf(t, archive)
			last := &archive.Files[len(archive.Files)-1]
			if last.Name != "want" {
				archive.Files = append(archive.Files, txtar.File{Name: "want"})
				last = &archive.Files[len(archive.Files)-1]
			}
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(last.Data), got); d != "" {
				t.Errorf("the change is not as wanted (-want +got):\n%s", d)
			}
		})
	}
}

// patchOf is what becomes of a program: a diff, or why there is none.
func patchOf(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	_, spec, ok := strings.Cut(string(archive.Comment), "lock: ")
	if !ok {
		t.Fatal("the test names no lock")
	}
	texts := map[string][]byte{}
	var marks []marked
	for _, f := range archive.Files {
		if strings.HasSuffix(f.Name, ".go") {
			plain, m := unmark(f.Name, f.Data)
			texts[f.Name] = plain
			marks = append(marks, m...)
		}
	}
	code := parse(t, texts)
	regions := regionsOf(t, code, marks)
	l, guarded := lockOf(t, code, strings.TrimSpace(spec), regions)
	if l == nil {
		return "no such lock\n"
	}
	patch, err := code.Write(regions, l, guarded, nil)
	if err != nil {
		return "refused: " + err.Error() + "\n"
	}
	after := parse(t, patch.Over(texts))
	if why := audit.Worse(code.Locks(), after.Locks()); why != "" {
		return "refused: " + why + "\n"
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(patch.Files)) {
		b.Write(source.Diff(name, patch.Before[name], patch.Files[name]))
	}
	return b.String()
}
