package overlay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// Copies are modules of the module cache that were copied elsewhere, so that their files can
// be changed. A nil *Copies stands for a program whose dependencies are left alone.
type Copies struct {
	env *gotool.Environment
	dir string
	// modules are those that were copied, by their directory in the cache.
	modules map[string]*copied
}

// A copied module is one that was copied.
type copied struct {
	path string
	dir  string // where it is now
}

// NewCopies returns no copies so far; a directory of the caller's gets those to come.
func NewCopies(env *gotool.Environment, dir string) *Copies {
	return &Copies{env: env, dir: dir, modules: make(map[string]*copied)}
}

// InCache reports whether a file is in the module cache, and so can only be changed in a
// copy.
func (c *Copies) InCache(name string) bool { return c != nil && c.env.InModuleCache(name) }

// Short returns the name of a file in the module cache without the cache: it begins with the
// module and its version.
func (c *Copies) Short(name string) string {
	return filepath.ToSlash(strings.TrimPrefix(name, c.env.GOMODCACHE+string(filepath.Separator)))
}

// Original returns the name in the cache of a file or directory in a copy; any other name as
// it is.
func (c *Copies) Original(name string) string {
	if c == nil {
		return name
	}
	for dir, m := range c.modules {
		if rest, ok := strings.CutPrefix(name, m.dir); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
			return filepath.Join(dir, rest)
		}
	}
	return name
}

// AtRun returns the name, on this machine, of a file as a running program names it: a file
// of a module that an Overlay has moved is in the cache.
func (c *Copies) AtRun(name string) string {
	if rest, ok := strings.CutPrefix(name, elsewhere()+string(filepath.Separator)); ok && c != nil {
		return filepath.Join(c.env.GOMODCACHE, rest)
	}
	return name
}

// Copy returns the name in a copy of a file in the cache. It copies the file's module if that
// has not been done. The module may be the one in the cache, or its copy.
func (c *Copies) Copy(name string, module *packages.Module) (string, error) {
	dir := module.Dir
	if module.Replace != nil {
		dir = module.Replace.Dir
	}
	dir = c.Original(dir)
	m := c.modules[dir]
	if m == nil {
		rel, err := filepath.Rel(c.env.GOMODCACHE, dir)
		if err != nil {
			return "", fmt.Errorf("copying %s: %w", module.Path, err)
		}
		m = &copied{path: module.Path, dir: filepath.Join(c.dir, rel)}
		if err := m.make(dir); err != nil {
			return "", fmt.Errorf("copying %s: %w", module.Path, err)
		}
		c.modules[dir] = m
	}
	return filepath.Join(m.dir, strings.TrimPrefix(name, dir)), nil
}

// make copies the module. One from before modules gets a go.mod, which the go command wants.
func (m *copied) make(from string) error {
	if err := os.CopyFS(m.dir, os.DirFS(from)); err != nil {
		return err
	}
	mod := filepath.Join(m.dir, "go.mod")
	if _, err := os.Stat(mod); err == nil {
		return nil
	}
	return os.WriteFile(mod, []byte("module "+m.path+"\n"), 0o666)
}

// Use returns flags and the environment that have the go command build with the copies, made
// from those that it gets otherwise.
func (c *Copies) Use(flags, env []string) (newFlags, newEnv []string, err error) {
	if c == nil || len(c.modules) == 0 {
		return flags, env, nil
	}
	moved := make(map[string]string)
	for _, m := range c.modules {
		moved[m.path] = m.dir
	}
	work := c.env.Workspace()
	if work == "" {
		kept, added, err := replaceInMod(c.env.GOMOD, flags, c.dir, moved)
		return append(kept, added...), env, err
	}
	text, err := replaceInWork(work, moved)
	if err != nil {
		return nil, nil, err
	}
	name := filepath.Join(c.dir, "go.work")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		return nil, nil, fmt.Errorf("replacing dependencies: %w", err)
	}
	if env == nil {
		env = os.Environ()
	}
	return flags, append(env[:len(env):len(env)], "GOWORK="+name), nil
}
