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
