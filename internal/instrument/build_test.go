package instrument

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/instrument/hooks"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// build builds and sees to what Build leaves on disk.
func build(t *testing.T, c Config) *Program {
	t.Helper()
	p, err := Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// run runs a binary and returns its output without what is not always the same.
func run(t *testing.T, dir, path string, args ...string) string {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, out)
	}
	return durations.ReplaceAllString(string(out), "")
}

var durations = regexp.MustCompile(`\([0-9.]+s\)`)

// native builds the tests of a module as they are.
func native(t *testing.T, dir string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "native")
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-o", bin)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// TestRewrittenProgramsBehaveAsBefore runs programs made of odd Go, as they are and
// with hooks but uncontrolled, and compares what they print.
func TestRewrittenProgramsBehaveAsBefore(t *testing.T) {
	for _, dir := range []string{"latest", "go121", "go117"} {
		t.Run(dir, func(t *testing.T) {
			dir, err := filepath.Abs(filepath.Join("testdata/behave", dir))
			if err != nil {
				t.Fatal(err)
			}
			p := build(t, Config{Dir: dir, Tests: true})
			want := run(t, dir, native(t, dir), "-test.v")
			if diff := cmp.Diff(want, run(t, dir, p.Binaries[0].Path, "-test.v")); diff != "" {
				t.Errorf("it prints something else with hooks (-without +with):\n%s", diff)
			}
		})
	}
}

// modules are archives of modules that are built in different ways.
const modules = `
-- dep/go.mod --
module example.com/dep

go 1.26.0

require golang.org/x/sync v0.24.0
-- dep/go.sum --
golang.org/x/sync v0.24.0 h1:iqiDrGoDgyuvAKrhLQthUEzU/R378N78gXbBjxed7oA=
golang.org/x/sync v0.24.0/go.mod h1:sUUOizhqBxiL6pEWpqNLUiaJn1ShEbZ6BBqskPbjZm0=
-- dep/dep_test.go --
package dep

import (
	"testing"

	"golang.org/x/sync/errgroup"
)

func TestGroup(t *testing.T) {
	var g errgroup.Group
	n := make([]int, 4)
	for i := range n {
		g.Go(func() error { n[i]++; return nil })
	}
	if err := g.Wait(); err != nil || n[3] != 1 {
		t.Fatal(err, n)
	}
}
-- cgo/go.mod --
module example.com/cgo

go 1.24
-- cgo/data.txt --
hello
-- cgo/c.go --
package cgo // with a comment

/*
typedef struct { int a; int b[4]; } pair;
static int add(pair *p, int n) { return p->a + p->b[1] + n; }
static int *shared(void) { static int s; return &s; }
*/
import "C"

import _ "embed"

//go:embed data.txt
var data string

type holder struct {
	p C.pair
	n int
}

func (h *holder) sum() int {
	h.n++
	h.p.a = C.int(h.n)
	h.p.b[1] += 2
	r := C.add(&h.p, C.int(len(data)))
	x, err := C.add(&h.p, 1)
	if err != nil {
		h.n = -1
	}
	f := func() { r += x }
	f()
	*C.shared() = r
	return int(*C.shared())
}
-- cgo/e.go --
package cgo

func Sum() int { h := &holder{}; return h.sum() }
-- cgo/c_test.go --
package cgo_test

import (
	"testing"

	. "example.com/cgo"
)

func TestSum(t *testing.T) {
	if n := Sum(); n != 13 {
		t.Fatal(n)
	}
}
-- main/go.mod --
module example.com/main

go 1.24
-- main/main.go --
package main

import (
	"fmt"
	"os"
)

func main() {
	ch := make(chan int)
	go func() { ch <- len(os.Args) }()
	fmt.Println("arguments:", <-ch)
}
`

// unpack writes the archive to a temporary directory.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// goTool runs the go command.
func goTool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func modeOf(p *Program, path string) hooks.Mode {
	for _, q := range p.Packages {
		if q.Path == path {
			return q.Mode
		}
	}
	return hooks.Plain
}

func TestPatternsOfDependenciesNamePackagesBelow(t *testing.T) {
	for _, test := range []struct {
		pattern, path string
		want          bool
	}{
		{AllDeps, "example.com/a", true}, {"example.com/a", "example.com/a", true}, {"example.com/a", "example.com/a/b", true},
		{"example.com/a/...", "example.com/a", true}, {"example.com/a/...", "example.com/a/b", true},
		{"example.com/a", "example.com/ab", false}, {"example.com/a/b", "example.com/a", false},
	} {
		if got := Matches(test.pattern, test.path); got != test.want {
			t.Errorf("%s matches %s: %t", test.pattern, test.path, got)
		}
	}
	_, err := Build(t.Context(), Config{Dir: "testdata", Patterns: []string{"errors"}, Deps: []string{"example.com/nowhere"}})
	if err == nil || !strings.Contains(err.Error(), "no dependency of that name") {
		t.Errorf("a pattern that names nothing: %v", err)
	}
}

