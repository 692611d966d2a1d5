package repair

import (
	"errors"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/overlay"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/source"
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
	copies := overlay.NewCopies(&gotool.Environment{GOMODCACHE: cache, GOMOD: filepath.Join(temp, "own", "go.mod")}, filepath.Join(temp, "modules"))
	program := source.NewProgram(token.NewFileSet())
	program.Add(&source.File{Name: name, Syntax: new(ast.File), Package: &packages.Package{Module: &packages.Module{Path: "example.com/dep", Version: "v1.0.0", Dir: dep}}})
	run := &failedRun{code: &cover.Code{Program: program}, copies: copies}
	patch := &cover.Patch{Files: map[string][]byte{name: []byte("package sub // changed\n")}, Before: map[string][]byte{name: []byte("package sub\n")}}

	f := &fixer{config: instrument.Config{Flags: []string{"-tags=x"}}, copies: copies}
	config, err := f.changedConfig(patch, run)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(temp, "modules", "example.com", "dep@v1.0.0", "sub", "dep.go")
	if text, ok := config.Overlay[copied]; !ok || len(config.Overlay) != 1 || string(text) != "package sub // changed\n" {
		t.Errorf("the overlay is %q, want the text of %s", config.Overlay, copied)
	}
	if want := []string{"-tags=x", "-modfile=" + filepath.Join(temp, "modules", "go.mod"), "-mod=mod"}; !slices.Equal(config.Flags, want) {
		t.Errorf("the flags are %q, want %q", config.Flags, want)
	}

	c := &Candidate{Patch: patch, run: run}
	if d := c.Diff(temp); !strings.Contains(d, "+++ b/example.com/dep@v1.0.0/sub/dep.go") {
		t.Errorf("the diff is\n%s", d)
	}
	var refused *CachedError
	if err := c.Apply(); !errors.As(err, &refused) || !strings.Contains(err.Error(), "replace directive") {
		t.Errorf("to apply it gives %v", err)
	}
}
