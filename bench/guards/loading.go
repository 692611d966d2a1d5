package guards

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// loadWithoutCompiling returns the typed syntax of packages whose files have some text in their names. What
// they import is type-checked without the bodies of its functions: to compile it for its export data takes
// most of an hour for hundreds of modules, and the analysis does not look at it.
func loadWithoutCompiling(dir, own string, patterns []string) ([]*packages.Package, error) {
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		Dir: dir,
		Env: append(os.Environ(), "CGO_ENABLED=0"), // cgo would have to be run
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution|parser.ParseComments)
			if file != nil && !strings.Contains(filepath.ToSlash(name), own) {
				dropBodies(file)
			}
			return file, err
		},
	}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("loading %s: %w", p.PkgPath, p.Errors[0])
		}
	}
	// That functions have no bodies, and that imports are not used then, is no mistake here.
	packages.Visit(all, nil, func(p *packages.Package) { p.IllTyped = false })
	return all, nil
}

func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			fn.Body = nil
		}
	}
}
