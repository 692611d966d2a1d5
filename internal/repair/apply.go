package repair

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// Names returns the names of the files that the candidate changes, in order.
func (c *Candidate) Names() []string { return slices.Sorted(maps.Keys(c.Patch.Files)) }

// Cached reports whether a file is in the module cache, which is never changed.
func (c *Candidate) Cached(name string) bool { return c.run.copies.InCache(name) }

// Diff returns the change as a unified diff, with names relative to a directory. The
// name of a dependency's file begins with the module and its version.
func (c *Candidate) Diff(dir string) string {
	var b strings.Builder
	for _, name := range c.Names() {
		b.Write(source.Diff(c.nameFrom(dir, name), c.Patch.Before[name], c.Patch.Files[name]))
	}
	return b.String()
}

// nameFrom is the name of a file in a diff that is applied in a directory.
func (c *Candidate) nameFrom(dir, name string) string {
	if c.Cached(name) {
		return c.run.copies.Short(name)
	}
	if rel, err := filepath.Rel(dir, name); err == nil {
		name = rel
	}
	return filepath.ToSlash(name)
}

// Beyond returns the files that the candidate changes and that are not below a directory, as
// a diff for the directory names them: git refuses such names unless it is told to take them.
func (c *Candidate) Beyond(dir string) []string {
	var all []string
	for _, name := range c.Names() {
		if short := c.nameFrom(dir, name); !c.Cached(name) && !filepath.IsLocal(filepath.FromSlash(short)) {
			all = append(all, short)
		}
	}
	return all
}

// A ModuleDiff is what a candidate changes in one module.
type ModuleDiff struct {
	Path, Version string // the version is that of a dependency
	Diff          string // with names relative to the module's root
}

// ByModule returns the change as one diff for each module, in the order of their paths.
func (c *Candidate) ByModule() []ModuleDiff {
	byPath := map[string]*ModuleDiff{}
	for _, name := range c.Names() {
		m := ModuleDiff{Path: "files"} // a package that was given by its files is of no module
		root := filepath.Dir(name)
		if f := c.run.code.ByOriginal(name); f != nil && f.Package.Module != nil {
			module := f.Package.Module
			m.Path, m.Version = module.Path, module.Version
			root = moduleRoot(c.run.copies.Original(module.Dir), f.Package.PkgPath, module.Path, filepath.Dir(name))
		}
		if byPath[m.Path] == nil {
			byPath[m.Path] = &m
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			rel = name
		}
		byPath[m.Path].Diff += string(source.Diff(filepath.ToSlash(rel), c.Patch.Before[name], c.Patch.Files[name]))
	}
	all := make([]ModuleDiff, 0, len(byPath))
	for _, m := range byPath {
		all = append(all, *m)
	}
	slices.SortFunc(all, func(a, b ModuleDiff) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

// moduleRoot is the directory of a module. Of a vendored one the go command does not say it:
// then it follows from that of a package.
func moduleRoot(dir, pkg, module, pkgDir string) string {
	if dir != "" {
		return dir
	}
	below := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(pkg, "_test"), module), "/")
	return strings.TrimSuffix(strings.TrimSuffix(pkgDir, filepath.FromSlash(below)), string(filepath.Separator))
}

// A CachedError says that a fix is not applied, because it changes a dependency.
type CachedError struct {
	File string
}

func (e *CachedError) Error() string {
	return "the fix is not applied: " + e.File + " is in the module cache, which is never changed; have a copy of the module in the program, by a replace directive or go mod vendor, and fix that, or write the diff for the module's maintainers with -patch"
}

// Apply writes the files of a proven fix.
func (c *Candidate) Apply() error {
	for name := range c.Patch.Files {
		if c.Cached(name) {
			return &CachedError{File: name}
		}
	}
	for name, text := range c.Patch.Files {
		info, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("applying the fix: %w", err)
		}
		if err := os.WriteFile(name, text, info.Mode().Perm()); err != nil {
			return fmt.Errorf("applying the fix: %w", err)
		}
	}
	return nil
}
