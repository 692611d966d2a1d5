package rounds

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// TestTheLongestLoopIsFound, however its rounds are written.
func TestTheLongestLoopIsFound(t *testing.T) {
	for body, want := range map[string]int{
		"for range 3 {}; for i := range 200 { _ = i }": 200,
		"for i := 0; i < 50; i++ {}":                   50,
		"for i := 1; i <= 1_000; i++ {}":               1000,
		"const rounds = 64; for range rounds {}":       64,
		"for i := 300; i > 0; i-- {}":                  0,
		"wait(500)":                                    0,
		"go func() { for range 0x10 {} }()":            16,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p; func f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := mostRounds(f.Decls[0].(*ast.FuncDecl).Body); got != want {
			t.Errorf("%s: %d rounds, want %d", body, got, want)
		}
	}
}

// TestAllNumbersThatAreTheRoundsAreReplaced: what the test expects is one of them; another number, and
// another test, are left alone.
func TestAllNumbersThatAreTheRoundsAreReplaced(t *testing.T) {
	text := []byte(`package p

func TestAdd() {
	for range 200 {
		add(7)
	}
	if sum() != 200 {
		fail(200 * 7)
	}
}

func TestOther() { for range 200 {} }
`)
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, "dir/p_test.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	file := &source.File{Name: "dir/p_test.go", Text: text, Syntax: syntax, Fset: fset}
	all := Fewer([]*source.File{file}, "TestAdd/sub")
	if len(all) != len(fewRounds) {
		t.Fatalf("%d shorter tests", len(all))
	}
	s := all[0]
	if s.File != "p_test.go" || s.From != 200 || s.To != 2 || !slices.Equal(s.Lines, []int{4, 7, 8}) {
		t.Errorf("%+v", s)
	}
	want := strings.Replace(string(text), "200", "2", 3)
	if string(s.Text) != want {
		t.Errorf("got\n%s", s.Text)
	}
	if none := Fewer([]*source.File{file}, "TestMissing"); none != nil {
		t.Errorf("%d for a test that is not there", len(none))
	}
}