func TestDependenciesAreRewrittenWhereverTheyAre(t *testing.T) {
	const dep = "golang.org/x/sync/errgroup"
	check := func(t *testing.T, dir string, c Config) {
		t.Helper()
		c.Dir, c.Tests = dir, true
		p := build(t, c)
		want := hooks.Sync
		if len(c.Deps) > 0 {
			want = hooks.Memory
		}
		if got := modeOf(p, dep); got != want {
			t.Errorf("%s was built in mode %v, not %v", dep, got, want)
		}
		if !slices.ContainsFunc(p.Sites, func(s trace.Site) bool { return s.Package == dep && s.Kind == event.Go }) {
			t.Errorf("%s has no site of a go statement", dep)
		}
		run(t, dir, p.Binaries[0].Path)
	}
	dir := filepath.Join(unpack(t, modules), "dep")
	t.Run("module cache", func(t *testing.T) { check(t, dir, Config{}) })
	t.Run("memory mode", func(t *testing.T) { check(t, dir, Config{Deps: []string{AllDeps}}) })
	t.Run("named", func(t *testing.T) { check(t, dir, Config{Deps: []string{"golang.org/x/sync"}}) })
	t.Run("workspace", func(t *testing.T) {
		goTool(t, filepath.Dir(dir), "work", "init", "./dep", "./main")
		defer os.Remove(filepath.Join(filepath.Dir(dir), "go.work"))
		check(t, dir, Config{})
	})
	t.Run("vendor", func(t *testing.T) {
		goTool(t, dir, "mod", "vendor")
		check(t, dir, Config{})
	})
}

func TestFilesThatUseCAndEmbed(t *testing.T) {
	dir := filepath.Join(unpack(t, modules), "cgo")
	p := build(t, Config{Dir: dir, Tests: true})
	run(t, dir, p.Binaries[0].Path)
	if !slices.ContainsFunc(p.Sites, func(s trace.Site) bool { return filepath.Base(s.File) == "c.go" && s.Expr == "h.n" }) {
		t.Error("the file that imports C has no hooks")
	}
}

func TestPrograms(t *testing.T) {
	dir := filepath.Join(unpack(t, modules), "main")
	p := build(t, Config{Dir: dir})
	if out := run(t, dir, p.Binaries[0].Path, "a"); out != "arguments: 2\n" {
		t.Errorf("the program says %q", out)
	}
	again := build(t, Config{Dir: dir})
	if was, is := p.Binaries[0].Hash, again.Binaries[0].Hash; was != is {
		t.Errorf("the same program has the hashes %s and %s", was, is)
	}
	first, err := os.ReadFile(p.Binaries[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(again.Binaries[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("the same program was built into two different binaries")
	}
	for i, s := range p.Sites {
		if i > 0 && s.ID <= p.Sites[i-1].ID {
			t.Fatalf("site %d comes after site %d", s.ID, p.Sites[i-1].ID)
		}
	}
}

func TestAnIgnoredOverlayIsAnError(t *testing.T) {
	dir := filepath.Join(unpack(t, modules), "main")
	for _, c := range []Config{{Flags: []string{"-cover"}}, {Env: append(os.Environ(), "GOFLAGS=-coverpkg=./...")}} {
		c.Dir = dir
		if _, err := Build(t.Context(), c); err == nil || !strings.Contains(err.Error(), "leave out -cover") {
			t.Errorf("building with coverage: %v", err)
		}
	}
	p := build(t, Config{Dir: dir})
	hooked, err := os.ReadFile(p.Binaries[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{marks: map[string]bool{"example.com/main": true}}
	if err := b.verify("example.com/main", hooked); err != nil {
		t.Error(err)
	}
	if err := b.verify("example.com/main", []byte("a binary")); err == nil {
		t.Error("a binary without hooks passes for one with")
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	dir := unpack(t, `
-- broken/go.mod --
module example.com/broken

go 1.24
-- broken/a.go --
package broken

var x int = "s"
-- missing/go.mod --
module example.com/missing

go 1.24
-- missing/a.go --
package missing

import _ "example.com/nowhere"
-- plain/go.mod --
module example.com/plain

go 1.24
-- plain/a.go --
package plain
`)
	for _, test := range []struct {
		dir, want string
		tests     bool
	}{
		{"broken", "a.go:3:13", true},
		{"missing", "go mod tidy", true},
		{"plain", "no package of . has tests", true},
		{"plain", "no package of . is a program", false},
		{".", "change into the module's directory", true},
	} {
		_, err := Build(t.Context(), Config{Dir: filepath.Join(dir, test.dir), Patterns: []string{"."}, Tests: test.tests})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v\nbut %q was expected in it", test.dir, err, test.want)
		}
	}
}
