package dataname_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
)

const text = `package p

import "sync/atomic"

type Shop struct {
	open  bool
	items map[int]*Item
	seen  atomic.Int64
	stats Stats
	named struct{ hits int }
}

type Item struct{ Stock int }

type Stats struct{ Sold int }
`

func check(t *testing.T) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: importer.ForCompiler(fset, "source", nil)}).Check("example.com/p", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

// TestTheCommentNamesAllThatTheLockGuards: the fields of the struct that has it in their order, a struct
// inside it as one, the fields of other objects by their types.
func TestTheCommentNamesAllThatTheLockGuards(t *testing.T) {
	shop := check(t).Scope().Lookup("Shop").Type().(*types.Named)
	field := func(owner, name string) dataname.Name {
		return dataname.Name{Package: "example.com/p", Owner: owner, Name: name}
	}
	for _, row := range []struct {
		guarded []dataname.Name
		want    string
	}{
		{nil, ""},
		{[]dataname.Name{field("Shop", "items"), field("Shop", "open")}, "// guards open, items"},
		{[]dataname.Name{field("Shop", "seen"), field("Shop", "open")}, "// guards open, changes of seen"},
		{[]dataname.Name{field("Shop", "items"), field("Item", "Stock")}, "// guards items, Item.Stock"},
		{[]dataname.Name{field("Item", "Stock")}, "// guards Item.Stock"},
		{[]dataname.Name{field("Shop", "open"), field("Stats", "Sold")}, "// guards open, stats"},
		{[]dataname.Name{field("Shop", "named.hits")}, "// guards named.hits"},
		{[]dataname.Name{{Package: "example.com/q", Owner: "Log", Name: "lines"}}, "// guards q.Log.lines"},
	} {
		if got := dataname.FieldComment(shop, row.guarded); got != row.want {
			t.Errorf("%v: %q, want %q", row.guarded, got, row.want)
		}
	}
	of := []dataname.Name{{Package: "example.com/p", Name: "count"}, field("Item", "Stock"), {Package: "example.com/p", Function: "f", Name: "n"}}
	if got, want := dataname.PackageComment("example.com/p", of), " // guards count, Item.Stock"; got != want {
		t.Errorf("of a package: %q, want %q", got, want)
	}
	if got := dataname.PackageComment("example.com/q", of); got != "" {
		t.Errorf("of another package: %q", got)
	}
}

// TestFieldsHaveTheNamesOfWhatTheyAreIn: a field of a struct without a name is found by both names.
func TestFieldsHaveTheNamesOfWhatTheyAreIn(t *testing.T) {
	shop := check(t).Scope().Lookup("Shop").Type().(*types.Named)
	var names []string
	dataname.EachField(shop, func(name string, v *types.Var) {
		names = append(names, name)
		if !dataname.HasField(shop, v) || dataname.FieldPath(shop, v) != name {
			t.Errorf("%s is %q, and a field of its struct: %t", name, dataname.FieldPath(shop, v), dataname.HasField(shop, v))
		}
	})
	if len(names) != 6 || names[5] != "named.hits" {
		t.Errorf("fields %q", names)
	}
}
