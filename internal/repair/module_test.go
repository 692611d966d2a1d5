package repair

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
)

// TestDependencyIsChangedInACopy has a program with a module in a module cache, and a
// patch of that module: it is built from a copy, under its own name for a person, and
// never written.
func TestDependencyIsChangedInACopy(t *testing.T) {
	temp := t.TempDir()
	cache := filepath.Join(temp, "cache")
	dep := filepath.Join(cache, "example.com", "dep@v1.0.0")
	name := filepath.Join(dep, "sub", "dep.go")
	for file, text := range map[string]string{
		name:                                 "package sub\n",
		filepath.Join(temp, "own", "go.mod"): "module own\n\ngo 1.26\n\nrequire example.com/dep v1.0.0\n\nreplace example.com/dep v1.0.0 => ../elsewhere\n",
		filepath.Join(temp, "own", "go.sum"): "example.com/dep v1.0.0 h1:x\n",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	m := &mover{temp: temp, copies: map[string]string{}, modules: map[string]*packages.Module{}}
	m.env = &gotool.Environment{GOMODCACHE: cache, GOMOD: filepath.Join(temp, "own", "go.mod")}
	src := newSource(nil, nil)
	src.moved = m
	src.files[name] = &file{name: name, original: name, pkg: &packages.Package{Module: &packages.Module{Path: "example.com/dep", Version: "v1.0.0", Dir: dep}}}
	program := &Program{source: src}
	patch := &Patch{Files: map[string][]byte{name: []byte("package sub // changed\n")}, before: map[string][]byte{name: []byte("package sub\n")}}

	config, err := m.config(instrument.Config{Flags: []string{"-tags=x"}}, patch, program)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(temp, "modules", "example.com", "dep@v1.0.0", "sub", "dep.go")
	if text, ok := config.Overlay[copied]; !ok || len(config.Overlay) != 1 || string(text) != "package sub // changed\n" {
		t.Errorf("the overlay is %q, want the text of %s", config.Overlay, copied)
	}
	if m.original(copied) != name {
		t.Errorf("%s is said to be %s", copied, m.original(copied))
	}
	modfile := filepath.Join(temp, "modules", "go.mod")
	if want := []string{"-tags=x", "-modfile=" + modfile, "-mod=mod"}; !slices.Equal(config.Flags, want) {
		t.Errorf("the flags are %q, want %q", config.Flags, want)
	}
	text, err := os.ReadFile(modfile)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "replace example.com/dep => "+filepath.Dir(filepath.Dir(copied))) || strings.Contains(string(text), "../elsewhere") {
		t.Errorf("the go.mod is\n%s", text)
	}
	if made, err := os.ReadFile(filepath.Join(temp, "modules", "example.com", "dep@v1.0.0", "go.mod")); err != nil || string(made) != "module example.com/dep\n" {
		t.Errorf("the copy's go.mod is %q, %v", made, err)
	}

	c := &Candidate{Patch: patch, program: program}
	if d := c.Diff(temp); !strings.Contains(d, "+++ b/example.com/dep@v1.0.0/sub/dep.go") {
		t.Errorf("the diff is\n%s", d)
	}
	var refused *CachedError
	if err := c.Apply(); !errors.As(err, &refused) || !strings.Contains(err.Error(), "replace directive") {
		t.Errorf("to apply it gives %v", err)
	}
}
