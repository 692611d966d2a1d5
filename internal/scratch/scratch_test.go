package scratch

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestNothingIsLeft: a directory is removed by the one that made it, and those that are
// left are removed together. It is one test because nothing can be made after RemoveAll.
func TestNothingIsLeft(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var dirs []string
	for range 3 {
		dir, err := Dir()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	if err := Remove(dirs[1]); err != nil {
		t.Error(err)
	}
	if left := names(t, temp); len(left) != 2 {
		t.Errorf("%v are left after one of three was removed", left)
	}
	if err := RemoveAll(); err != nil {
		t.Error(err)
	}
	if left := names(t, temp); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
	live.mu.Unlock()
	t.Setenv("TMPDIR", filepath.Join(temp, "nowhere"))
	if dir, err := Dir(); err == nil {
		t.Errorf("%s was made in a directory that does not exist", dir)
	}
}

// TestADirectoryIsLeftUntilItIsRemoved: one that is being removed when the process ends is still known,
// and removing does not wait for RemoveAll, which never lets go.
func TestADirectoryIsLeftUntilItIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	live.mu.Lock()
	removed := make(chan error)
	go func() { removed <- Remove(dir) }()
	for _, err := os.Stat(dir); err == nil; _, err = os.Stat(dir) {
		runtime.Gosched()
	}
	if !live.dirs[dir] {
		t.Error("it was forgotten before")
	}
	live.mu.Unlock()
	if err := <-removed; err != nil || live.dirs[dir] {
		t.Errorf("%v, %v", err, live.dirs)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
