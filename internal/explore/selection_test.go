package explore

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSelectionsAreTakenApartAsPackageTestingDoes(t *testing.T) {
	for pattern, want := range map[string][][]string{
		"":                     {{""}},
		"TestA":                {{"TestA"}},
		"TestA/sub/x":          {{"TestA", "sub", "x"}},
		"TestA|TestB/[/|]y":    {{"TestA"}, {"TestB", "[/|]y"}},
		"Test(A|B/C)/z":        {{"Test(A|B/C)", "z"}},
		`Test\/A\|B/x`:         {{`Test\/A\|B`, "x"}},
		"/sub":                 {{"", "sub"}},
		"a]/b":                 {{"a]", "b"}},
		"TestSuite/TestMethod": {{"TestSuite", "TestMethod"}},
	} {
		if diff := cmp.Diff(want, SplitSelection(pattern)); diff != "" {
			t.Errorf("%q: %s", pattern, diff)
		}
	}
}

func TestATargetIsSelectedWithItsSubtestsAlone(t *testing.T) {
	for _, test := range []struct {
		target, run, want string
	}{
		{"TestA", "", "^TestA$"},
		{"TestA", "Test", "^TestA$"},
		{"TestA", "Test/sub", "^TestA$/sub"},
		{"TestA", "TestA/x|TestB/y|TestA/z", "^TestA$/x|^TestA$/z"},
		{"TestA|TestB", "", "^(TestA|TestB)$"},
		{"TestA", "^TestB$", "^TestA$"}, // the trace is of another call
	} {
		var args []string
		if test.run != "" {
			args = []string{"-test.short=true", "-test.run=" + test.run}
		}
		if got := Selection(test.target, args); got != test.want {
			t.Errorf("%s of %q: %s, want %s", test.target, test.run, got, test.want)
		}
	}
}
