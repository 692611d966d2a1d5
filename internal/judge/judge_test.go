package judge_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/judge"
)

var want = regexp.MustCompile(`(?m)^want: ([^;\n]*)(; race)?(; spins)?$`)

// TestProgramsEndAsTheirCommentsSay: the programs are small enough for a person to know all
// of their outcomes.
func TestProgramsEndAsTheirCommentsSay(t *testing.T) {
	dir := filepath.Join("testdata", "programs")
	p, err := judge.Load(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "programs.go"), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Doc == nil || !f.Name.IsExported() {
			continue
		}
		t.Run(f.Name.Name, func(t *testing.T) {
			m := want.FindStringSubmatch(f.Doc.Text())
			if m == nil {
				t.Fatal("it has no want")
			}
			outcomes := strings.Split(m[1], " | ")
			slices.Sort(outcomes)
			v, err := p.Explore(f.Name.Name, judge.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range v.Outcomes {
				got = append(got, o.String())
			}
			if diff := cmp.Diff(outcomes, got); diff != "" || !v.Complete {
				t.Errorf("outcomes (-want +got), complete %v:\n%s", v.Complete, diff)
			}
			if got := len(v.Races) > 0; got != (m[2] != "") {
				t.Errorf("races %v", v.Races)
			}
			if v.Spins != (m[3] != "") {
				t.Errorf("it spins: %t", v.Spins)
			}
			t.Logf("%d states", v.States)
		})
	}
}
