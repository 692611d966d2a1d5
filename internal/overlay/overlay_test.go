package overlay

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// write writes files below a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// read reads a file; its name has slashes.
func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(filepath.Join(elements...)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// replaced reads the list of an overlay that was written: what stands for each file.
func replaced(t *testing.T, flags []string) map[string]string {
	t.Helper()
	for _, f := range flags {
		if name, ok := strings.CutPrefix(f, "-overlay="); ok {
			var list struct{ Replace map[string]string }
			if err := json.Unmarshal([]byte(read(t, name)), &list); err != nil {
				t.Fatal(err)
			}
			return list.Replace
		}
	}
	t.Fatalf("no overlay among %q", flags)
	return nil
}

// program is a module with a dependency in a module cache.
func program(t *testing.T) (temp string, env *gotool.Environment, dep *packages.Package) {
	t.Helper()
	temp = t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(temp, "user"))
	write(t, temp, map[string]string{
		"cache/example.com/dep@v1.0.0/dep.go":             "package dep\n",
		"cache/example.com/dep@v1.0.0/dep_test.go":        "package dep\n",
		"cache/example.com/dep@v1.0.0/sub/sub.go":         "package sub\n",
		"cache/example.com/dep@v1.0.0/sub/asm.s":          "// nothing\n",
		"cache/example.com/dep@v1.0.0/sub/testdata/x.txt": "x",
		"own/go.mod":  "module own\n\ngo 1.26\n\nrequire example.com/dep v1.0.0\n\nreplace example.com/dep v1.0.0 => ../elsewhere\n\nreplace example.com/other => ../other\n",
		"own/go.sum":  "example.com/dep v1.0.0 h1:x\n",
		"own/go.work": "go 1.26\n\nuse .\n\nuse ./tools\n\nreplace example.com/dep => ../elsewhere\n",
	})
	env = &gotool.Environment{GOMODCACHE: filepath.Join(temp, "cache"), GOMOD: filepath.Join(temp, "own", "go.mod"), GOROOT: filepath.Join(temp, "goroot")}
	dep = &packages.Package{Module: &packages.Module{Path: "example.com/dep", Version: "v1.0.0", Dir: filepath.Join(temp, "cache", "example.com", "dep@v1.0.0")}}
	return temp, env, dep
}

func TestGoCommandReadsTheOtherTexts(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"go.mod": "module own\n\ngo 1.26\n", "a.go": "package own\n", "other.txt": "package own\n\nimport _ \"bytes\"\n"})
	tool := gotool.New(dir, append(os.Environ(), "GOWORK=off", "GOFLAGS="))
	env, err := tool.Environment()
	if err != nil {
		t.Fatal(err)
	}
	o := New(env)
	o.Add(&packages.Package{}, filepath.Join(dir, "a.go"), "package own\n\nimport _ \"errors\"\n")
	o.Text[filepath.Join(dir, "new.go")] = "package own\n\nimport _ \"cofferdamtest\"\n"
	o.Text[o.Std("cofferdamtest/x.go")] = "package cofferdamtest\n"
	o.Links[filepath.Join(dir, "linked.go")] = filepath.Join(dir, "other.txt")
	flags, err := o.Write(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tool.Output(t.Context(), slices.Concat([]string{"list", "-f", "{{.Imports}}"}, flags, []string{"."})...)
	if err != nil {
		t.Fatal(err)
	}
	if want := "[bytes cofferdamtest errors]\n"; string(got) != want {
		t.Errorf("the go command sees imports %s, want %s", got, want)
	}
	if read(t, dir, "a.go") != "package own\n" {
		t.Error("the source was changed")
	}
}

func TestMessagesAreAboutTheFilesThatTextsStandFor(t *testing.T) {
	out := t.TempDir()
	o := New(&gotool.Environment{})
	o.Text["/own/a.go"] = "package own\n"
	if _, err := o.Write(out, nil); err != nil {
		t.Fatal(err)
	}
	written, err := filepath.Glob(filepath.Join(out, "*.go"))
	if err != nil || len(written) != 1 {
		t.Fatalf("it has written %v: %v", written, err)
	}
	if got := o.Source(written[0]); got != "/own/a.go" {
		t.Errorf("%s stands for %s", written[0], got)
	}
	if got := o.Source("/own/b.go"); got != "/own/b.go" {
		t.Errorf("a file that has no other text stands for %s", got)
	}
}

