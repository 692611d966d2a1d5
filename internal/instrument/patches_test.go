package instrument

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// exportedOf returns the exported names that a package declares at its top level.
func exportedOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	names := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[d.Name.Name] = names[d.Name.Name] || d.Recv == nil
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							names[n.Name] = true
						}
					}
				}
			}
		}
	}
	return names
}

var hookName = regexp.MustCompile(`\bcofferdamrt\.(\w+)`)

// TestEveryHookInAPatchExists: what a patch calls is found out only when a program is
// built, with an error of the compiler in the standard library.
func TestEveryHookInAPatchExists(t *testing.T) {
	hooks := exportedOf(t, "../rt")
	used := 0
	check := func(where, text string) {
		for _, m := range hookName.FindAllStringSubmatch(text, -1) {
			if used++; !hooks[m[1]] {
				t.Errorf("%s calls %s, which package rt does not have", where, m[1])
			}
		}
	}
	for file, functions := range prologues {
		for f, text := range functions {
			check(file+" "+f, text)
		}
	}
	for file, list := range edits {
		for _, e := range list {
			check(file, e.new)
		}
	}
	for file, text := range additions {
		if !strings.HasPrefix(file, "cofferdamrt/") {
			check(file, *text)
		}
	}
	if used < len(prologues) {
		t.Errorf("only %d calls of hooks found", used)
	}
}

func TestPatchesFitThisGo(t *testing.T) {
	out, err := patchStd(filepath.Join(goroot(t), "src"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, functions := range prologues {
		calls := false
		for _, text := range functions {
			calls = calls || strings.Contains(text, "cofferdamrt.")
		}
		for _, e := range edits[name] {
			calls = calls || strings.Contains(e.new, "cofferdamrt.")
		}
		if strings.Contains(out[name], `import cofferdamrt "cofferdamrt"`) != calls {
			t.Errorf("%s calls hooks: %v; it does not import them, or for nothing", name, calls)
		}
	}
	if text := out["internal/sync/mutex.go"]; !strings.Contains(text, "func (m *Mutex) Unlock() { if cofferdamrt.Unlock(&m.state) { return };\n") {
		t.Errorf("no prologue in\n%s", text)
	}
}

func TestPatchesOfAnotherLibraryAreRefused(t *testing.T) {
	const text = "package p\n\nfunc f() {\n\tg()\n}\n"
	for want, c := range map[string]struct {
		first map[string]string
		edits []edit
	}{
		"p.go has no function h":            {map[string]string{"h": "return"}, nil},
		`p.go has "g()" 1 times, not 2`:     {nil, []edit{{"g()", "h()", 2}}},
		`p.go has "missing" 0 times, not 1`: {nil, []edit{{"missing", "", 1}}},
	} {
		if _, err := patch("p.go", text, c.first, c.edits); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	got, err := patch("p.go", text, map[string]string{"f": "if cofferdamrt.F() { return }"}, []edit{{"g()", "h()", 1}})
	if want := "package p; import cofferdamrt \"cofferdamrt\"\n\nfunc f() { if cofferdamrt.F() { return };\n\th()\n}\n"; err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

func goroot(t *testing.T) string {
	t.Helper()
	env, err := gotool.New("", nil).Environment()
	if err != nil {
		t.Fatal(err)
	}
	return env.GOROOT
}
