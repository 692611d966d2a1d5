package load

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// ErrOtherFiles is why packages cannot be loaded again from a Base: files are changed that are not
// of its packages, or that import "C".
var ErrOtherFiles = errors.New("other files than those of the packages are changed")

// A Base is packages that were loaded, to load them again with changes of some files. The go command
// is not asked again, and what the changes do not concern is not type-checked again: that costs a
// hundredth of what Packages does, which has to check everything that is imported if it is given
// changed files.
type Base struct {
	config   Config
	packages []*packages.Package
	// imported are packages that changes import and nothing did before.
	imported map[string]*packages.Package
}

// NewBase returns the base for packages that Packages has returned.
func NewBase(c Config, all []*packages.Package) *Base {
	return &Base{config: c, packages: all, imported: make(map[string]*packages.Package)}
}

// With returns the packages as they are with other contents of some files than those on disk. An
// error says why they do not compile, or is ErrOtherFiles.
func (b *Base) With(overlay map[string][]byte) ([]*packages.Package, error) {
	a := &reload{Base: b, overlay: overlay, again: make(map[*packages.Package]*packages.Package), parsed: make(map[string]*ast.File)}
	a.findChanges()
	for name := range a.changed {
		if !slices.ContainsFunc(b.packages, func(p *packages.Package) bool {
			return slices.Contains(p.GoFiles, name) && slices.Contains(p.CompiledGoFiles, name)
		}) {
			return nil, ErrOtherFiles
		}
	}
	var err error
	packages.Visit(b.packages, nil, func(p *packages.Package) { // what is imported first
		if err == nil && a.isConcerned(p) {
			a.again[p], err = a.check(p)
		}
	})
	if err != nil {
		return nil, err
	}
	all := slices.Clone(b.packages)
	for i, p := range all {
		if now := a.again[p]; now != nil {
			all[i] = now
		}
	}
	return all, nil
}

// A reload is one call of With.
type reload struct {
	*Base
	overlay map[string][]byte
	changed map[string]bool // names of files
	again   map[*packages.Package]*packages.Package
	parsed  map[string]*ast.File // changed files, which a package shares with itself without tests
}

// findChanges finds the files that are not as the base has them.
func (a *reload) findChanges() {
	a.changed = make(map[string]bool)
	for name, text := range a.overlay {
		if old, ok := a.config.Overlay[name]; !ok || !bytes.Equal(old, text) {
			a.changed[name] = true
		}
	}
	for name := range a.config.Overlay {
		if _, ok := a.overlay[name]; !ok {
			a.changed[name] = true
		}
	}
}

// isConcerned reports whether a package has a changed file, or imports one that has.
func (a *reload) isConcerned(p *packages.Package) bool {
	if len(p.Syntax) == 0 || strings.HasSuffix(p.ID, ".test") {
		return false
	}
	for _, i := range p.Imports {
		if a.again[i] != nil {
			return true
		}
	}
	return slices.ContainsFunc(p.CompiledGoFiles, func(name string) bool { return a.changed[name] })
}

// check type-checks a package that is concerned. Files that are as they were keep their syntax.
func (a *reload) check(p *packages.Package) (*packages.Package, error) {
	now := *p
	now.Syntax, now.TypesInfo, now.Errors, now.TypeErrors = nil, NewInfo(), nil, nil
	now.Imports = maps.Clone(p.Imports)
	for path, i := range now.Imports {
		if other := a.again[i]; other != nil {
			now.Imports[path] = other
		}
	}
	for _, old := range p.Syntax {
		f, err := a.parse(p.Fset, old)
		if err != nil {
			return nil, err
		}
		now.Syntax = append(now.Syntax, f)
	}
	var wrong []error
	conf := types.Config{
		Importer: importerFunc(func(path string) (*types.Package, error) { return a.importFor(&now, path) }),
		Sizes:    p.TypesSizes,
		Error:    func(err error) { wrong = append(wrong, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	var err error
	if now.Types, err = conf.Check(p.PkgPath, p.Fset, now.Syntax, now.TypesInfo); err != nil {
		return nil, fmt.Errorf("type-checking %s: %w", p.PkgPath, errors.Join(wrong[:min(len(wrong), maxErrors)]...))
	}
	return &now, nil
}

// parse is the syntax of a file, the old one if it is as it was.
func (a *reload) parse(fset *token.FileSet, old *ast.File) (*ast.File, error) {
	name := fset.File(old.FileStart).Name()
	switch {
	case !a.changed[name]:
		return old, nil
	case a.parsed[name] != nil:
		return a.parsed[name], nil
	}
	text, ok := a.overlay[name]
	if !ok {
		var err error
		if text, err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	f, err := parser.ParseFile(fset, name, text, parser.AllErrors|parser.ParseComments|parser.SkipObjectResolution)
	if err == nil {
		a.parsed[name] = f
	}
	return f, err
}

// importFor is what a package imports by a path. What it did not import before is loaded.
func (a *reload) importFor(p *packages.Package, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if i := p.Imports[path]; i != nil {
		return i.Types, nil
	}
	i := a.imported[path]
	if i == nil {
		all, err := Config{Dir: a.config.Dir, Patterns: []string{path}, Flags: a.config.Flags, Env: a.config.Env, Fset: p.Fset}.load(
			packages.NeedName | packages.NeedImports | packages.NeedTypes | packages.NeedTypesSizes)
		if err != nil {
			return nil, err
		}
		if err := failures(all); err != nil {
			return nil, err
		}
		i = all[0]
		a.imported[path] = i
	}
	p.Imports[path] = i
	return i.Types, nil
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
