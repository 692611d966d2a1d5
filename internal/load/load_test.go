package load

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
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

func TestOfAPackageWithTestsOneVariantIsKept(t *testing.T) {
	all, err := List(Config{Dir: module(t), Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range Variants(all) {
		if strings.HasPrefix(p.PkgPath, "example.com/") {
			got = append(got, p.ID)
		}
	}
	if want := "example.com/m [example.com/m.test] example.com/m_test [example.com/m.test]"; strings.Join(got, " ") != want {
		t.Errorf("kept %s\nnot  %s", strings.Join(got, " "), want)
	}
}

func TestTestsOfOnePackageAlone(t *testing.T) {
	dir := module(t)
	if err := os.Mkdir(filepath.Join(dir, "other"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"o.go":      "package other\n",
		"o_test.go": "package other\n\nfunc broken() { undefined() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, "other", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	config := Config{Dir: dir, Patterns: []string{"./..."}, Tests: true}
	if _, err := Packages(config); err == nil {
		t.Error("a test that does not build was loaded")
	}
	config.TestsOf = "example.com/m"
	all, err := Packages(config)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range all {
		got = append(got, p.ID)
	}
	slices.Sort(got)
	if want := "example.com/m example.com/m [example.com/m.test] example.com/m.test example.com/m/other example.com/m_test [example.com/m.test]"; strings.Join(got, " ") != want {
		t.Errorf("loaded %s\nnot    %s", strings.Join(got, " "), want)
	}
}

func TestOverlayIsWhatIsChecked(t *testing.T) {
	dir := module(t)
	name := filepath.Join(dir, "m.go")
	overlay := map[string][]byte{name: []byte("package m\n\nfunc F() int { return 2 }\n\nfunc G() {}\n")}
	all, err := List(Config{Dir: dir, Overlay: overlay})
	if err != nil {
		t.Fatal(err)
	}
	checker := NewChecker()
	checker.Overlay = overlay
	c, err := checker.Check(all[0])
	if err != nil {
		t.Fatal(err)
	}
	if f := c.Files[0]; f.Name != name || f.Types.Scope().Lookup("G") == nil || f.Info != c.Info || f.Package != all[0] {
		t.Errorf("the file is %+v", f)
	}
	checker.Overlay = map[string][]byte{name: []byte("package m\n\nfunc F() int { return undefined }\n")}
	if _, err := checker.Check(all[0]); err == nil || !strings.Contains(err.Error(), "undefined") {
		t.Errorf("a text that does not compile: %v", err)
	}
	checker.Overlay = map[string][]byte{name: []byte("no Go")}
	if _, err := checker.Check(all[0]); err == nil {
		t.Error("a text that does not parse was checked")
	}
}

func TestPatternsThatMatchNothingAreExplained(t *testing.T) {
	dir := module(t)
	if err := os.Mkdir(filepath.Join(dir, "nothing"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := List(Config{Dir: dir, Patterns: []string{"./nothing/..."}}); err == nil || !strings.Contains(err.Error(), "no packages match ./nothing/...") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "nothing", "m.go"), []byte("//go:build never\n\npackage m\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := List(Config{Dir: dir, Patterns: []string{"./nothing"}}); err == nil || !strings.Contains(err.Error(), "pass the -tags it needs") {
		t.Errorf("got %v", err)
	}
}

// TestOwnCodeIsOfMainModulesAndLocalReplacements: a workspace has several main modules, and
// a vendored copy is a dependency even of a module that is replaced by a local directory.
func TestOwnCodeIsOfMainModulesAndLocalReplacements(t *testing.T) {
	const (
		lib     = "module example.com/lib\n\ngo 1.24\n"
		app     = "module example.com/app\n\ngo 1.24\n"
		require = app + "\nrequire example.com/lib v1.0.0\n\nreplace example.com/lib => ../lib\n"
		uses    = "package app\n\nimport _ \"example.com/lib\"\n"
	)
	for name, c := range map[string]struct {
		files map[string]string
		own   bool
	}{
		"replaced":  {map[string]string{"app/go.mod": require, "lib/go.mod": lib, "lib/lib.go": "package lib\n"}, true},
		"workspace": {map[string]string{"app/go.mod": app, "lib/go.mod": lib, "lib/lib.go": "package lib\n", "go.work": "go 1.24\n\nuse (\n\t./app\n\t./lib\n)\n"}, true},
		"vendored": {map[string]string{"app/go.mod": require, "lib/go.mod": lib, "app/vendor/example.com/lib/lib.go": "package lib\n",
			"app/vendor/modules.txt": "# example.com/lib v1.0.0 => ../lib\n## explicit; go 1.24\nexample.com/lib\n# example.com/lib => ../lib\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.files["app/app.go"] = uses
			for name, text := range c.files {
				file := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			all, err := List(Config{Dir: filepath.Join(dir, "app"), Env: append(os.Environ(), "GOFLAGS=", "GOWORK=")})
			if err != nil {
				t.Fatal(err)
			}
			if !Own(all[0]) {
				t.Error("the main package is not its user's own")
			}
			if p := all[0].Imports["example.com/lib"]; Own(p) != c.own {
				t.Errorf("%+v is taken for the user's own: %t", p.Module, !c.own)
			}
		})
	}
}
