// Package load turns package patterns into packages: their list with all
// dependencies, their typed syntax, and their SSA form.
//
// There are two depths, because they differ a hundredfold in cost. List asks the
// go command alone, and has it compile what it lists, so that Check can then
// type-check any one package by itself against the export data of what it imports.
// Packages does the same for whole patterns at once, and a Base loads them again with changes.
//
// # Files
//
//	load.go   listing packages, with what they import
//	check.go  types of one package
//	again.go  packages again, with changes of some files
//	ssa.go    the SSA form of several
package load

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// Files is the path of a package that is given by its files.
const Files = "command-line-arguments"

// A Config says what to load.
type Config struct {
	// Dir is where the go command runs; empty means the current directory.
	Dir string
	// Patterns are package patterns as the go command takes them.
	Patterns []string
	// Tests asks for the packages' tests too.
	Tests bool
	// TestsOf, if set, is the only package whose tests matter: those of others that the
	// patterns match are left out, and need not build.
	TestsOf string
	// Flags are build flags to pass on, such as -tags=x.
	Flags []string
	// Env is the environment of the go command; nil means the process's own.
	Env []string
	// Overlay has other contents for some files.
	Overlay map[string][]byte
	// Fset is for the positions of syntax; nil means one of its own.
	Fset *token.FileSet
}

func (c Config) load(mode packages.LoadMode) ([]*packages.Package, error) {
	if len(c.Patterns) == 0 {
		c.Patterns = []string{"."}
	}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	all, err := packages.Load(&packages.Config{
		Mode:       mode,
		Dir:        c.Dir,
		Env:        env,
		BuildFlags: c.Flags,
		Tests:      c.Tests,
		Fset:       c.Fset,
		Overlay:    c.Overlay,
	}, c.Patterns...)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", strings.Join(c.Patterns, " "), err)
	}
	if c.TestsOf != "" {
		all = slices.DeleteFunc(all, c.otherTest)
	}
	if len(all) == 0 {
		if err := c.why(env); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("no packages match %s: give one of the current module (./... is all of them)", strings.Join(c.Patterns, " "))
	}
	return all, nil
}

// otherTest reports whether a package belongs to the tests of another than TestsOf.
func (c Config) otherTest(p *packages.Package) bool {
	of := tested(p)
	return of != p.ID && of != c.TestsOf
}

// why asks the go command what is wrong with the patterns, when that is all there
// is to say.
func (c Config) why(env []string) error {
	args := append([]string{"list", "-deps", fmt.Sprintf("-test=%t", c.Tests)}, c.Flags...)
	_, err := gotool.New(c.Dir, env).Output(context.Background(), slices.Concat(args, []string{"--"}, c.Patterns)...)
	var failed *gotool.Error
	if !errors.As(err, &failed) {
		return err
	}
	text := strings.TrimSpace(failed.Stderr)
	return fmt.Errorf("loading %s: %s%s", strings.Join(c.Patterns, " "), text, advice(text))
}

// List returns the packages that the patterns match, with everything they import,
// and the place of each one's export data. It reads no source.
func List(c Config) ([]*packages.Package, error) {
	all, broken, err := ListBuilding(c)
	if err == nil && len(broken) > 0 {
		var lists [][]*packages.Package
		for _, b := range broken {
			lists = append(lists, b.Packages)
		}
		err = failures(slices.Concat(lists...))
	}
	return all, err
}

// A Broken package does not build, alone or with its tests.
type Broken struct {
	Path string
	Err  error
	// Packages are what the list has of it: itself, and itself with its tests.
	Packages []*packages.Package
}

// ListBuilding is List without the packages that do not build, which it returns apart. If
// none builds, that is an error.
func ListBuilding(c Config) (building []*packages.Package, broken []Broken, err error) {
	all, err := c.load(packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
		packages.NeedModule | packages.NeedExportFile | packages.NeedEmbedFiles | packages.NeedTypesSizes | packages.NeedForTest)
	if err != nil {
		return nil, nil, err
	}
	var order []string
	groups := map[string][]*packages.Package{}
	for _, p := range all {
		path := tested(p)
		if groups[path] == nil {
			order = append(order, path)
		}
		groups[path] = append(groups[path], p)
	}
	for _, path := range order {
		if err := failures(groups[path]); err != nil {
			broken = append(broken, Broken{path, err, groups[path]})
			continue
		}
		building = append(building, groups[path]...)
	}
	if len(building) == 0 {
		return nil, nil, failures(all)
	}
	return building, broken, nil
}

