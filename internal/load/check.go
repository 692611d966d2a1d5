package load

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Checked package has its original files (those that import "C" before cgo made
// them over) with their syntax and types.
type Checked struct {
	*packages.Package
	Fset  *token.FileSet
	Files []*source.File
	Info  *types.Info
}

// Language returns the version of Go that the package is written in, or "" for the
// standard library's, which is the latest.
func (c *Checked) Language() string {
	switch m := c.Module; {
	case m == nil:
		return ""
	case m.GoVersion == "":
		return "go1.16" // what the go command assumes
	default:
		return "go" + m.GoVersion
	}
}

// A Checker type-checks packages of one list, one by one or at the same time.
type Checker struct {
	// Overlay has other contents for some files, as Config has.
	Overlay map[string][]byte

	plain *exports // what is the same in all tests' builds

	mu   sync.Mutex
	test map[string]*exports // by the ForTest of the importing package
}

// NewChecker returns a checker for packages that List returned.
func NewChecker() *Checker {
	return &Checker{plain: newExports(), test: make(map[string]*exports)}
}

// NewInfo returns what a type-checker fills in.
func NewInfo() *types.Info {
	return &types.Info{
		Types:        make(map[ast.Expr]types.TypeAndValue),
		Instances:    make(map[*ast.Ident]types.Instance),
		Defs:         make(map[*ast.Ident]types.Object),
		Uses:         make(map[*ast.Ident]types.Object),
		Implicits:    make(map[ast.Node]types.Object),
		Selections:   make(map[*ast.SelectorExpr]*types.Selection),
		Scopes:       make(map[ast.Node]*types.Scope),
		FileVersions: make(map[*ast.File]string),
	}
}

// Check parses a package's files and type-checks them.
func (c *Checker) Check(p *packages.Package) (*Checked, error) {
	fset := token.NewFileSet()
	out := &Checked{Package: p, Fset: fset, Info: NewInfo()}
	var syntax []*ast.File
	for _, name := range p.GoFiles {
		text, ok := c.Overlay[name]
		if !ok {
			var err error
			if text, err = os.ReadFile(name); err != nil {
				return nil, err
			}
		}
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		file, err := source.NewFile(fset, f, text)
		if err != nil {
			return nil, err
		}
		out.Files = append(out.Files, file)
		syntax = append(syntax, f)
	}
	var wrong []error
	conf := types.Config{
		Importer:    c.Importer(p),
		FakeImportC: true,
		Sizes:       p.TypesSizes,
		Error:       func(err error) { wrong = append(wrong, err) },
	}
	conf.GoVersion = out.Language()
	// The compiler has accepted the package, or it would not be in the list. What
	// cgo would make of its C names is not known here, and may look like an error.
	checked, err := conf.Check(p.PkgPath, fset, syntax, out.Info)
	if err != nil && !usesC(syntax) {
		return nil, fmt.Errorf("type-checking %s: %w", p.PkgPath, errors.Join(wrong[:min(len(wrong), maxErrors)]...))
	}
	for _, f := range out.Files {
		f.Package, f.Types, f.Info = p, checked, out.Info
	}
	return out, nil
}

func usesC(files []*ast.File) bool {
	for _, f := range files {
		for _, i := range f.Imports {
			if i.Path.Value == `"C"` {
				return true
			}
		}
	}
	return false
}

// Importer returns an importer of what a package of the list imports.
func (c *Checker) Importer(p *packages.Package) types.Importer { return importer{c, p} }

// An importer resolves the imports of one package.
type importer struct {
	*Checker
	p *packages.Package
}

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	dep := i.p.Imports[path]
	if dep == nil {
		return nil, fmt.Errorf("%s is not among the imports of %s", path, i.p.ID)
	}
	from := i.plain
	if test := i.p.ForTest; test != "" {
		// In a test's build, packages may stand for others that are built with
		// the test's files; those must not mix with the plain ones.
		i.mu.Lock()
		if i.test[test] == nil {
			i.test[test] = newExports()
		}
		from = i.test[test]
		i.mu.Unlock()
	}
	return from.read(dep)
}

// exports is a set of packages read from export data that fit together.
type exports struct {
	mu       sync.Mutex
	fset     *token.FileSet
	packages map[string]*types.Package
}

func newExports() *exports {
	return &exports{fset: token.NewFileSet(), packages: make(map[string]*types.Package)}
}

func (e *exports) read(p *packages.Package) (*types.Package, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.packages[p.PkgPath]; t != nil && t.Complete() {
		return t, nil
	}
	if p.ExportFile == "" {
		return nil, fmt.Errorf("%s has not been compiled", p.PkgPath)
	}
	f, err := os.Open(p.ExportFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	//lint:ignore SA1019 until Go 1.28, go list -export gives archives, which nothing else reads
	r, err := gcexportdata.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("reading export data of %s: %w", p.PkgPath, err)
	}
	t, err := gcexportdata.Read(r, e.fset, e.packages, strings.TrimSuffix(p.PkgPath, ".test"))
	if err != nil {
		return nil, fmt.Errorf("reading export data of %s: %w", p.PkgPath, err)
	}
	return t, nil
}
