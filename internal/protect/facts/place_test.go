package facts_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// TestPlaces: a place is what one expression names for a whole section.
func TestPlaces(t *testing.T) {
	const source = `package p

type S struct{ a, b int }
type T struct {
	n    int
	s    S
	next *T
	list []int
	S
}

var g T

func f(x *T, v T) {
	_ = x
	_ = x.n
	_ = (x.s).a
	_ = x.a
	_ = v.s.b
	_ = g.n
	_ = x.next.n
	_ = x.list[0]
	_ = f
}`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object), Selections: make(map[*ast.SelectorExpr]*types.Selection)}
	conf := types.Config{Importer: importer.Default()}
	if _, err := conf.Check("p", fset, []*ast.File{file}, info); err != nil {
		t.Fatal(err)
	}
	body := file.Decls[len(file.Decls)-1].(*ast.FuncDecl).Body
	var places []facts.Place
	for i, want := range []string{"x", "x.n", "x.s.a", "x.S.a", "v.s.b", "g.n", "", "", ""} {
		p, ok := facts.PlaceOf(info, body.List[i].(*ast.AssignStmt).Rhs[0])
		if ok != (want != "") || ok && p.String() != want || p.Known() != ok {
			t.Errorf("statement %d names %q, want %q", i, p, want)
		}
		places = append(places, p)
	}
	x, xn, xsa, vsb, gn := places[0], places[1], places[2], places[4], places[5]
	whole := xsa.Parent()
	if whole.String() != "x.s" || !xsa.Within(whole) || whole.Within(xsa) || !xsa.Within(x) || xsa.Within(xn) || places[6].Within(x) {
		t.Errorf("%s and %s are not within each other as they should", xsa, whole)
	}
	if rest := xsa.Beyond(whole).Selectors(); rest != ".a" {
		t.Errorf("%s is %q beyond %s", xsa, rest, whole)
	}
	if !xn.Equal(xn) || xn.Equal(x) || len(xsa.Chain()) != 3 || len(xsa.Structs()) != 2 {
		t.Errorf("%s has the chain %v and the structs %v", xsa, xsa.Chain(), xsa.Structs())
	}
	if !xn.ThroughPointer() || vsb.ThroughPointer() || x.ThroughPointer() || !gn.IsGlobal() || xn.IsGlobal() {
		t.Error("pointers and globals are not told apart")
	}
}

// TestTypes: what must not be copied, and what the garbage collector has to see.
func TestTypes(t *testing.T) {
	const source = `package p

import (
	"sync"
	"sync/atomic"
)

type noCopy struct{}
type spin struct{ n int }
func (*spin) Lock() {}
func (*spin) Unlock() {}

type (
	mutex    struct{ mu sync.Mutex }
	counter  struct{ all [2]atomic.Int64 }
	marked   struct{ _ noCopy }
	locks    struct{ s spin }
	plain    struct{ n int; f [3]float64 }
	str      struct{ s string }
	slice    [2][]int
	table    struct{ m map[int]int }
	channel  struct{ c chan int }
	function struct{ f func() }
	dynamic  struct{ x any }
	pointer  struct{ p *int }
	locker   struct{ l sync.Locker }
)`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	pkg, err := conf.Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{
		"mutex": {"a sync.Mutex", ""}, "counter": {"a atomic.Int64", ""}, "marked": {"a noCopy", ""}, "locks": {"the lock spin", ""},
		"plain": {"", ""}, "str": {"", "a string"}, "slice": {"", "a slice"}, "table": {"", "a map"}, "channel": {"", "a channel"},
		"function": {"", "a function"}, "dynamic": {"", "an interface"}, "pointer": {"", "a pointer"}, "locker": {"", "an interface"},
	} {
		typ := pkg.Scope().Lookup(name).Type()
		if got := [2]string{facts.Uncopyable(typ), facts.HeapReference(typ)}; got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
		if got, want := facts.HasArray(typ), name == "counter" || name == "plain" || name == "slice"; got != want {
			t.Errorf("%s has an array: %t", name, got)
		}
	}
	structs := []types.Type{pkg.Scope().Lookup("spin").Type()}
	if !facts.Holds(pkg.Scope().Lookup("locks").Type(), structs) || facts.Holds(pkg.Scope().Lookup("plain").Type(), structs) {
		t.Error("only locks holds a spin")
	}
}
