package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// A platform is one that the packages are for though no test runs there, with those that
// refuse it.
type platform struct {
	os, arch string
	refused  []string
}

// platforms are the systems, processors and sizes of words that README's table speaks of.
var platforms = []platform{
	{"windows", "amd64", nil},
	{"darwin", "arm64", nil},
	{"linux", "arm64", nil},
	{"linux", "386", []string{"stm"}}, // its logs are made of words that hold a pointer and are eight bytes
}

// checkPlatforms type-checks the packages for platforms other than this one. To compile them
// would tell little more, and on a machine that has compiled nothing yet it would take half
// a minute for each platform, most of it for the standard library. A package that refuses a
// platform has to fail there, or README's table is out of date.
func checkPlatforms(ctx context.Context) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	sources := &sources{root: root + string(filepath.Separator), fset: token.NewFileSet(), files: make(map[string]*sourceFile)}
	for _, p := range platforms {
		if err := sources.checkFor(ctx, p); err != nil {
			return fmt.Errorf("for %s/%s: %w", p.os, p.arch, err)
		}
	}
	return nil
}

// checkFor type-checks the packages for one platform.
func (s *sources) checkFor(ctx context.Context, p platform) error {
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		Env:       append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0"),
		Fset:      s.fset,
		ParseFile: s.parse,
	}, "./...")
	if err != nil {
		return err
	}
	refuses := make(map[*packages.Package]bool)
	packages.Visit(pkgs, nil, func(pkg *packages.Package) {
		refuses[pkg] = slices.ContainsFunc(p.refused, func(path string) bool { return strings.HasSuffix(pkg.PkgPath, "/"+path) })
		for _, imported := range pkg.Imports {
			refuses[pkg] = refuses[pkg] || refuses[imported] // a package goes with those that it stands on
		}
	})
	for _, pkg := range pkgs {
		switch {
		case len(pkg.Errors) > 0 && !refuses[pkg]:
			return fmt.Errorf("%s: %w", pkg.PkgPath, pkg.Errors[0])
		case len(pkg.Errors) == 0 && slices.ContainsFunc(p.refused, func(path string) bool { return strings.HasSuffix(pkg.PkgPath, "/"+path) }):
			return fmt.Errorf("%s has no error, though it is said to refuse the platform", pkg.PkgPath)
		}
	}
	return nil
}

// sources are the parsed files of all platforms, most of which several have in common.
type sources struct {
	root string // what is below is the project's own
	fset *token.FileSet

	mu    sync.Mutex
	files map[string]*sourceFile
}

type sourceFile struct {
	once sync.Once
	file *ast.File
	err  error
}

// parse returns the syntax of a file, which for a file of another project is without the
// bodies of its functions.
func (s *sources) parse(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
	s.mu.Lock()
	f := s.files[name]
	if f == nil {
		f = new(sourceFile)
		s.files[name] = f
	}
	s.mu.Unlock()
	f.once.Do(func() {
		if f.file, f.err = parser.ParseFile(fset, name, text, parser.SkipObjectResolution); f.file == nil || strings.HasPrefix(name, s.root) {
			return
		}
		for _, d := range f.file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				d.Body = nil
			}
		}
	})
	return f.file, f.err
}
