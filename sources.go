// Package cofferdam holds the sources that instrumented programs are built with.
//
// An instrumented program calls hooks, and its standard library does too. So the
// hooks, and what they import of this module, are laid over the standard library as
// packages of its own: cofferdamrt and those below it. Package
// internal/instrument does that; this package only carries the text, because files
// can be embedded only from where they stand.
package cofferdam

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed rt internal/event/*.go internal/sched/*.go internal/trace/*.go internal/wire/*.go
//go:embed tolerate/*.go internal/finding/*.go internal/protect/watch/*.go
var sources embed.FS

const module = "github.com/cofferdam-go/cofferdam/"

// A Source is one file of an instrumented program's hooks.
type Source struct {
	// Name is its path below the standard library: cofferdamrt/memory.go.
	Name string
	Text string
}

// laid returns the directory that a directory of this module is laid over.
func laid(dir string) string {
	switch {
	case dir == "rt":
		return "cofferdamrt"
	case strings.HasPrefix(dir, "rt/"):
		return "cofferdamrt/" + strings.TrimPrefix(dir, "rt/")
	}
	return "cofferdamrt/" + strings.TrimPrefix(dir, "internal/")
}

// Sources returns the files, in the order of their names, with imports of this
// module turned into those of the packages that they are laid over. Tests are not
// among them.
func Sources() ([]Source, error) {
	var all []Source
	dirs := make(map[string]bool)
	err := fs.WalkDir(sources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		ext := path.Ext(name)
		if strings.HasSuffix(name, "_test.go") || ext != ".go" && ext != ".s" && ext != ".h" {
			return nil
		}
		text, err := sources.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading an embedded source: %w", err)
		}
		dir := path.Dir(name)
		dirs[dir] = true
		all = append(all, Source{Name: laid(dir) + "/" + path.Base(name), Text: string(text)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range all {
		for dir := range dirs {
			all[i].Text = strings.ReplaceAll(all[i].Text, `"`+module+dir+`"`, `"`+laid(dir)+`"`)
		}
	}
	return all, nil
}
