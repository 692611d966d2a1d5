package load

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a small module with tests of both kinds.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.24\n",
		"m.go":      "package m\n\nfunc F() int { return 1 }\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc hidden() int { return F() }\n\nfunc TestF(t *testing.T) { hidden() }\n",
		"x_test.go": "package m_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m\"\n)\n\nfunc TestX(t *testing.T) { m.F() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPackagesAndTheirTestsCanBeCheckedOneByOne(t *testing.T) {
	all, err := List(Config{Dir: module(t), Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	checker := NewChecker()
	var got []string
	for _, p := range all {
		if strings.HasSuffix(p.ID, ".test") {
			continue
		}
		c, err := checker.Check(p)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.ID)
		if c.Language() != "go1.24" {
			t.Errorf("%s is written in %q", c.ID, c.Language())
		}
		for _, f := range c.Files {
			if c.Info.FileVersions[f.Syntax] == "" {
				t.Errorf("%s has no version", f.Name)
			}
		}
	}
	want := "example.com/m example.com/m [example.com/m.test] example.com/m_test [example.com/m.test]"
	if strings.Join(got, " ") != want {
		t.Errorf("checked %s\nnot     %s", strings.Join(got, " "), want)
	}
}

func TestSSAHasTheFunctions(t *testing.T) {
	all, err := Packages(Config{Dir: module(t)})
	if err != nil {
		t.Fatal(err)
	}
	_, built := SSA(all)
	if len(built) != 1 || built[0].Func("F") == nil || len(built[0].Func("F").Blocks) == 0 {
		t.Errorf("no body of F in %v", built)
	}
}

func TestErrorsCarryAdvice(t *testing.T) {
	dir := module(t)
	if err := os.WriteFile(filepath.Join(dir, "m.go"), []byte("package m\n\nimport _ \"example.com/nowhere\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Packages(Config{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "run go mod tidy") {
		t.Errorf("a missing module: %v", err)
	}
	_, err = Packages(Config{Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "change into the module's directory") {
		t.Errorf("no module: %v", err)
	}
}

func TestFunctionNamesAreThoseOfStackTraces(t *testing.T) {
	const src = `package p
func F() {}
func (T) V() {}
func (t *T) P() {}
func (*G[K, V]) M() {}
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"F", "T.V", "(*T).P", "(*G).M"} {
		if got := FuncName(f.Decls[i].(*ast.FuncDecl)); got != want {
			t.Errorf("declaration %d is called %q, not %q", i, got, want)
		}
	}
}
