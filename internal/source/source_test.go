package source

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// parse returns a typed file with a text.
func parse(t *testing.T, text string) *File {
	t.Helper()
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, filepath.Join(t.TempDir(), "p.go"), text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFile(fset, syntax, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f.Info = &types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object), Scopes: make(map[ast.Node]*types.Scope)}
	conf := types.Config{Importer: emptyPackages{}, Error: func(error) {}, FakeImportC: true}
	f.Types, _ = conf.Check("p", fset, []*ast.File{syntax}, f.Info)
	return f
}

// emptyPackages imports packages in which nothing is declared.
type emptyPackages struct{}

func (emptyPackages) Import(p string) (*types.Package, error) {
	imported := types.NewPackage(p, path.Base(p))
	imported.MarkComplete()
	return imported, nil
}

// statement returns the statement of a file whose text begins so.
func statement(t *testing.T, f *File, text string) ast.Stmt {
	t.Helper()
	var found ast.Stmt
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if s, ok := n.(ast.Stmt); ok && strings.HasPrefix(f.TextOf(s), text) && found == nil {
			found = s
		}
		return true
	})
	if found == nil {
		t.Fatalf("no statement %s", text)
	}
	return found
}

const before = `package p

func f() {
	a()
	if true { b() } // why
	c()
}

func a() {}; func b() {}
func c() {}
`

