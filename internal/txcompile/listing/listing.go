// Package listing finds the packages of a program that are read to compile its transactions:
// the user's own, and those of other modules if transactions call them.
package listing

import (
	"cmp"
	"fmt"
	"go/token"
	"go/version"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/load"
)

// Paths of the packages that transactions are made of.
const (
	STM      = "github.com/cofferdam-go/cofferdam/stm"
	Compiled = STM + "/compiled"
)

// A Listing is what the go command says of a program, by the paths of packages.
type Listing struct {
	// Own are the user's, and Others those of other modules that can be compiled.
	Own, Others map[string]*packages.Package
	Left        map[string]string // packages of other modules that cannot, and why, for people
	load        load.Config
	all         map[string]*packages.Package // of any module
	below       map[string]bool              // package stm, and what it imports
	stmDir      string
}

// New asks for the packages of the patterns and what they import.
func New(c load.Config) (*Listing, error) {
	roots, err := load.List(c)
	if err != nil {
		return nil, err
	}
	l := &Listing{load: c, Own: make(map[string]*packages.Package), Others: make(map[string]*packages.Package), Left: make(map[string]string), all: make(map[string]*packages.Package), below: make(map[string]bool)}
	packages.Visit(roots, nil, func(p *packages.Package) {
		if p.PkgPath == STM {
			l.stmDir = filepath.Dir(p.GoFiles[0])
			packages.Visit([]*packages.Package{p}, nil, func(p *packages.Package) { l.below[p.PkgPath] = true })
		}
	})
	if len(l.below) == 0 {
		return nil, fmt.Errorf("no transaction to compile: nothing imports %s", STM)
	}
	packages.Visit(roots, nil, func(p *packages.Package) {
		if p.Module == nil || p.ForTest != "" || strings.HasSuffix(p.PkgPath, ".test") || l.below[p.PkgPath] {
			return
		}
		l.all[p.PkgPath] = p
		switch why := whyLeft(p, c.Tests); {
		case why != "":
			l.Left[p.PkgPath] = why
		case load.Own(p):
			l.Own[p.PkgPath] = p
		default:
			l.Others[p.PkgPath] = p
		}
	})
	return l, nil
}

// whyLeft says why a package is not compiled, "" if it can be. What it becomes needs the language
// as it is since iterators: a module that is replaced by a directory may be older. Tests of other
// modules may need what is not there.
func whyLeft(p *packages.Package, tests bool) string {
	switch own := load.Own(p); {
	case version.Compare("go"+cmp.Or(p.Module.GoVersion, "1.16"), "go1.23") < 0:
		return "of a module whose go.mod says go " + cmp.Or(p.Module.GoVersion, "1.16") + ", where compiled code needs 1.23"
	case !own && tests:
		return "of another module, which is not compiled with tests"
	case !own && len(p.Errors) > 0:
		return "of a package with errors"
	}
	return ""
}

// Read returns packages with their syntax: those of the patterns, the user's own, and those of
// other modules if they are asked for.
func (l *Listing) Read(others bool) ([]*packages.Package, error) {
	patterns := slices.Clone(l.load.Patterns)
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	if isFile := strings.HasSuffix(patterns[0], ".go"); !isFile { // files cannot be mixed with packages
		paths := slices.Collect(maps.Keys(l.Own))
		if others {
			paths = slices.AppendSeq(paths, maps.Keys(l.Others))
		}
		slices.Sort(paths)
		for _, path := range paths {
			if !slices.Contains(patterns, path) {
				patterns = append(patterns, path)
			}
		}
	}
	c := l.load
	c.Patterns, c.Fset = patterns, token.NewFileSet()
	all, err := load.Packages(c)
	return slices.DeleteFunc(all, func(p *packages.Package) bool {
		return l.below[p.PkgPath] || l.Left[p.PkgPath] != "" || p.Name == "main" && strings.HasSuffix(p.ID, ".test")
	}), err
}

// Exposed returns the paths that packages import which are not among those that are read: what
// they do to the types of what they import is not known.
func (l *Listing) Exposed(read []*packages.Package) map[string]bool {
	here := make(map[string]bool)
	for _, p := range read {
		here[p.PkgPath] = true
	}
	var outside []*packages.Package
	for path, p := range l.all {
		if !here[path] {
			outside = append(outside, p)
		}
	}
	exposed := make(map[string]bool)
	packages.Visit(outside, nil, func(p *packages.Package) { exposed[p.PkgPath] = true })
	return exposed
}

// CheckVendor makes sure that a vendor directory has package stm/compiled: it has what the
// program imports, and that need not be more than stm. The go command does not take another
// list of what is vendored from an overlay.
func (l *Listing) CheckVendor() error {
	root, ok := strings.CutSuffix(filepath.ToSlash(l.stmDir), "/vendor/"+STM)
	if !ok {
		return nil
	}
	if _, err := os.Stat(filepath.FromSlash(root + "/vendor/" + Compiled)); err == nil {
		return nil
	}
	return fmt.Errorf("the vendor directory does not have %s, which compiled transactions need: add\n\timport _ %q\nto a file of the module and run go mod vendor, or build with -mod=mod",
		Compiled, Compiled)
}