func TestModuleOfTheCacheIsMappedElsewhere(t *testing.T) {
	temp, env, dep := program(t)
	o := New(env)
	o.Add(dep, filepath.Join(dep.Module.Dir, "dep.go"), "package dep // changed\n")
	flags, err := o.Write(temp, []string{"-tags=x"})
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(elsewhere(), "example.com", "dep@v1.0.0")
	list := replaced(t, flags)
	if got := read(t, list[filepath.Join(moved, "dep.go")]); got != "package dep // changed\n" {
		t.Errorf("the changed file is %q", got)
	}
	if got := read(t, list[filepath.Join(moved, "go.mod")]); got != "module example.com/dep\n" {
		t.Errorf("a module from before modules has the go.mod %q", got)
	}
	if got, want := list[filepath.Join(moved, "sub", "sub.go")], filepath.Join(dep.Module.Dir, "sub", "sub.go"); got != want {
		t.Errorf("a file that is not changed is %s, want %s", got, want)
	}
	for _, name := range []string{filepath.Join(dep.Module.Dir, "dep.go"), filepath.Join(moved, "dep_test.go"), filepath.Join(moved, "sub", "testdata", "x.txt")} {
		if list[name] != "" {
			t.Errorf("%s is in the overlay", name)
		}
	}
	if info, err := os.Stat(filepath.Join(moved, "sub")); err != nil || !info.IsDir() {
		t.Errorf("the assembler has no directory to run in: %v", err)
	}
	if flags[0] != "-modfile="+filepath.Join(temp, "go.mod") || flags[1] != "-mod=mod" {
		t.Errorf("the flags are %q", flags)
	}
	mod := read(t, temp, "go.mod")
	if !strings.Contains(mod, "replace example.com/dep => "+moved) || strings.Contains(mod, "../elsewhere") || !strings.Contains(mod, "example.com/other => ../other") {
		t.Errorf("the go.mod is\n%s", mod)
	}
	if read(t, temp, "go.sum") != read(t, temp, "own", "go.sum") {
		t.Error("the sums are not those of the program")
	}
	var none *Copies
	if got := none.AtRun(filepath.Join(moved, "dep.go")); got != filepath.Join(moved, "dep.go") {
		t.Errorf("without a cache, a moved file is %s", got)
	}
	if got, want := NewCopies(env, temp).AtRun(filepath.Join(moved, "dep.go")), filepath.Join(dep.Module.Dir, "dep.go"); got != want {
		t.Errorf("a running program's file is %s, want %s", got, want)
	}
}

func TestReplacedModuleOfTheCacheIsMappedElsewhere(t *testing.T) {
	temp, env, dep := program(t)
	dep.Module = &packages.Module{Path: "example.com/original", Replace: dep.Module}
	o := New(env)
	o.Add(dep, filepath.Join(dep.Module.Replace.Dir, "dep.go"), "package dep // changed\n")
	if _, err := o.Write(temp, nil); err != nil {
		t.Fatal(err)
	}
	if mod := read(t, temp, "go.mod"); !strings.Contains(mod, "replace example.com/original => "+filepath.Join(elsewhere(), "example.com", "dep@v1.0.0")) {
		t.Errorf("the go.mod is\n%s", mod)
	}
}

