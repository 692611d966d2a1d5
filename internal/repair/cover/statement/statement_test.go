package statement

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// fileOf reads one file of a package.
func fileOf(t *testing.T, text string) *source.File {
	t.Helper()
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, "p.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	pkg := &packages.Package{PkgPath: "p", Fset: fset, Syntax: []*ast.File{syntax}, TypesInfo: &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object),
		Implicits: make(map[ast.Node]types.Object), Selections: make(map[*ast.SelectorExpr]*types.Selection),
	}}
	config := types.Config{Importer: importer.Default()}
	if pkg.Types, err = config.Check("p", fset, pkg.Syntax, pkg.TypesInfo); err != nil {
		t.Fatal(err)
	}
	return &source.File{Name: "p.go", Text: []byte(text), Syntax: syntax, Fset: fset, Package: pkg, Info: pkg.TypesInfo, Types: pkg.Types}
}

// in is a function f of a package, with some statements.
func in(t *testing.T, body string) (*source.File, *ast.FuncDecl) {
	t.Helper()
	f := fileOf(t, `package p

import (
	"errors"
	"io"
)

var ErrOwn = errors.New("own")

var errChanged error

func setChanged() { errChanged = nil }

type T struct {
	n    int
	s    struct{ k int }
	list []*T
	err  error
}

func (t *T) get() int { return t.n }

func f(t *T, n int, c chan int, yes bool) {
`+body+`
}

var _ = io.EOF
`)
	for _, d := range f.Syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "f" {
			return f, fn
		}
	}
	panic("no f")
}

func TestControlDoesNotGoOnBehindStatementsThatTerminate(t *testing.T) {
	for body, want := range map[string]bool{
		"return": true, "n++": false, "panic(n)": true, "{ return }": true, "{}": false,
		"if yes { return } else { panic(1) }": true, "if yes { return }": false,
		"switch n { case 1: return; default: return }": true, "switch n { case 1: return }": false, "switch n { case 1: return; default: break }": false,
		"switch any(n).(type) { case int: return; default: return }": true,
		"for { n++ }": true, "for { break }": false, "for yes { n++ }": false,
	} {
		if _, fn := in(t, body); Terminates(fn.Body.List[0]) != want {
			t.Errorf("%s: %t, want %t", body, !want, want)
		}
	}
}

func TestWhatIsInStatements(t *testing.T) {
	f, fn := in(t, "here:\n\tn++\n\tif yes { goto here }\n\tfunc() { return }()\n\tdefer func() { recover() }()")
	list := fn.Body.List
	if Returns(list) || !HasGoto(fn.Body) || !HasLabel(list, &ast.Ident{Name: "here"}) || HasLabel(list, &ast.Ident{Name: "there"}) || HasLabel(list, nil) {
		t.Error("returns, gotos and labels are not as they are")
	}
	if !CallsAny(f.Info, list) || CallsAny(f.Info, list[:1]) || !Recovers(f.Info, fn.Body) {
		t.Error("calls are not as they are")
	}
	if list, from, to := Innermost(fn.Body, fn.Body.List[1].(*ast.IfStmt).Body.List[0].Pos(), fn.Body.List[1].(*ast.IfStmt).Body.List[0].End()); len(list) != 1 || from != 0 || to != 0 {
		t.Error("the innermost list of the goto is another")
	}
	if _, fn := in(t, "switch n { case 1: n++ }"); !HasClauses(fn.Body.List[0].(*ast.SwitchStmt).Body) || HasClauses(fn.Body) {
		t.Error("clauses are not as they are")
	}
}

// TestValuesThatCanBeReadAhead: of each expression it is told whether it only reads, whether a variable
// can stand for it, what it would be called, and whether nothing changes it.
func TestValuesThatCanBeReadAhead(t *testing.T) {
	for text, want := range map[string]string{
		"t.n":                     "reads copied n",
		"t.n + len(t.list)":       "reads copied value",
		"len(t.list)":             "reads copied n",
		"t.s":                     "reads s",
		"t.get()":                 "copied value",
		"<-c":                     "copied value",
		"&t.n":                    "copied value",
		"t.list[n]":               "reads copied value",
		"n":                       "reads copied value settled",
		"3":                       "copied value settled",
		"ErrOwn":                  "reads copied value settled",
		"errChanged":              "reads copied value",
		"T{}":                     "value settled",
		"T{n: t.n}":               "value",
		"nil == t":                "reads copied value",
		"any(t.n)":                "reads copied value",
		"func() int { return 1 }": "copied value",
	} {
		f, fn := in(t, "_ = "+text)
		e := fn.Body.List[0].(*ast.AssignStmt).Rhs[0]
		var got []string
		say := func(word string, is bool) {
			if is {
				got = append(got, word)
			}
		}
		say("reads", OnlyReads(f.Info, e))
		say("copied", CanCopy(f.Info.TypeOf(e)))
		say(NameFor(e), true)
		say("settled", IsSettled(f, fn, e))
		if words := strings.Join(got, " "); words != want {
			t.Errorf("%s: %s, want %s", text, words, want)
		}
	}
	f, fn := in(t, "_ = io.EOF")
	if !IsSettled(f, fn, fn.Body.List[0].(*ast.AssignStmt).Rhs[0]) {
		t.Error("io.EOF is not settled")
	}
	f, fn = in(t, "_ = n\n\tfunc() { n++ }()")
	if IsSettled(f, fn, fn.Body.List[0].(*ast.AssignStmt).Rhs[0]) {
		t.Error("a variable that a closure changes is settled")
	}
}

