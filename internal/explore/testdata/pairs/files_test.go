package pairs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// removeIfThere is what two goroutines do at the same time.
func removeIfThere(name string) error {
	if _, err := os.Stat(name); err != nil {
		return nil
	}
	return os.Remove(name)
}

func TestBugFileRemovedTwice(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var errs [2]error
	both(func() { errs[0] = removeIfThere(name) }, func() { errs[1] = removeIfThere(name) })
	if err := errors.Join(errs[:]...); err != nil {
		t.Error(err)
	}
}

func TestFineFileRemovedTwice(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var errs [2]error
	both(func() { errs[0] = os.Remove(name) }, func() { errs[1] = os.Remove(name) })
	if errors.Is(errs[0], fs.ErrNotExist) == errors.Is(errs[1], fs.ErrNotExist) {
		t.Error(errs)
	}
}

// Processes that explore this side by side would find each other's file.
func TestFineFileOfAllProcesses(t *testing.T) {
	r, err := os.OpenRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := errors.Join(r.RemoveAll("there"), r.Mkdir("there", 0o700)); err != nil {
		t.Fatal(err)
	}
	both(func() {}, func() {})
	if err := os.Remove("there"); err != nil {
		t.Fatal(err)
	}
}

// What is in a temporary folder is another file in each process, by any name.
func TestFineFileOfOneProcess(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("there", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	both(func() {}, func() {})
	if err := os.Rename("there", filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
}

// lengthen reads a file and writes it with one byte more.
func lengthen(name string) {
	old, _ := os.ReadFile(name)
	_ = os.WriteFile(name, append(old, 'x'), 0o600)
}

func TestBugFileLengthened(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	both(func() { lengthen(name) }, func() { lengthen(name) })
	if text, _ := os.ReadFile(name); len(text) != 2 {
		t.Error(len(text))
	}
}

func TestFineFileLengthened(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	locked(func() { lengthen(name) }, func() { lengthen(name) })
	if text, _ := os.ReadFile(name); len(text) != 2 {
		t.Error(len(text))
	}
}