func TestEdits(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(e *Edits, s func(string) ast.Stmt)
		from string // the piece of the file that changes
		want string
	}{
		{"a line before", func(e *Edits, s func(string) ast.Stmt) { e.LineBefore(s("c()"), "x()\ny()") }, "\tc()\n", "\tx()\n\ty()\n\tc()\n"},
		{"a line before what shares its line", func(e *Edits, s func(string) ast.Stmt) { e.LineBefore(s("b()"), "x()") }, "{ b() }", "{ x()\nb() }"},
		{"a line after goes behind the comment", func(e *Edits, s func(string) ast.Stmt) { e.LineAfter(s("if"), "x()") }, "// why\n", "// why\n\tx()\n"},
		{"a line after what shares its line", func(e *Edits, s func(string) ast.Stmt) { e.LineAfter(s("b()"), "x()") }, "{ b() }", "{ b()\nx() }"},
		{"a statement with its line", func(e *Edits, s func(string) ast.Stmt) { e.Delete(s("a()")) }, "\ta()\n", ""},
		{"a statement that shares its line", func(e *Edits, s func(string) ast.Stmt) { e.Delete(s("b()")) }, "{ b() }", "{  }"},
		{"in line", func(e *Edits, s func(string) ast.Stmt) {
			c := s("c()")
			e.InsertBefore(c.Pos(), "x(); ")
			e.InsertAfter(c.End(), "; y()")
			e.Replace(c, "C()")
		}, "\tc()\n", "\tx(); C(); y()\n"},
		{"an import in line", func(e *Edits, s func(string) ast.Stmt) {
			e.ImportInLine("q", "example.com/q")
			e.ImportInLine("q", "example.com/q")
			e.ImportInLine("r", "example.com/r")
		}, "package p\n", "package p; import q \"example.com/q\"; import r \"example.com/r\"\n"},
		{"at the end", func(e *Edits, s func(string) ast.Stmt) { e.Append("func d() {}") }, "func c() {}\n", "func c() {}\n\nfunc d() {}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := parse(t, before)
			e := f.Edit()
			if e.Changed() {
				t.Error("there are changes before the first")
			}
			test.edit(e, func(text string) ast.Stmt { return statement(t, f, text) })
			got, err := e.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(before, test.from, test.want, 1); string(got) != want || !e.Changed() {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestEditsInPlaceKeepLines(t *testing.T) {
	f := parse(t, before)
	e := f.EditInPlace()
	e.ReplaceBetween(statement(t, f, "a()").Pos(), statement(t, f, "c()").End(), "x()")
	text, err := e.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), "\n") != strings.Count(before, "\n") {
		t.Errorf("the lines have moved:\n%s", text)
	}
	if e.Buffer().KeepLines = false; !e.Buffer().Changed() {
		t.Error("the buffer is not that of the edits")
	}
}

func TestOverlappingEditsNameTheFile(t *testing.T) {
	f := parse(t, before)
	e := f.Edit()
	e.Delete(statement(t, f, "if"))
	e.Replace(statement(t, f, "b()"), "x()")
	for _, render := range []func() ([]byte, error){e.Bytes, e.Formatted} {
		if _, err := render(); err == nil || !strings.Contains(err.Error(), "p.go") {
			t.Errorf("got %v, want an error about p.go", err)
		}
	}
}

func TestFormattedFileStaysSo(t *testing.T) {
	clean, err := format.Source([]byte(before))
	if err != nil {
		t.Fatal(err)
	}
	f := parse(t, string(clean))
	e := f.Edit()
	e.LineBefore(statement(t, f, "c()"), "if true { x() }")
	text, err := e.Formatted()
	if err != nil {
		t.Fatal(err)
	}
	if !IsFormatted(text) {
		t.Errorf("gofmt does not like\n%s", text)
	}
}

func TestOfAFileThatIsNotFormattedOnlyWhatIsChangedIs(t *testing.T) {
	f := parse(t, "package p\n\nvar   a int\n\nfunc f() {\n  a = 1\n}\n\nvar   b int\n")
	e := f.Edit()
	e.LineBefore(statement(t, f, "a = 1"), "a  = 0")
	text, err := e.Formatted()
	if err != nil {
		t.Fatal(err)
	}
	if want := "package p\n\nvar   a int\n\nfunc f() {\n\ta = 0\n\ta = 1\n}\n\nvar   b int\n"; string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestChangeThatDoesNotParseIsAnError(t *testing.T) {
	for _, text := range []string{before, "package p\n\nfunc f() {\n}\n"} {
		f := parse(t, text)
		e := f.Edit()
		e.InsertBefore(f.Syntax.Decls[0].Pos(), ")")
		if _, err := e.Formatted(); err == nil || !strings.Contains(err.Error(), "does not parse") {
			t.Errorf("got %v, want an error", err)
		}
	}
}

func TestImportStd(t *testing.T) {
	for _, test := range []struct{ name, before, want, as string }{
		{"there already", "package p\n\nimport \"sync\"\n", "package p\n\nimport \"sync\"\n", "sync"},
		{"there under another name", "package p\n\nimport s \"sync\"\n", "package p\n\nimport s \"sync\"\n", "s"},
		{"there without a name", "package p\n\nimport _ \"sync\"\n", "package p\n\nimport (\n\t\"sync\"\n\t_ \"sync\"\n)\n", "sync"},
		{"without imports", "package p\n", "package p\n\nimport \"sync\"\n", "sync"},
		{"without imports but the word", "package p\n\nimport ()\n", "package p\n\nimport \"sync\"\n\nimport ()\n", "sync"},
		{"after one", "package p\n\nimport \"fmt\"\n", "package p\n\nimport (\n\t\"fmt\"\n\t\"sync\"\n)\n", "sync"},
		{"before one", "package p\n\nimport \"time\"\n", "package p\n\nimport (\n\t\"sync\"\n\t\"time\"\n)\n", "sync"},
		{"beside cgo's", "package p\n\n// int f();\nimport \"C\"\n", "package p\n\nimport \"sync\"\n\n// int f();\nimport \"C\"\n", "sync"},
		{"in the middle", "package p\n\nimport (\n\t\"fmt\"\n\t\"time\"\n\n\t\"example.com/x\"\n)\n", "package p\n\nimport (\n\t\"fmt\"\n\t\"sync\"\n\t\"time\"\n\n\t\"example.com/x\"\n)\n", "sync"},
		{"after the last", "package p\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/x\"\n)\n", "package p\n\nimport (\n\t\"fmt\"\n\t\"sync\"\n\n\t\"example.com/x\"\n)\n", "sync"},
		{"as the first", "package p\n\nimport (\n\t\"example.com/x\"\n)\n", "package p\n\nimport (\n\t\"sync\"\n\n\t\"example.com/x\"\n)\n", "sync"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := parse(t, test.before).Edit()
			for range 2 {
				if name, err := e.ImportStd("sync"); err != nil || name != test.as {
					t.Errorf("it is called %q, %v", name, err)
				}
			}
			text, err := e.Formatted()
			if err != nil {
				t.Fatal(err)
			}
			if string(text) != test.want {
				t.Errorf("got\n%s\nwant\n%s", text, test.want)
			}
		})
	}
	for _, text := range []string{"package p\n\nvar sync int\n", "package p\n\nimport sync \"fmt\"\n\nvar _ = sync.Sprint\n"} {
		if _, err := parse(t, text).Edit().ImportStd("sync"); err == nil {
			t.Errorf("imported where the name means something else:\n%s", text)
		}
	}
}

// TestImportsComeInOneBlock: several imports that are added to a file without a block of imports
// make one, with the one that the file has.
func TestImportsComeInOneBlock(t *testing.T) {
	for text, want := range map[string]string{
		"package p\n":                        "package p\n\nimport (\n\t\"maps\"\n\t\"sync\"\n)\n",
		"package p\n\nimport \"os\"\n":       "package p\n\nimport (\n\t\"maps\"\n\t\"os\"\n\t\"sync\"\n)\n",
		"package p\n\nimport s \"slices\"\n": "package p\n\nimport (\n\t\"maps\"\n\ts \"slices\"\n\t\"sync\"\n)\n",
	} {
		e := parse(t, text).Edit()
		for _, path := range []string{"sync", "maps", "sync"} {
			if _, err := e.ImportStd(path); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := e.Formatted(); err != nil || string(got) != want {
			t.Errorf("%q becomes %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestNamesMeanWhatTheyMeanAtAPlace(t *testing.T) {
	f := parse(t, "package p\n\nvar x int\n\nfunc f() {\n\tx++\n\tx := 1\n\t_ = x\n}\n")
	x := f.Types.Scope().Lookup("x")
	first, last := statement(t, f, "x++"), statement(t, f, "_ = x")
	if !f.Means(x, first.Pos()) || f.Means(x, last.Pos()) {
		t.Error("the package's x is not what x means before, and only before, it is shadowed")
	}
	if f.Lookup("missing", first.Pos()) != nil || f.Lookup("x", token.NoPos) != nil {
		t.Error("a name means something where it does not")
	}
}

func TestFreeNamesAreNotUsed(t *testing.T) {
	f := parse(t, "package p\n\nfunc f(value0 int) (result int) { value2 := result; return value2 }\n")
	names := NamesIn(f.Syntax.Decls[0])
	got := []string{names.Free("reason"), names.Free("reason"), names.Free("result"), names.Numbered("value"), names.Numbered("value")}
	if want := []string{"reason", "reason0", "result0", "value1", "value3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUnusedPrefixBeginsNoName(t *testing.T) {
	f := parse(t, "package p\n\nvar ours, _ours1 int\n")
	if got := UnusedPrefix("ours", f.Syntax); got != "__ours" {
		t.Errorf("got %q, want __ours", got)
	}
	if got := UnusedPrefix("theirs", f.Syntax); got != "theirs" {
		t.Errorf("got %q, want theirs", got)
	}
}

func TestProgramKnowsItsFilesAndFunctions(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.go"), filepath.Join(dir, "two.go")
	texts := map[string]string{one: "package p\n\nfunc f() {}\n", two: "package p\n\nfunc g() { f() }\n"}
	if err := os.WriteFile(one, []byte(texts[one]), 0o666); err != nil {
		t.Fatal(err)
	}
	pkg := &packages.Package{Fset: token.NewFileSet(), TypesInfo: &types.Info{Defs: make(map[*ast.Ident]types.Object)}}
	for _, name := range []string{two, one} {
		syntax, err := parser.ParseFile(pkg.Fset, name, texts[name], parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		pkg.Syntax = append(pkg.Syntax, syntax)
	}
	var err error
	if pkg.Types, err = new(types.Config).Check("p", pkg.Fset, pkg.Syntax, pkg.TypesInfo); err != nil {
		t.Fatal(err)
	}
	p, err := Read([]*packages.Package{pkg}, map[string][]byte{two: []byte(texts[two])})
	if err != nil {
		t.Fatal(err)
	}
	if all := p.Files(); len(all) != 2 || all[0] != p.File(one) || all[1] != p.File(two) {
		t.Errorf("the files are %v", all)
	}
	f := pkg.Types.Scope().Lookup("f").(*types.Func)
	if d := p.Declaration(f); d == nil || p.FileOf(d).Name != one || p.FileOf(d).Line(d.Pos()) != 3 {
		t.Error("f is not declared where it is")
	}
	if p.FileOf(ast.NewIdent("x")) != nil || p.File("three.go") != nil {
		t.Error("the program has files that are not its own")
	}
	if _, err := Read([]*packages.Package{pkg}, nil); err == nil {
		t.Error("a file that is missing was read")
	}
	if _, err := Read([]*packages.Package{pkg}, map[string][]byte{two: nil}); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("another text than was parsed: %v", err)
	}
}

func TestDiff(t *testing.T) {
	got := string(Diff("dir/p.go", []byte("a\nb\n"), []byte("a\nc\n")))
	if want := "diff a/dir/p.go b/dir/p.go\n--- a/dir/p.go\n+++ b/dir/p.go\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Diff("p.go", []byte("a\n"), []byte("a\n")); got != nil {
		t.Errorf("no change is %q", got)
	}
}

func TestUnexportedNames(t *testing.T) {
	for name, want := range map[string]string{"Get": "get", "URL": "url", "HTTPClient": "httpClient", "ID": "id", "X": "x", "already": "already", "Änderung": "änderung", "T2x": "t2x"} {
		if got := Unexported(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