func TestTypesAreNamedAsTheFileDoes(t *testing.T) {
	for text, want := range map[string]string{"t.list": "[]*T", "io.Reader(nil)": "io.Reader", "1 << 3": "int", "t.s": "struct{k int}"} {
		f, fn := in(t, "_ = "+text)
		if got, ok := TypeText(f, fn.Body.List[0].(*ast.AssignStmt).Rhs[0]); !ok || got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestSelectsAndLoops(t *testing.T) {
	f, fn := in(t, "select { case c <- 1:\n\tcase n = <-c:\n\tcase <-c:\n\tdefault: }\n\tselect { case <-c: }\n\tfor range c {}\n\tfor range t.list {}\n\tfor i := 0; i < 3; i++ {}\n\tfor yes {}\n\tfor range func(func() bool) {} {}")
	list := fn.Body.List
	if !HasDefault(list[0].(*ast.SelectStmt)) || HasDefault(list[1].(*ast.SelectStmt)) || len(TriedOperations(list[0])) != 3 || len(TriedOperations(list[1])) != 0 {
		t.Error("selects are not as they are")
	}
	for i, want := range []bool{false, true, true, false, false} {
		if EndsByItself(f.Info, list[2+i]) != want {
			t.Errorf("%s: %t, want %t", f.TextOf(list[2+i]), !want, want)
		}
	}
}

func TestCallsAndNames(t *testing.T) {
	f, fn := in(t, "g := t.get\n\t_ = []any{g(), len(t.list), int(n), func() int { return 1 }()}")
	var got []bool
	for _, e := range fn.Body.List[1].(*ast.AssignStmt).Rhs[0].(*ast.CompositeLit).Elts {
		got = append(got, CallsValue(f.Info, e.(*ast.CallExpr)))
	}
	if want := []bool{true, false, false, false}; !slices.Equal(got, want) {
		t.Errorf("calls of values: %t, want %t", got, want)
	}
	for name, want := range map[string]bool{"n": false, "list": true, "get": true, "len": false, "other": true} {
		if IsUnused(f.Info, fn, name) != want {
			t.Errorf("%s is unused: %t, want %t", name, !want, want)
		}
	}
}

func TestLiteralsAreSetFieldByField(t *testing.T) {
	for text, want := range map[string]string{
		"T{}":                  "x.n, x.s, x.list, x.err = 0, struct{k int}{}, nil, nil",
		"T{err: ErrOwn, n: 2}": "x.n, x.s, x.list, x.err = 2, struct{k int}{}, nil, ErrOwn",
	} {
		f, fn := in(t, "_ = "+text)
		if got, ok := FieldByField(f, "x", fn.Body.List[0].(*ast.AssignStmt).Rhs[0].(*ast.CompositeLit)); !ok || got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestZeroValues(t *testing.T) {
	f := fileOf(t, "package p\n\nimport \"io\"\n\ntype s struct{ n int }\n\nfunc f[T any](a string, b bool, c float64, d *s, e s, g [2]s, h map[int]int, i io.Reader, k T) {}\n")
	want := []string{`""`, "false", "0", "nil", "s{}", "[2]s{}", "nil", "nil", ""}
	params := f.Types.Scope().Lookup("f").Type().(*types.Signature).Params()
	for i := range params.Len() {
		if got, ok := ZeroText(f, params.At(i).Type()); got != want[i] || ok != (want[i] != "") {
			t.Errorf("%s: %s, %t, want %s", params.At(i).Type(), got, ok, want[i])
		}
	}
}

func TestResultsKeepTheirTypes(t *testing.T) {
	f := fileOf(t, "package p\n\ntype flag bool\n\nfunc f(a, b int) flag { return a < b }\n\nfunc g(a int) bool { return a == 1 }\n\nfunc h(a uint) int64 { return 1 << a }\n\nfunc k(a int) int { return a + 1 }\n")
	want := map[string]string{"f": "flag(a < b)", "g": "a == 1", "h": "int64(1 << a)", "k": "a + 1"}
	for _, d := range f.Syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		x := fn.Body.List[0].(*ast.ReturnStmt).Results[0]
		if got, err := Typed(f, x, f.TextOf(x)); err != nil || got != want[fn.Name.Name] {
			t.Errorf("%s: %s, %v, want %s", fn.Name.Name, got, err, want[fn.Name.Name])
		}
	}
}
