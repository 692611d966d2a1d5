package instrument

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/instrument/hooks"
	"github.com/cofferdam-go/cofferdam/internal/load"
)

// TestWhatTheHooksImportHasNoHooks: it would import what imports it. Package strconv is the
// exception, in whose place the hooks use what the runtime has of it.
func TestWhatTheHooksImportHasNoHooks(t *testing.T) {
	roots, err := load.List(load.Config{Patterns: []string{"github.com/cofferdam-go/cofferdam/internal/rt"}})
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{}
	if b.env, err = gotool.New("", nil).Environment(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	packages.Visit(roots, func(p *packages.Package) bool {
		if p.PkgPath == "strconv" {
			return false
		}
		if b.isStd(p) {
			if seen++; stdMode(p.PkgPath) != hooks.Plain {
				t.Errorf("%s is imported by the hooks, and has some", p.PkgPath)
			}
		}
		return true
	}, nil)
	if seen < 20 {
		t.Errorf("the hooks import only %d packages", seen)
	}
}

func TestModesOfTheStandardLibrary(t *testing.T) {
	for path, want := range map[string]hooks.Mode{
		"sort": hooks.Library, "encoding/json": hooks.Library, "strconv": hooks.Library, "io": hooks.Library,
		"reflect": hooks.Library, "sync": hooks.Sync, "testing": hooks.Sync,
		"runtime": hooks.Plain, "internal/poll": hooks.Plain, "os": hooks.Plain, "crypto/internal/fips140/sha256": hooks.Plain,
	} {
		if got := stdMode(path); got != want {
			t.Errorf("%s is built in mode %v", path, got)
		}
	}
}

func TestChannelsAreFoundInSource(t *testing.T) {
	for body, want := range map[string]bool{
		"go f()": true, "c <- 1": true, "<-c": true, "select {}": true, "x := 1; x++": false, "var c chan int; _ = c": false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\nfunc g() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(f.Decls, func(d ast.Decl) bool { return usesChannels(load.NewInfo(), d) }); got != want {
			t.Errorf("%s: %t", body, got)
		}
	}
}

func TestTheRewrittenStandardLibraryIsKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a", "b.json")
	if _, ok := cachedStd(name); ok {
		t.Error("something is kept that was not put there")
	}
	files := []hooks.File{{Name: "x.go", Runtime: "rt", Hooked: true, Marked: "package x"}}
	keepStd(name, files)
	got, ok := cachedStd(name)
	if diff := cmp.Diff(files, got); !ok || diff != "" {
		t.Errorf("kept %t: %s", ok, diff)
	}
	if left, err := os.ReadDir(filepath.Dir(name)); err != nil || len(left) != 1 {
		t.Errorf("%d files, %v", len(left), err)
	}
	if err := os.WriteFile(name, []byte("["), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, ok := cachedStd(name); ok {
		t.Error("half a file is read")
	}
}
