package locks

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// TestLibrariesCallMethodsOfWhatTheyAreGiven holds calls of the standard library against the methods of the
// program that they may run.
func TestLibrariesCallMethodsOfWhatTheyAreGiven(t *testing.T) {
	_, unit := check(t, `package p

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

type job struct{ name string }

func (*job) String() string               { return "" }
func (*job) MarshalJSON() ([]byte, error) { return nil, nil }
func (*job) Write([]byte) (int, error)    { return 0, nil }
func (*job) WriteString(string)           {}

type list []*job

func (list) Len() int           { return 0 }
func (list) Less(i, j int) bool { return false }
func (list) Swap(i, j int)      {}

type failure struct{ j *job }

func (failure) Error() string { return "" }

type outer struct {
	Shown  *job
	hidden *failure
}

type plain struct{ n int }

func calls(j *job, l list, f failure, o outer, p plain) {
	fmt.Sprint("String", j)
	fmt.Errorf("String", j)
	fmt.Sprint("String", []*job{j})
	fmt.Sprint("String", o)
	fmt.Sprint("Error", f)
	fmt.Sprint("", p, j.name, *j)
	fmt.Fprint(j, "Write")
	fmt.Fprint(io.Discard, "String", j)
	json.Marshal(j)
	json.Marshal(map[string]outer{"MarshalJSON": o})
	sort.Sort(l)
	errors.Is(f, nil)
	strings.Contains(j.name, "")
}
`)
	p := NewProgram(unit)
	want := []string{"String", "String", "String", "String", "Error", "", "Write", "String", "MarshalJSON", "MarshalJSON", "Len Less Swap", "Error", ""}
	var got []string
	ast.Inspect(unit.Files[0], func(n ast.Node) bool {
		s, ok := n.(*ast.ExprStmt)
		if !ok {
			return true
		}
		call := s.X.(*ast.CallExpr)
		var names []string
		for _, f := range p.callees(unit.Info, call) {
			names = append(names, f.object.Name())
		}
		slices.Sort(names)
		got = append(got, strings.Join(names, " "))
		if at := len(got) - 1; at >= len(want) || got[at] != want[at] {
			t.Errorf("%s runs %q", types.ExprString(call), got[at])
		}
		return false
	})
	if len(got) != len(want) {
		t.Errorf("%d calls, want %d", len(got), len(want))
	}
}
