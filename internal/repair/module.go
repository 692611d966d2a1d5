package repair

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
)

// A mover makes dependencies changeable. The go command takes no other contents for the
// files of its module cache, so a module there that a candidate changes is copied, and a
// generated go.mod (or go.work) has the copy in its place. A candidate goes by the names
// in the cache: they are what the program consists of.
type mover struct {
	temp string
	env  *gotool.Environment
	// copies are the directories of the modules' copies by those in the cache, modules
	// what they are of.
	copies  map[string]string
	modules map[string]*packages.Module
}

func (f *fixer) newMover() (*mover, error) {
	m := &mover{temp: f.opts.Temp, copies: map[string]string{}, modules: map[string]*packages.Module{}}
	var err error
	if m.env, err = gotool.New(f.config.Dir, f.config.Env).Environment(); err != nil {
		return nil, fmt.Errorf("asking for the module cache: %w", err)
	}
	return m, nil
}

// cached reports whether a file is in the module cache.
func (m *mover) cached(name string) bool {
	return m != nil && m.env.InModuleCache(name)
}

// original is the name in the cache of a file in a copy; the name itself of any other.
func (m *mover) original(name string) string {
	if m == nil {
		return name
	}
	for dir, copied := range m.copies {
		if rest, ok := strings.CutPrefix(name, copied+string(filepath.Separator)); ok {
			return filepath.Join(dir, rest)
		}
	}
	return name
}

// config is how to build with a patch; program is any that has its files. Without a
// mover, nothing of the module cache is changed.
func (m *mover) config(c instrument.Config, patch *Patch, program *Program) (instrument.Config, error) {
	if m == nil {
		c.Overlay = patch.overlay(c.Overlay)
		return c, nil
	}
	all := map[string][]byte{}
	for name, text := range patch.overlay(c.Overlay) {
		if m.cached(name) {
			f := program.byOriginal(name)
			if f == nil || f.pkg.Module == nil {
				return c, fmt.Errorf("%s is of no module that can be changed", name)
			}
			to, err := m.move(name, f.pkg.Module)
			if err != nil {
				return c, err
			}
			name = to
		}
		all[name] = text
	}
	c.Overlay = all
	if len(m.copies) == 0 {
		return c, nil
	}
	if m.env.Workspace() != "" {
		return m.inWork(c)
	}
	return m.inMod(c)
}

// move copies the module of a file, if it has not been, and returns the file's new name.
func (m *mover) move(name string, module *packages.Module) (string, error) {
	dir := module.Dir
	if module.Replace != nil {
		dir = module.Replace.Dir
	}
	copied, ok := m.copies[dir]
	for d, to := range m.copies { // module may be the copy's
		if to == dir {
			dir, copied, ok = d, to, true
		}
	}
	if !ok {
		rel, err := filepath.Rel(m.env.GOMODCACHE, dir)
		if err != nil {
			return "", fmt.Errorf("copying %s: %w", module.Path, err)
		}
		copied = filepath.Join(m.temp, "modules", rel)
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			return "", fmt.Errorf("copying %s: %w", module.Path, err)
		}
		if _, err := os.Stat(filepath.Join(copied, "go.mod")); err != nil {
			if err := os.WriteFile(filepath.Join(copied, "go.mod"), []byte("module "+module.Path+"\n"), 0o666); err != nil {
				return "", fmt.Errorf("copying %s: %w", module.Path, err)
			}
		}
		m.copies[dir], m.modules[dir] = copied, module
	}
	return filepath.Join(copied, strings.TrimPrefix(name, dir)), nil
}

// inMod has a go.mod with the copies.
func (m *mover) inMod(c instrument.Config) (instrument.Config, error) {
	name := m.env.GOMOD
	var flags []string
	for _, f := range c.Flags {
		if v, ok := strings.CutPrefix(strings.TrimLeft(f, "-"), "modfile="); ok {
			name = v
			continue
		}
		flags = append(flags, f)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return c, fmt.Errorf("replacing a dependency: %w", err)
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		return c, fmt.Errorf("replacing a dependency: %w", err)
	}
	for _, dir := range slices.Sorted(maps.Keys(m.copies)) {
		path := m.modules[dir].Path
		for _, r := range slices.Clone(f.Replace) {
			if r.Old.Path == path {
				if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
					return c, fmt.Errorf("replacing %s: %w", path, err)
				}
			}
		}
		if err := f.AddReplace(path, "", m.copies[dir], ""); err != nil {
			return c, fmt.Errorf("replacing %s: %w", path, err)
		}
	}
	f.Cleanup()
	if text, err = f.Format(); err != nil {
		return c, fmt.Errorf("replacing a dependency: %w", err)
	}
	out := filepath.Join(m.temp, "modules", "go.mod")
	if err := os.WriteFile(out, text, 0o666); err != nil {
		return c, fmt.Errorf("replacing a dependency: %w", err)
	}
	if sum, err := os.ReadFile(strings.TrimSuffix(name, ".mod") + ".sum"); err == nil {
		if err := os.WriteFile(filepath.Join(m.temp, "modules", "go.sum"), sum, 0o666); err != nil {
			return c, fmt.Errorf("replacing a dependency: %w", err)
		}
	}
	c.Flags = append(flags, "-modfile="+out, "-mod=mod")
	return c, nil
}

// inWork has a go.work with the copies.
func (m *mover) inWork(c instrument.Config) (instrument.Config, error) {
	text, err := os.ReadFile(m.env.GOWORK)
	if err != nil {
		return c, fmt.Errorf("replacing a dependency: %w", err)
	}
	f, err := modfile.ParseWork(m.env.GOWORK, text, nil)
	if err != nil {
		return c, fmt.Errorf("replacing a dependency: %w", err)
	}
	for _, u := range slices.Clone(f.Use) {
		if !filepath.IsAbs(u.Path) {
			if err := f.DropUse(u.Path); err != nil {
				return c, fmt.Errorf("replacing a dependency: %w", err)
			}
			if err := f.AddUse(filepath.Join(filepath.Dir(m.env.GOWORK), u.Path), u.ModulePath); err != nil {
				return c, fmt.Errorf("replacing a dependency: %w", err)
			}
		}
	}
	for dir, copied := range m.copies {
		path := m.modules[dir].Path
		for _, r := range slices.Clone(f.Replace) {
			if r.Old.Path == path {
				if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
					return c, fmt.Errorf("replacing %s: %w", path, err)
				}
			}
		}
		if err := f.AddReplace(path, "", copied, ""); err != nil {
			return c, fmt.Errorf("replacing %s: %w", path, err)
		}
	}
	f.Cleanup()
	out := filepath.Join(m.temp, "modules", "go.work")
	if err := os.WriteFile(out, bytes.TrimSpace(modfile.Format(f.Syntax)), 0o666); err != nil {
		return c, fmt.Errorf("replacing a dependency: %w", err)
	}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	c.Env = append(slices.Clone(env), "GOWORK="+out)
	return c, nil
}
