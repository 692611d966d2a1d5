package load

import (
	"errors"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestPackagesAreLoadedAgainWithChanges compares packages that are loaded from a base with the same
// packages loaded anew: what their files declare has the same types.
func TestPackagesAreLoadedAgainWithChanges(t *testing.T) {
	dir := module(t)
	if err := os.MkdirAll(filepath.Join(dir, "user"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"user/user.go":   "package user\n\nimport \"example.com/m\"\n\nvar Used = m.F()\n",
		"alone/alone.go": "package alone\n\nimport \"strings\"\n\nvar Alone strings.Builder\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	config := Config{Dir: dir, Patterns: []string{"./..."}, Tests: true}
	first, err := Packages(config)
	if err != nil {
		t.Fatal(err)
	}
	base := NewBase(config, first)
	file := filepath.Join(dir, "m.go")
	text := "package m\n\nimport \"sync\"\n\ntype T struct{ mu sync.Mutex }\n\nfunc F() int { return 1 }\n\nfunc G() *T { return new(T) }\n"
	config.Overlay = map[string][]byte{file: []byte(text)}
	want, err := Packages(config)
	if err != nil {
		t.Fatal(err)
	}
	got, err := base.With(config.Overlay)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := declared(got), declared(want); a != b {
		t.Errorf("it is\n%s\nand not\n%s", a, b)
	}
	for i, p := range got {
		if concerned := p != first[i]; concerned != (p.PkgPath != "example.com/m/alone" && !strings.HasSuffix(p.ID, ".test")) {
			t.Errorf("%s was checked again: %v", p.ID, concerned)
		}
	}
	SSA(got)
	same, err := base.With(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range same {
		if p != first[i] {
			t.Errorf("%s was checked again without any change", p.ID)
		}
	}
}

func TestPackagesThatDoNotCompileAnyMoreAreRefused(t *testing.T) {
	config := Config{Dir: module(t), Patterns: []string{"."}, Tests: true}
	all, err := Packages(config)
	if err != nil {
		t.Fatal(err)
	}
	base := NewBase(config, all)
	file := filepath.Join(config.Dir, "m.go")
	for text, want := range map[string]string{
		"package m\n\nfunc F() int { return x }\n":                            "undefined: x",
		"package m\n\nfunc F() int {\n":                                       "m.go:3",
		"package m\n\nfunc G() int { return 1 }\n":                            "undefined: F",
		"package m\n\nimport \"no/such\"\n\nfunc F() int { return such.X }\n": "no/such",
	} {
		if _, err := base.With(map[string][]byte{file: []byte(text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := base.With(map[string][]byte{filepath.Join(config.Dir, "new.go"): []byte("package m\n")}); !errors.Is(err, ErrOtherFiles) {
		t.Errorf("a new file: %v", err)
	}
}

// declared is what packages declare, with the types of it.
func declared(all []*packages.Package) string {
	var b strings.Builder
	for _, p := range all {
		if strings.HasSuffix(p.ID, ".test") {
			continue
		}
		b.WriteString(p.ID + "\n")
		for _, name := range p.Types.Scope().Names() {
			b.WriteString("\t" + types.ObjectString(p.Types.Scope().Lookup(name), nil) + "\n")
		}
	}
	return b.String()
}
