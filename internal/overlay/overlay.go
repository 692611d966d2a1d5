// Package overlay has the go command build with other texts than those on disk, and with
// modules elsewhere than in its module cache. The source tree is not touched.
//
// # Texts
//
// An [Overlay] maps files to texts, or to other files. It is written as files and a list of
// them, and the go command gets the list:
//
//	o := overlay.New(env)
//	o.Add(pkg, "/src/a.go", changed)
//	flags, err := o.Write(dir, nil)     -overlay=dir/overlay.json
//
// # Modules elsewhere
//
// The go command refuses an overlay over its module cache. So a module there that gets other
// texts is replaced, in a generated go.mod or go.work, by a directory elsewhere:
//
//	require example.com/dep v1.0.0     require example.com/dep v1.0.0
//	                                   replace example.com/dep => /elsewhere/example.com/dep@v1.0.0
//
// An Overlay does so with a directory that does not exist, or is empty: the overlay maps
// every file of the module into it. Nothing is copied, and the directory is the same each
// time, because the results of the compiler are cached by it.
//
// That does not serve a tool that loads packages and changes them again and again, because
// package go/packages has an overlay of its own and the go command takes only one. [Copies]
// copies such modules as they are to a directory of the caller's, and knows the names of
// files in the cache and in the copy.
//
//	overlay.go  Overlay: texts and links, written for the go command
//	text.go     where texts are written
//	move.go     modules of the cache mapped elsewhere by an Overlay
//	copies.go   modules of the cache copied elsewhere
//	replace.go  a go.mod or go.work that has modules elsewhere
package overlay

import (
	"encoding/json"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// An Overlay is a set of files that take the place of others.
type Overlay struct {
	env *gotool.Environment
	// Text are files with their texts, Links files with others that stand for them.
	Text, Links map[string]string

	modules map[string]*packages.Module // of the cache, with other texts
	sources map[string]string           // of files that were written, or moved, those that they stand for
}

// New returns an empty overlay.
func New(e *gotool.Environment) *Overlay {
	return &Overlay{env: e, Text: make(map[string]string), Links: make(map[string]string), modules: make(map[string]*packages.Module), sources: make(map[string]string)}
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

// Source returns the file that one stands for which the go command names in a message: the
// compiler names the texts of an overlay by where they were written.
func (o *Overlay) Source(file string) string {
	for {
		source, ok := o.sources[file]
		if !ok {
			return file
		}
		file = source
	}
}

// Write writes the overlay into a directory, and returns the flags that have the go
// command use it, to be put behind those that it gets anyway.
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
		to, err := o.writeText(dir, file, text)
		if err != nil {
			return nil, err
		}
		replace[file], o.sources[to] = to, file
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "overlay.json")
	return append(added, "-overlay="+name), os.WriteFile(name, text, 0o666)
}
