package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// TestTypesThatDependOnTheInstanceAreTold has a generic function whose variables are of types
// that depend on its type parameter, or not, as their names say.
func TestTypesThatDependOnTheInstanceAreTold(t *testing.T) {
	const text = `package p
type List[E any] struct{ next *List[E]; value E }
type Alias = []int
func f[T any](x T) {
	var generic1 T
	var generic2 []*T
	var generic3 map[string][2]T
	var generic4 chan func(int) T
	var generic5 struct{ a int; b List[T] }
	var generic6 interface{ m(T) }
	var generic7 interface{ interface{ m() T } }
	var generic8 func(...T)
	var plain1 List[int]
	var plain2 Alias
	var plain3 func(string) (int, error)
	var plain4 interface{ m(int); error }
	var plain5 struct{ a map[int]chan string }
}`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Defs: make(map[*ast.Ident]types.Object)}
	conf := types.Config{Error: func(error) {}} // variables are not used
	_, _ = conf.Check("p", fset, []*ast.File{file}, info)
	seen := 0
	for id, o := range info.Defs {
		v, ok := o.(*types.Var)
		if !ok || len(id.Name) < 6 || v.IsField() {
			continue
		}
		seen++
		if got, want := HasTypeParam(v.Type()), id.Name[:5] == "gener"; got != want {
			t.Errorf("%s, a %s: %t", id.Name, v.Type(), got)
		}
	}
	if seen != 13 {
		t.Errorf("%d variables, want 13", seen)
	}
}
