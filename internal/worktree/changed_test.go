package worktree

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPackagesAreAffectedByWhatTheirTestsSee(t *testing.T) {
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	t.Setenv("GOWORK", "off")
	write(t, dir, map[string]string{
		"go.mod":       "module example.com/m\n\ngo 1.26\n",
		"a/a.go":       "package a\n",
		"b/b.go":       "package b\n\nimport _ \"example.com/m/a\"\n",
		"c/c.go":       "package c\n",
		"c/c_test.go":  "package c_test\n\nimport _ \"example.com/m/b\"\n",
		"d/d.go":       "package d\n",
		"d/testdata/x": "1\n",
		"README":       "1\n",
	})
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "all")
	for _, test := range []struct{ file, text, want string }{
		{"README", "2\n", ""},
		{"d/testdata/x", "2\n", "d"},
		{"b/new.go", "package b\n", "b c"},
		{"a/a.go", "package a // 2\n", "a b c"},
		{"c/c_test.go", "package c_test\n", "c"},
		{"go.mod", "module example.com/m\n\ngo 1.26.0\n", "a b c d"},
	} {
		git("checkout", "-q", ".")
		git("clean", "-qfd")
		write(t, dir, map[string]string{test.file: test.text})
		files, err := ChangedSince(t.Context(), filepath.Join(dir, "a"), "HEAD")
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %q, %v", test.file, files, err)
		}
		got, err := Affected(t.Context(), dir, []string{"./..."}, nil, files)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], "example.com/m/")
		}
		slices.Sort(got)
		if strings.Join(got, " ") != test.want {
			t.Errorf("with %s changed: %q, want %s", test.file, got, test.want)
		}
	}
	if _, err := ChangedSince(t.Context(), dir, "nosuch"); err == nil {
		t.Error("there is no such revision, and no error")
	}
}
