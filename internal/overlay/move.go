package overlay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// relocate maps the modules of the cache that have other texts to directories elsewhere, and
// returns the flags that have the go command look there.
func (o *Overlay) relocate(dir string, flags []string) ([]string, error) {
	if len(o.modules) == 0 {
		return nil, nil
	}
	moved := make(map[string]string) // directories by module path
	for path, m := range o.modules {
		rel, err := filepath.Rel(o.env.GOMODCACHE, m.Dir)
		if err != nil {
			return nil, fmt.Errorf("putting %s elsewhere: %w", path, err)
		}
		moved[path] = filepath.Join(elsewhere(), rel)
		if err := o.move(m, moved[path]); err != nil {
			return nil, fmt.Errorf("putting %s elsewhere: %w", path, err)
		}
	}
	if work := o.env.Workspace(); work != "" {
		text, err := replaceInWork(work, moved)
		if err != nil {
			return nil, err
		}
		o.Text[work] = text
		return nil, nil
	}
	_, added, err := replaceInMod(o.env.GOMOD, flags, dir, moved)
	return added, err
}

// elsewhere is where moved modules stand. The place must be the same each time: it is
// part of what the compiler's results are cached by.
func elsewhere() string { return filepath.Join(userCache(), "modules") }

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
			o.sources[to] = path
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
