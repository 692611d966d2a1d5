// Package overlay has the go command build with other texts than those on disk.
//
// An [Overlay] maps files to texts, or to other files. The source tree is not touched.
// The go command refuses overlays over its module cache, so a module there that has
// other texts is replaced, in a generated go.mod or go.work, by a directory elsewhere
// that does not exist, or is empty: the overlay maps every file of it.
package overlay

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// An Overlay is a set of files that take the place of others.
type Overlay struct {
	env *gotool.Environment
	// Text are files with their texts, Links files with others that stand for them.
	Text, Links map[string]string

	modules map[string]*packages.Module // of the cache, with other texts
}

// New returns an empty overlay.
func New(e *gotool.Environment) *Overlay {
	return &Overlay{env: e, Text: make(map[string]string), Links: make(map[string]string), modules: make(map[string]*packages.Module)}
}

// Std returns the path of a file of the standard library.
func (o *Overlay) Std(name string) string { return o.env.Std(name) }

// Add gives a file of a package another text.
func (o *Overlay) Add(p *packages.Package, file, text string) {
	o.Text[file] = text
	if m := p.Module; m != nil && o.env.InModuleCache(file) {
		if m.Replace != nil {
			m = &packages.Module{Path: m.Path, Version: m.Version, Dir: m.Replace.Dir, GoMod: m.Replace.GoMod}
		}
		o.modules[m.Path] = m
	}
}

// Write writes the overlay into a directory, and returns the flags that have the go
// command use it. Flags are those that it gets anyway.
func (o *Overlay) Write(dir string, flags []string) ([]string, error) {
	added, err := o.relocate(dir, flags)
	if err != nil {
		return nil, err
	}
	replace := make(map[string]string)
	for from, to := range o.Links {
		replace[from] = to
	}
	for file, text := range o.Text {
		sum := sha256.Sum256([]byte(file + "\x00" + text))
		to := filepath.Join(dir, hex.EncodeToString(sum[:8])+filepath.Ext(file))
		if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
			return nil, err
		}
		replace[file] = to
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "overlay.json")
	return append(added, "-overlay="+name), os.WriteFile(name, text, 0o666)
}

// relocate moves modules out of the module cache.
func (o *Overlay) relocate(dir string, flags []string) ([]string, error) {
	if len(o.modules) == 0 {
		return nil, nil
	}
	dirs := make(map[string]string) // module path to its new place
	for path, m := range o.modules {
		rel, err := filepath.Rel(o.env.GOMODCACHE, m.Dir)
		if err != nil {
			return nil, err
		}
		dirs[path] = filepath.Join(elsewhere(), rel)
		if err := o.move(m, dirs[path]); err != nil {
			return nil, fmt.Errorf("putting %s elsewhere: %w", path, err)
		}
	}
	if o.env.Workspace() != "" {
		return nil, o.replaceInWork(dirs)
	}
	return o.replaceInMod(dir, flags, dirs)
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

// move maps the files of a module to another directory.
func (o *Overlay) move(m *packages.Module, dir string) error {
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
		if text, ok := o.Text[path]; ok {
			o.Text[to] = text
			delete(o.Text, path)
		} else {
			o.Links[to] = path
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, ok := o.Links[filepath.Join(dir, "go.mod")]; !ok {
		o.Text[filepath.Join(dir, "go.mod")] = "module " + m.Path + "\n"
	}
	return nil
}

// replaceInMod writes a go.mod that has the modules elsewhere.
func (o *Overlay) replaceInMod(dir string, flags []string, dirs map[string]string) ([]string, error) {
	name := o.env.GOMOD
	for _, f := range flags {
		if v, ok := strings.CutPrefix(strings.TrimLeft(f, "-"), "modfile="); ok {
			name = v
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, err
	}
	for path, to := range dirs {
		for _, r := range f.Replace {
			if r.Old.Path == path {
				if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
					return nil, err
				}
			}
		}
		if err := f.AddReplace(path, "", to, ""); err != nil {
			return nil, err
		}
	}
	f.Cleanup()
	if text, err = f.Format(); err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(out, text, 0o666); err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(strings.TrimSuffix(name, ".mod") + ".sum")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o666)
	}
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return []string{"-modfile=" + out, "-mod=mod"}, nil
}

// replaceInWork lays a go.work over the workspace's that has the modules elsewhere.
func (o *Overlay) replaceInWork(dirs map[string]string) error {
	text, err := os.ReadFile(o.env.GOWORK)
	if err != nil {
		return err
	}
	f, err := modfile.ParseWork(o.env.GOWORK, text, nil)
	if err != nil {
		return err
	}
	for path, to := range dirs {
		for _, r := range f.Replace {
			if r.Old.Path == path {
				if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
					return err
				}
			}
		}
		if err := f.AddReplace(path, "", to, ""); err != nil {
			return err
		}
	}
	f.Cleanup()
	o.Text[o.env.GOWORK] = string(modfile.Format(f.Syntax))
	return nil
}
