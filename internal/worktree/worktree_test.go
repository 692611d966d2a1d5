package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// write writes files below a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChangesThatAreNotCommittedAreThoseOfTrackedFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.go": "package a\n", "sub/b c.go": "package b\n"})
	if all, err := Uncommitted(t.Context(), dir); err != nil || all != nil {
		t.Errorf("without git: %q, %v", all, err)
	}
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "all")
	write(t, dir, map[string]string{"new.go": "package a\n"})
	if all, err := Uncommitted(t.Context(), dir); err != nil || all != nil {
		t.Errorf("with a file that git does not know: %q, %v", all, err)
	}
	write(t, dir, map[string]string{"a.go": "package a // changed\n", "sub/b c.go": "package b // changed\n"})
	git("add", "a.go")
	want := []string{"a.go", `"sub/b c.go"`}
	if all, err := Uncommitted(t.Context(), filepath.Join(dir, "sub")); err != nil || !slices.Equal(all, want) {
		t.Errorf("changed and staged: %q, %v, want %q", all, err, want)
	}
}

func TestMainModulesAreThoseOfTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	write(t, dir, map[string]string{"one/go.mod": "module one\n\ngo 1.26\n", "two/go.mod": "module two\n\ngo 1.26\n", "none/x.go": "package none\n"})
	one, two, none := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "none")
	for _, test := range []struct {
		dir  string
		want []string
	}{{one, []string{one}}, {none, []string{none}}} {
		if got, err := MainModules(t.Context(), test.dir); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("of %s: %q, %v, want %q", test.dir, got, err, test.want)
		}
	}
	write(t, dir, map[string]string{"go.work": "go 1.26\n\nuse (\n\t./one\n\t./two\n)\n"})
	if got, err := MainModules(t.Context(), one); err != nil || !slices.Equal(got, []string{one, two}) {
		t.Errorf("of the workspace: %q, %v", got, err)
	}
	for name, want := range map[string]bool{filepath.Join(one, "x.go"): true, one: true, one + "x": false, two: false} {
		if Below(name, one) != want {
			t.Errorf("Below(%s, %s) is %t", name, one, !want)
		}
	}
}
