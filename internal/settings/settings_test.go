package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// TestTheFileOfTheModuleIsFound: from any folder of it. No file says nothing, and neither does a
// folder in no module.
func TestTheFileOfTheModuleIsFound(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(inner, 0o777); err != nil {
		t.Fatal(err)
	}
	if f, err := Find(inner); err != nil || !reflect.DeepEqual(f, new(File)) {
		t.Errorf("without a module: %v, %v", f, err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n")
	if f, err := Find(inner); err != nil || !reflect.DeepEqual(f, &File{Root: dir}) {
		t.Errorf("without a file: %v, %v", f, err)
	}
	write(Name, `# of this module
[explore]
budget = "2m"
races = true
seed = 7
harm = 1.5

[protect] # all of it
only = ["lock:a#b"]
skip = [ # several
	"func:x\"y", # one
	'var:z',
]
baseline = "known.json"

[test]
tags = ["a", "b"]

[suppress]
findings = ["00000000000000ff"]
places = ["cache/*.go"]
`)
	want := &File{
		Root: dir, name: filepath.Join(dir, Name),
		Protect:  Protect{Only: []string{"lock:a#b"}, Skip: []string{`func:x"y`, "var:z"}, Baseline: "known.json"},
		Suppress: Suppress{Findings: []string{"00000000000000ff"}, Places: []string{"cache/*.go"}},
		Commands: []Command{
			{"explore", 2, []Flag{{"budget", "2m", 3}, {"races", "true", 4}, {"seed", "7", 5}, {"harm", "1.5", 6}}},
			{"test", 16, []Flag{{"tags", "a", 17}, {"tags", "b", 17}}},
		},
	}
	f, err := Find(inner)
	if err != nil || !reflect.DeepEqual(f, want) {
		t.Errorf("got %+v, %v, want %+v", f, err, want)
	}
	if got := f.Flags("test"); len(got) != 2 || f.Flags("fix") != nil {
		t.Errorf("test has %v, fix has %v", got, f.Flags("fix"))
	}
	if err := os.Mkdir(filepath.Join(inner, Name), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(inner); err == nil {
		t.Error("a directory is read as a file")
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"[protect":                                   "f:1: ",
		"\nonly\n":                                   "f:2: ",
		"\nonly = []\n":                              "f:2: only stands in no table",
		"[protect]\nonly = []\nonly = []":            "f:3: ",
		"[protect]\nskipp = []":                      "f:2: there is no setting protect.skipp; there are protect.only,",
		"[protect]\nskip = \"x\"":                    "f:2: protect.skip has to be a list",
		"[protect]\nskip = [\n12]":                   "f:2: protect.skip: a list has texts in it",
		"[protect]\nskip = \"a":                      "f:2: ",
		"[protect]\nbaseline = [\"a\"]":              "f:2: protect.baseline has to be one text",
		"[protect.inner]\nskip = []":                 "f:1: protect.inner.skip: tables have no tables in them",
		"[explore]\nbudget = 1979-05-27":             "f:2: explore.budget: give a text",
		"\n[suppress]\nfindings = [\"x\"]":           "f:2: suppress.findings: \"x\" is no id of a finding",
		"[suppress]\nplaces = [\"[\"]":               "f:1: suppress.places: \"[\" is no place",
		"[protect]\nskip = [\"a\", # b\n\"c\"]\n[x]": "",
	} {
		_, err := parse("f", text)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestTablesAndKeysOfNoCommandAreErrors(t *testing.T) {
	flags := func(string) []string { return []string{"budget", "races"} }
	for text, want := range map[string]string{
		"[explore]\nbudget = \"1m\"":   "",
		"\n[explode]\nbudget = \"1m\"": "f:2: there is no table explode; there are protect, suppress, explore, fix",
		"[explore]\n\nbudgets = 1":     "f:3: explore has no flag budgets; it has budget, races",
	} {
		f, err := parse("f", text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := f.Check([]string{"explore", "fix"}, flags); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestFindingsAreSuppressedByIDPlaceAndName(t *testing.T) {
	all := []finding.Finding{
		{Kind: finding.Deviation, Guard: finding.Guard{Name: "Cache.mu"}, Accesses: []finding.Access{{Target: "Cache.n", Stack: []finding.Frame{{File: "/m/cache/evict.go", Line: 41}}}}},
		{Kind: finding.Deviation, Guard: finding.Guard{Name: "Server.mu"}, Accesses: []finding.Access{{Target: "Server.started", Stack: []finding.Frame{{File: "/m/server.go", Line: 7}}}}},
		{Kind: finding.Deviation},
	}
	itself := func(f *finding.Finding) *finding.Finding { return f }
	for _, c := range []struct {
		suppress Suppress
		told     []int
	}{
		{Suppress{}, []int{0, 1, 2}},
		{Suppress{Findings: []string{all[2].ID().String()}}, []int{0, 1}},
		{Suppress{Places: []string{"cache/evict.go:41"}}, []int{1, 2}},
		{Suppress{Places: []string{"cache/evict.go:42", "evict.go"}}, []int{0, 1, 2}},
		{Suppress{Places: []string{"cache/*.go", "Server.started"}}, []int{2}},
		{Suppress{Places: []string{"*.mu"}}, []int{2}},
		{Suppress{Places: []string{"*"}}, []int{2}},
	} {
		told, others := Told(&File{Root: "/m", Suppress: c.suppress}, all, itself)
		var which []int
		for i := range told {
			which = append(which, slices.IndexFunc(all, func(f finding.Finding) bool { return f.ID() == told[i].ID() }))
		}
		if !slices.Equal(which, c.told) || others != len(all)-len(c.told) {
			t.Errorf("%+v: %v are told, %d others", c.suppress, which, others)
		}
	}
	if Suppressed(1) == Suppressed(2) {
		t.Error("one is told as two are")
	}
}
