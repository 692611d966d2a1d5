package repair

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
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

func TestAShorterTestSaysWhatIsChanged(t *testing.T) {
	s := &ShorterTest{File: "a_test.go", Lines: []int{7, 12}, From: 200, To: 3, Steps: 9000, ShorterSteps: 80}
	want := "with 3 in the place of 200 (a_test.go:7,12), the test fails in the same way in a run of 80 steps, and not of 9000"
	if got := s.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	s.Strength = &Strength{Grade: Exhaustive, Preemptions: 2}
	if got := s.String(); got != want+"; with the fix, that one is proven too (exhaustive to 2 preemptions)" {
		t.Error(got)
	}
}
