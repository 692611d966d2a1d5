package judge

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// A Library is packages of the standard library, loaded once for many programs that import
// them and nothing else: loading is most of what judging a small program costs.
type Library struct {
	fset    *token.FileSet
	program *ssa.Program
	types   map[string]*types.Package
	sizes   types.Sizes
}

// LoadLibrary loads what the judge interprets, and other packages that programs import.
func LoadLibrary(imports ...string) (*Library, error) {
	fset := token.NewFileSet()
	all, err := packages.Load(&packages.Config{Mode: loadMode, Fset: fset}, slices.Concat(interpreted, imports)...)
	if err != nil {
		return nil, fmt.Errorf("loading the standard library: %w", err)
	}
	l := &Library{fset: fset, types: make(map[string]*types.Package)}
	for _, p := range all {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("loading the standard library: %w", e)
		}
		l.types[p.PkgPath], l.sizes = p.Types, p.TypesSizes
	}
	l.program, _ = ssautil.Packages(all, ssa.InstantiateGenerics)
	l.program.Build()
	return l, nil
}

// Import returns a package of the library.
func (l *Library) Import(path string) (*types.Package, error) {
	if p := l.types[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("not in the library: " + path)
}

// An importer also knows packages that are not of the library.
type importer struct {
	*Library
	others []*Program
}

func (i importer) Import(path string) (*types.Package, error) {
	for _, p := range i.others {
		if p.pkg.Pkg.Path() == path {
			return p.pkg.Pkg, nil
		}
	}
	return i.Library.Import(path)
}

// Package prepares a package of some files, whose path is that of no other package of the
// library. It may import others, which were prepared before, under the paths that they have there.
func (l *Library) Package(path string, files map[string][]byte, others ...*Program) (*Program, error) {
	var syntax []*ast.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := parser.ParseFile(l.fset, name, files[name], parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		syntax = append(syntax, f)
	}
	config := &types.Config{Importer: importer{l, others}, Sizes: l.sizes}
	pkg, info := types.NewPackage(path, syntax[0].Name.Name), &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object),
		Implicits: make(map[ast.Node]types.Object), Instances: make(map[*ast.Ident]types.Instance), Scopes: make(map[ast.Node]*types.Scope),
		Selections: make(map[*ast.SelectorExpr]*types.Selection), FileVersions: make(map[*ast.File]string),
	}
	if err := types.NewChecker(config, l.fset, pkg, info).Files(syntax); err != nil {
		return nil, err
	}
	built := l.program.CreatePackage(pkg, syntax, info, false)
	built.Build()
	return New(l.program, built, l.sizes, others...)
}
