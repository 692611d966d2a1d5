package marks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// explorePath is the package that marks.
const explorePath = "github.com/cofferdam-go/cofferdam/explore"

// candidates are the test functions that may call explore.Test: by themselves, or by functions of
// the package's tests that they name.
func (p *goPackage) candidates() ([]string, error) {
	marks, names := map[string]bool{}, map[string][]string{} // by function: it marks; the functions that it names
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		local := localName(file)
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				readFunction(fn, local, marks, names)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for fn, called := range names {
			if !marks[fn] && slices.ContainsFunc(called, func(c string) bool { return marks[c] }) {
				marks[fn], changed = true, true
			}
		}
	}
	tests := slices.DeleteFunc(slices.Sorted(maps.Keys(marks)), func(name string) bool { return !strings.HasPrefix(name, "Test") || name == "TestMain" })
	return tests, nil
}

// localName is the name that a file has for package explore; "" if it does not import it.
func localName(file *ast.File) string {
	for _, i := range file.Imports {
		if path, err := strconv.Unquote(i.Path.Value); err != nil || path != explorePath {
			continue
		}
		if i.Name != nil {
			return i.Name.Name
		}
		return "explore"
	}
	return ""
}

func readFunction(fn *ast.FuncDecl, explore string, marks map[string]bool, names map[string][]string) {
	name := fn.Name.Name
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && explore != "" && x.Name == explore && n.Sel.Name == "Test" {
				marks[name] = true
			}
			names[name] = append(names[name], n.Sel.Name) // a method of a fixture
		case *ast.Ident:
			names[name] = append(names[name], n.Name)
		}
		return true
	})
}