// tested is the path of the package that one belongs to: itself, or the one it tests.
func tested(p *packages.Package) string {
	if p.ForTest != "" {
		return p.ForTest
	}
	return strings.TrimSuffix(p.ID, ".test")
}

// Packages returns the typed syntax of the packages that the patterns match; with
// Tests, a package with tests of its own comes once as it is and once with them.
// What they import comes without syntax.
func Packages(c Config) ([]*packages.Package, error) {
	if c.Fset == nil {
		c.Fset = token.NewFileSet()
	}
	all, err := c.load(packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
		packages.NeedModule | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedForTest)
	if err != nil {
		return nil, err
	}
	return all, failures(all)
}

// Own reports whether a package is the user's own code, as opposed to a dependency or the
// standard library: it is of a main module (a workspace has several), of a module that a
// replace directive points to a local directory, or given by its files. A copy in a vendor
// directory is a dependency, wherever it was copied from.
func Own(p *packages.Package) bool {
	m := p.Module
	if m == nil {
		return p.PkgPath == Files
	}
	return m.Main || m.Replace != nil && m.Replace.Version == "" && m.Dir != ""
}

// Variants returns each package of the list once, in the order of import paths:
// of those that are the same but for test files, the one with most files.
func Variants(roots []*packages.Package) []*packages.Package {
	best := make(map[string]*packages.Package)
	packages.Visit(roots, nil, func(p *packages.Package) {
		if strings.HasSuffix(p.ID, ".test") && p.Name == "main" && p.ForTest == "" {
			return // what go test makes to run tests
		}
		if old := best[p.PkgPath]; old == nil || len(p.GoFiles) > len(old.GoFiles) {
			best[p.PkgPath] = p
		}
	})
	var all []*packages.Package
	for _, path := range slices.Sorted(maps.Keys(best)) {
		all = append(all, best[path])
	}
	return all
}

// maxErrors is how many errors are printed: the first few are nearly always the
// cause of the rest.
const maxErrors = 10

// failures gathers what is wrong with the packages and what they import.
func failures(all []*packages.Package) error {
	var list []string
	seen := make(map[string]bool)
	more := 0
	packages.Visit(all, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			text := e.Msg
			if e.Pos != "" && e.Pos != "-" {
				text = e.Pos + ": " + e.Msg
			}
			switch {
			case seen[text]:
				continue
			case len(list) >= maxErrors:
				more++
			default:
				list = append(list, text+advice(e.Msg))
			}
			seen[text] = true
		}
	})
	if len(list) == 0 {
		return nil
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return errors.New("the packages do not build:\n\t" + strings.Join(list, "\n\t"))
}

// advice says what to do about the errors that are about where one stands rather
// than what one wrote.
func advice(msg string) string {
	switch {
	case strings.Contains(msg, "no required module provides"), strings.Contains(msg, "missing go.sum entry"), strings.Contains(msg, "updates to go.mod needed"):
		return " (run go mod tidy in the module)"
	case strings.Contains(msg, "go.mod file not found"), strings.Contains(msg, "outside main module"), strings.Contains(msg, "does not contain main module"):
		return " (change into the module's directory)"
	case strings.Contains(msg, "build constraints exclude all Go files"):
		return " (pass the -tags it needs)"
	}
	return ""
}

// FuncName returns a declaration's name as stack traces spell it, without the
// package.
func FuncName(fd *ast.FuncDecl) string {
	if fd.Recv == nil || len(fd.Recv.List) == 0 {
		return fd.Name.Name
	}
	t := fd.Recv.List[0].Type
	star := false
	for {
		switch x := t.(type) {
		case *ast.ParenExpr:
			t = x.X
		case *ast.StarExpr:
			star, t = true, x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			if star {
				return "(*" + x.Name + ")." + fd.Name.Name
			}
			return x.Name + "." + fd.Name.Name
		default:
			return fd.Name.Name
		}
	}
}
