package gossa

import (
	"os"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
)

// TestPackageCommentsShowWhatHappens: the examples in the comments of gossa and sli are
// what lifting and analysing testdata/example gives.
func TestPackageCommentsShowWhatHappens(t *testing.T) {
	p, _, a := analyse(t, "example")
	short := func(s string) string {
		return strings.ReplaceAll(s, strings.TrimSuffix(pkgPath("example"), "example"), "")
	}
	shows := func(file string, lines ...string) {
		t.Helper()
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, l := range strings.Split(strings.TrimRight(strings.Join(lines, "\n"), "\n"), "\n") {
			want += "//\t" + l + "\n"
		}
		if !strings.Contains(string(b), want) {
			t.Errorf("the comment in %s does not show\n%s", file, want)
		}
	}
	source, err := os.ReadFile("testdata/example/example.go")
	if err != nil {
		t.Fatal(err)
	}
	_, steady, _ := strings.Cut(string(source), "func steady()")
	shows("gossa.go", "func steady()"+steady)
	shows("gossa.go", short(p.Func(pkgPath("example")+".steady").String()))
	shows("../../sli/doc.go", "func steady()"+steady)
	shows("../../sli/doc.go", short(draw.Text(a.Machines[len(a.Machines)-1])))
	var sections []string
	for _, s := range a.Fixes[0].Sections {
		var instrs []string
		for _, in := range s.Instrs {
			instrs = append(instrs, short(in.String()))
		}
		sections = append(sections, s.Role.String()+" in "+short(s.Func.Name)+": "+strings.Join(instrs, ", "))
	}
	shows("../../sli/doc.go", sections...)
	if a.Fixes[0].Cost != 23 {
		t.Errorf("the cost is %d, the comment says 23", a.Fixes[0].Cost)
	}
}
