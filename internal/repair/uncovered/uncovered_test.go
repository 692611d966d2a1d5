package uncovered

import (
	"fmt"
	"slices"
	"testing"
)

// TestLinesAreShort: accesses of one function for one reason are one line, and a list that is too
// long to read is cut, with the number of what is left out.
func TestLinesAreShort(t *testing.T) {
	all := []Access{
		{File: "/p/a.go", Line: 3, Func: "(*T).F", Data: "n", Write: true, Why: "no lock"},
		{File: "/p/a.go", Line: 9, Func: "(*T).G", Data: "n", Why: "no lock"},
		{File: "/p/a.go", Line: 5, Func: "(*T).F", Data: "m", Write: true, Why: "no lock"},
		{File: "/p/a.go", Line: 4, Func: "(*T).F", Data: "m", Why: "no lock"},
	}
	want := []string{"write of n, m in (*T).F (a.go:3-5): no lock", "read of n in (*T).G (a.go:9): no lock", "read of m in (*T).F (a.go:4): no lock"}
	if got := Lines(all); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i := range 20 {
		all = append(all, Access{File: "/p/b.go", Line: i, Func: fmt.Sprint("F", i), Data: "x", Why: "no lock"})
	}
	lines := Lines(all)
	if len(lines) != mostLines+1 || lines[mostLines] != "and 11 more, which -json has" {
		t.Errorf("of %d accesses: %q", len(all), lines)
	}
}

// TestAnAccessIsToldOnce: a line that is added again for the same data is one access, which writes if
// either does.
func TestAnAccessIsToldOnce(t *testing.T) {
	x := Access{File: "a.go", Line: 3, Data: "n", Why: "first"}
	y := Access{File: "a.go", Line: 3, Data: "n", Write: true, Why: "second"}
	all := Add(Add(nil, x), y, Access{File: "a.go", Line: 3, Data: "m"})
	if len(all) != 2 || !all[0].Write || all[0].Why != "first" {
		t.Errorf("%+v", all)
	}
}
