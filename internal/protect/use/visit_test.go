package use

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A variable of another package is used with the name of its package, and that is no field of anything.
func TestVisitsHaveTheNamesOfOtherPackages(t *testing.T) {
	const far = "package far; type T struct{ A struct{ N int }; L [2]int }; func (t *T) Add() {}; var V T; var P *T; var S []int"
	const source = `package p

import "far"

func f(use func(...any)) {
	use(far.V, &far.V, far.V.A.N)
	far.V.A.N = 1
	far.V.L[1]++
	far.V.Add()
	use(far.P.A, (far.S)[0], far.V.L[:])
	far.P = nil
	far.P.Add()
}
`
	fset := token.NewFileSet()
	info := &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object),
		Selections: make(map[*ast.SelectorExpr]*types.Selection),
	}
	parse := func(path, text string) *ast.File {
		file, err := parser.ParseFile(fset, path+".go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	imported, err := new(types.Config).Check("far", fset, []*ast.File{parse("far", far)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := parse("p", source)
	conf := types.Config{Importer: only{imported}}
	if _, err := conf.Check("p", fset, []*ast.File{file}, info); err != nil {
		t.Fatal(err)
	}
	uses := make(map[ast.Node]facts.Key)
	for id, obj := range info.Uses {
		if v, ok := obj.(*types.Var); ok && facts.IsGlobal(v) {
			uses[id] = facts.Key(v.Name())
		}
	}
	fn := file.Decls[slices.IndexFunc(file.Decls, func(d ast.Decl) bool { _, ok := d.(*ast.FuncDecl); return ok })]
	text := func(n ast.Node) string {
		return source[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset]
	}
	var got []string
	for _, v := range Visits(info, fn.(*ast.FuncDecl), uses) {
		if v.Stmt != nil {
			got = append(got, "store: "+text(v.Stmt))
			continue
		}
		got = append(got, text(v.Expr))
	}
	want := []string{
		"far.V", "far.V.A.N", "store: far.V.A.N = 1", "store: far.V.L[1]++", "far.P", "(far.S)", "store: far.P = nil", "far.P",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the uses that are written as calls (-want +got):\n%s", diff)
	}
}

// An only importer has one package.
type only struct{ *types.Package }

func (o only) Import(string) (*types.Package, error) { return o.Package, nil }
