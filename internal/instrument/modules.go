package instrument

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
)

// The go command refuses an overlay over its module cache. So a module there that
// has rewritten files is replaced, in a generated go.mod or go.work, by a directory
// elsewhere that does not exist: the overlay maps every file of it.

// noteModule remembers that a package of a module in the cache has rewritten files.
func (b *builder) noteModule(j *job) {
	m := j.p.Module
	if m == nil || !b.inCache(dirOf(j.p)) {
		return
	}
	if m.Replace != nil {
		m = &packages.Module{Path: m.Path, Version: m.Version, Dir: m.Replace.Dir, GoMod: m.Replace.GoMod}
	}
	b.modules[m.Path] = m
}

func (b *builder) inCache(dir string) bool {
	return b.env.GOMODCACHE != "" && strings.HasPrefix(dir, b.env.GOMODCACHE+string(filepath.Separator))
}

// relocate moves rewritten modules out of the module cache.
func (b *builder) relocate() error {
	if len(b.modules) == 0 {
		return nil
	}
	dirs := make(map[string]string) // module path to its new place
	for path, m := range b.modules {
		rel, err := filepath.Rel(b.env.GOMODCACHE, m.Dir)
		if err != nil {
			return err
		}
		dir := filepath.Join(elsewhere(), rel)
		dirs[path] = dir
		if err := b.moveModule(m, dir); err != nil {
			return fmt.Errorf("putting %s elsewhere: %w", path, err)
		}
	}
	if b.env.GOWORK != "" && b.env.GOWORK != "off" {
		return b.replaceInWork(dirs)
	}
	return b.replaceInMod(dirs)
}

// elsewhere is where moved modules stand. The place must be the same each time: it is
// part of what the compiler's results are cached by.
func elsewhere() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "cofferdam", "modules")
}

// Moved tells of a file of a moved module, as a running program names it, what it is in
// the module cache.
func Moved(file string) (inCache string, ok bool) {
	return strings.CutPrefix(file, elsewhere()+string(filepath.Separator))
}

// moveModule maps the files of a module's packages to another directory.
func (b *builder) moveModule(m *packages.Module, dir string) error {
	err := filepath.WalkDir(m.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != m.Dir && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(path, "_test.go") || !d.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(m.Dir, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if filepath.Ext(path) == ".s" {
			// The assembler runs in the package's directory.
			if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
				return err
			}
		}
		if text, ok := b.text[path]; ok {
			b.text[to] = text
			delete(b.text, path)
		} else {
			b.links[to] = path
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, ok := b.links[filepath.Join(dir, "go.mod")]; !ok {
		b.text[filepath.Join(dir, "go.mod")] = "module " + m.Path + "\n"
	}
	return nil
}

// replaceInMod writes a go.mod that has the modules elsewhere.
func (b *builder) replaceInMod(dirs map[string]string) error {
	name := b.env.GOMOD
	for _, f := range b.Flags {
		if v, ok := strings.CutPrefix(strings.TrimLeft(f, "-"), "modfile="); ok {
			name = v
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		return err
	}
	for path, dir := range dirs {
		for _, r := range f.Replace {
			if r.Old.Path == path {
				if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
					return err
				}
			}
		}
		if err := f.AddReplace(path, "", dir, ""); err != nil {
			return err
		}
	}
	f.Cleanup()
	if text, err = f.Format(); err != nil {
		return err
	}
	out := filepath.Join(b.dir, "go.mod")
	if err := os.WriteFile(out, text, 0o666); err != nil {
		return err
	}
	sum, err := os.ReadFile(strings.TrimSuffix(name, ".mod") + ".sum")
	if err == nil {
		err = os.WriteFile(filepath.Join(b.dir, "go.sum"), sum, 0o666)
	}
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	b.goFlags = append(b.goFlags, "-modfile="+out, "-mod=mod")
	return nil
}

// replaceInWork lays a go.work over the workspace's that has the modules elsewhere.
func (b *builder) replaceInWork(dirs map[string]string) error {
	text, err := os.ReadFile(b.env.GOWORK)
	if err != nil {
		return err
	}
	f, err := modfile.ParseWork(b.env.GOWORK, text, nil)
	if err != nil {
		return err
	}
	for path, dir := range dirs {
		for _, r := range f.Replace {
			if r.Old.Path == path {
				if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
					return err
				}
			}
		}
		if err := f.AddReplace(path, "", dir, ""); err != nil {
			return err
		}
	}
	f.Cleanup()
	b.text[b.env.GOWORK] = string(modfile.Format(f.Syntax))
	return nil
}
