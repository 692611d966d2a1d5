package overlay

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// A replacer is the part of a go.mod, and of a go.work, that replaces modules.
type replacer interface {
	DropReplace(path, version string) error
	AddReplace(path, version, to, toVersion string) error
	Cleanup()
}

// replace has modules, which are given by path, in other directories. What was replaced
// before, in whichever version, is not any more.
func replace(f replacer, replaced []*modfile.Replace, moved map[string]string) error {
	for _, r := range slices.Clone(replaced) {
		old := r.Old // dropping empties it
		if _, ok := moved[old.Path]; ok {
			if err := f.DropReplace(old.Path, old.Version); err != nil {
				return fmt.Errorf("replacing %s: %w", old.Path, err)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(moved)) {
		if err := f.AddReplace(path, "", moved[path], ""); err != nil {
			return fmt.Errorf("replacing %s: %w", path, err)
		}
	}
	f.Cleanup()
	return nil
}

// replaceInMod writes a go.mod with its go.sum into a directory that has modules elsewhere.
// It is made from the one that the flags name, or else the given one. It returns the flags
// without that one, and those that have the go command use the new one.
func replaceInMod(name string, flags []string, dir string, moved map[string]string) (kept, added []string, err error) {
	for _, f := range flags {
		if given, ok := strings.CutPrefix(strings.TrimLeft(f, "-"), "modfile="); ok {
			name = given
		} else {
			kept = append(kept, f)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("replacing dependencies: %w", err)
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("replacing dependencies: %w", err)
	}
	if err := replace(f, f.Replace, moved); err != nil {
		return nil, nil, err
	}
	if text, err = f.Format(); err != nil {
		return nil, nil, fmt.Errorf("replacing dependencies: %w", err)
	}
	out := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(out, text, 0o666); err != nil {
		return nil, nil, fmt.Errorf("replacing dependencies: %w", err)
	}
	sum, err := os.ReadFile(strings.TrimSuffix(name, ".mod") + ".sum")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o666)
	}
	if err != nil && !os.IsNotExist(err) {
		return nil, nil, fmt.Errorf("replacing dependencies: %w", err)
	}
	return kept, []string{"-modfile=" + out, "-mod=mod"}, nil
}

// replaceInWork returns the text of a go.work that has modules elsewhere. The modules that
// it uses are named by their whole paths, so that it may stand in another directory.
func replaceInWork(name string, moved map[string]string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("replacing dependencies: %w", err)
	}
	f, err := modfile.ParseWork(name, text, nil)
	if err != nil {
		return "", fmt.Errorf("replacing dependencies: %w", err)
	}
	for _, u := range slices.Clone(f.Use) {
		path, module := u.Path, u.ModulePath // dropping empties it
		if filepath.IsAbs(path) {
			continue
		}
		if err := f.DropUse(path); err != nil {
			return "", fmt.Errorf("replacing dependencies: %w", err)
		}
		if err := f.AddUse(filepath.Join(filepath.Dir(name), path), module); err != nil {
			return "", fmt.Errorf("replacing dependencies: %w", err)
		}
	}
	if err := replace(f, f.Replace, moved); err != nil {
		return "", err
	}
	return string(modfile.Format(f.Syntax)), nil
}