func TestWorkspaceHasTheModuleElsewhere(t *testing.T) {
	temp, env, dep := program(t)
	env.GOWORK = filepath.Join(temp, "own", "go.work")
	o := New(env)
	o.Add(dep, filepath.Join(dep.Module.Dir, "dep.go"), "package dep // changed\n")
	flags, err := o.Write(temp, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(flags) != 1 {
		t.Errorf("the flags are %q", flags)
	}
	work := read(t, replaced(t, flags)[env.GOWORK])
	if !strings.Contains(work, "replace example.com/dep => "+elsewhere()) || strings.Contains(work, "../elsewhere") || !strings.Contains(work, filepath.Join(temp, "own", "tools")) {
		t.Errorf("the go.work is\n%s", work)
	}
}

func TestOwnModfileIsTheOneThatIsChanged(t *testing.T) {
	temp, env, dep := program(t)
	write(t, temp, map[string]string{"own/special.mod": "module own\n\ngo 1.25\n\nrequire example.com/dep v1.0.0\n"})
	o := New(env)
	o.Add(dep, filepath.Join(dep.Module.Dir, "dep.go"), "package dep // changed\n")
	if _, err := o.Write(temp, []string{"--modfile=" + filepath.Join(temp, "own", "special.mod")}); err != nil {
		t.Fatal(err)
	}
	if mod := read(t, temp, "go.mod"); !strings.Contains(mod, "go 1.25") {
		t.Errorf("the go.mod is\n%s", mod)
	}
}

func TestModFilesThatCannotBeReadAreErrors(t *testing.T) {
	for name, text := range map[string]string{"go.mod": "not a go.mod", "go.work": "not a go.work"} {
		temp, env, dep := program(t)
		if name == "go.work" {
			env.GOWORK = filepath.Join(temp, "own", name)
		}
		for _, damage := range []func() error{
			func() error { return os.WriteFile(filepath.Join(temp, "own", name), []byte(text), 0o666) },
			func() error { return os.Remove(filepath.Join(temp, "own", name)) },
		} {
			if err := damage(); err != nil {
				t.Fatal(err)
			}
			o := New(env)
			o.Add(dep, filepath.Join(dep.Module.Dir, "dep.go"), "package dep\n")
			if _, err := o.Write(temp, nil); err == nil || !strings.Contains(err.Error(), "replacing dependencies") {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}

func TestModuleIsCopiedOnce(t *testing.T) {
	temp, env, dep := program(t)
	dir := filepath.Join(temp, "modules")
	c := NewCopies(env, dir)
	name := filepath.Join(dep.Module.Dir, "sub", "sub.go")
	if !c.InCache(name) || c.InCache(env.GOMOD) || c.Short(name) != "example.com/dep@v1.0.0/sub/sub.go" {
		t.Error("what is in the cache is not known")
	}
	copied, err := c.Copy(name, dep.Module)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "example.com", "dep@v1.0.0", "sub", "sub.go"); copied != want || read(t, copied) != "package sub\n" {
		t.Errorf("the copy is %s, want %s", copied, want)
	}
	if got := read(t, dir, "example.com/dep@v1.0.0/go.mod"); got != "module example.com/dep\n" {
		t.Errorf("the copy's go.mod is %q", got)
	}
	// Loaded from the copy, the module is the copy's.
	again, err := c.Copy(name, &packages.Module{Path: "example.com/dep", Replace: &packages.Module{Dir: filepath.Dir(filepath.Dir(copied))}})
	if err != nil || again != copied {
		t.Errorf("the second time it is %s, %v", again, err)
	}
	if c.Original(copied) != name || c.Original(env.GOMOD) != env.GOMOD {
		t.Error("the original's name is another")
	}
	flags, vars, err := c.Use([]string{"-tags=x", "-modfile=" + env.GOMOD}, nil)
	if err != nil || vars != nil {
		t.Fatalf("got %q, %v", vars, err)
	}
	if want := []string{"-tags=x", "-modfile=" + filepath.Join(dir, "go.mod"), "-mod=mod"}; !slices.Equal(flags, want) {
		t.Errorf("the flags are %q, want %q", flags, want)
	}
	if mod := read(t, dir, "go.mod"); !strings.Contains(mod, "replace example.com/dep => "+filepath.Join(dir, "example.com", "dep@v1.0.0")) || strings.Contains(mod, "../elsewhere") {
		t.Errorf("the go.mod is\n%s", mod)
	}
}

func TestCopiesInAWorkspace(t *testing.T) {
	temp, env, dep := program(t)
	env.GOWORK = filepath.Join(temp, "own", "go.work")
	c := NewCopies(env, filepath.Join(temp, "modules"))
	if _, err := c.Copy(filepath.Join(dep.Module.Dir, "dep.go"), dep.Module); err != nil {
		t.Fatal(err)
	}
	flags, vars, err := c.Use([]string{"-tags=x"}, []string{"A=b"})
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(temp, "modules", "go.work")
	if !slices.Equal(flags, []string{"-tags=x"}) || !slices.Equal(vars, []string{"A=b", "GOWORK=" + work}) {
		t.Errorf("got %q and %q", flags, vars)
	}
	if text := read(t, work); !strings.Contains(text, "replace example.com/dep => "+filepath.Join(temp, "modules")) {
		t.Errorf("the go.work is\n%s", text)
	}
}

func TestWithoutCopiesNothingChanges(t *testing.T) {
	var none *Copies
	for _, c := range []*Copies{none, NewCopies(&gotool.Environment{}, t.TempDir())} {
		flags, vars, err := c.Use([]string{"-x"}, []string{"A=b"})
		if err != nil || !slices.Equal(flags, []string{"-x"}) || !slices.Equal(vars, []string{"A=b"}) || c.InCache("/a.go") || c.Original("/a.go") != "/a.go" {
			t.Errorf("got %q, %q, %v", flags, vars, err)
		}
	}
}

// TestTextsOfTheStandardLibraryAreKept: they are written once, again if they are damaged, and into
// the directory where there is no cache.
func TestTextsOfTheStandardLibraryAreKept(t *testing.T) {
	temp := t.TempDir()
	cache := filepath.Join(temp, "user")
	t.Setenv("XDG_CACHE_HOME", cache)
	env := &gotool.Environment{GOROOT: filepath.Join(temp, "goroot")}
	write := func(dir string) string {
		t.Helper()
		o := New(env)
		o.Text[o.Std("sync/mutex.go")] = "package sync\n"
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		flags, err := o.Write(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		name := replaced(t, flags)[o.Std("sync/mutex.go")]
		if got := read(t, name); got != "package sync\n" {
			t.Errorf("the text is %q", got)
		}
		return name
	}
	first := write(filepath.Join(temp, "1"))
	if second := write(filepath.Join(temp, "2")); second != first || !strings.HasPrefix(first, cache) {
		t.Errorf("it is written to %s, then to %s", first, second)
	}
	if err := os.WriteFile(first, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(temp, "3"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(first, "a file is no directory"))
	if name := write(filepath.Join(temp, "4")); !strings.HasPrefix(name, filepath.Join(temp, "4")) {
		t.Errorf("without a cache it is written to %s", name)
	}
}
