package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Module is a real one, at a fixed version, that a benchmark is tried on.
type Module struct {
	Path, Version string
	Packages      []string // patterns; none means all
}

func (m Module) String() string { return m.Path + "@" + m.Version }

// Patterns are the packages that are tried.
func (m Module) Patterns() []string {
	if len(m.Packages) == 0 {
		return []string{"./..."}
	}
	return m.Packages
}

// Copy downloads the module through the module proxy and copies it to a directory,
// where it is the main module. One from before modules gets a go.mod.
func (m Module) Copy(ctx context.Context, dir string) error {
	text, err := Go(ctx, os.TempDir(), "mod", "download", "-json", m.String())
	if err != nil {
		return err
	}
	var cached struct{ Dir string }
	if err := json.Unmarshal([]byte(text), &cached); err != nil {
		return fmt.Errorf("reading the output of go mod download: %w", err)
	}
	if err := copyWritable(dir, cached.Dir); err != nil {
		return fmt.Errorf("copying %s: %w", m, err)
	}
	goMod := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(goMod); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(goMod, []byte("module "+m.Path+"\n\ngo 1.18\n"), 0o666)
}

// copyWritable copies a directory, and lets the copy be written to: the files and
// directories of the module cache cannot be, and os.CopyFS keeps that.
func copyWritable(to, from string) error {
	return filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o666)
	})
}
