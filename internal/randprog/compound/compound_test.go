package compound_test

import (
	"go/parser"
	"go/token"
	"regexp"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/randprog/compound"
)

// shapes are what compounds must have, each in at least so many of 400.
var shapes = []struct {
	name    string
	text    string
	atLeast int
}{
	{"reads over calls", `t\.X\(\)\*100 \+ t\.Y\(\)|t\.Z\(\)\*10 \+ t\.W\(\)`, 12},
	{"an inner type", `type inner struct`, 24},
	{"embedded locks", `(?m)^\tsync\.(RW)?Mutex$`, 20},
	{"promoted locks", `(?m)^\tbase$`, 20},
	{"a second package", `/store"`, 24},
	{"selects with a done channel", `case <-t\.done:`, 24},
	{"results through channels", `<-ch`, 8},
	{"loops whose condition reads shared data", `for .*t\.(Len|empty|Z)\(\)`, 12},
	{"a check in one helper and an act in another", `if !?t\.(has|can|empty|Stopped)\(`, 24},
	{"operations that no test shows", `Op3\(\)`, 80},
	{"calls that are deferred", `defer t\.add`, 1},
	{"objects that are replaced", `t\.(in|rg|cnt) = &|t\.boxes\["x"\] = &`, 40},
	{"objects that are overwritten", `\*t\.in = |\*t = |t\.va = |t\.gauge = `, 40},
	{"arrays that move", `t\.rows = append`, 12},
	{"structs as values of maps", `map\[string\]cell`, 24},
	{"calls by way of an interface", `t\.cnt\.`, 24},
	{"embedded structs", `(?m)^\tgauge$`, 24},
	{"generic types", `ring\[int\]`, 24},
	{"contexts", `t\.ctx`, 24},
	{"objects that a call has marked", `t\.claim\(\)`, 20},
	{"objects in a container of the function's own", `make\(\[\]\*job|make\(map\[int\]\*job|var all \[\]\*job`, 16},
	{"changes of slices by a library", `slices\.(Insert|SortFunc|DeleteFunc|Contains)\(`, 12},
	{"function values, deferred literals and addresses", `get := t\.X|defer func|p := &t\.x`, 8},
	{"loops that a library or a literal makes", `range (t\.(All|each|Names)\(|maps\.All)`, 12},
	{"slices and maps that a function changes in place", `shifted\(t\.l\)|turned\(t\.l\)|bump\(t\.m`, 8},
	{"methods that a library calls", `sort\.Sort\(t\)`, 8},
	{"locks that such a method takes", `\) Swap\(i, j int\)  ?\{\n\t(t|t\.mu)\.Lock`, 1},
	{"data that is thrown away after it was read", `t\.queue = nil`, 12},
}

// TestEveryShapeIsThere counts what compounds have; each of them is Go, and the draws of each make it
// again.
func TestEveryShapeIsThere(t *testing.T) {
	const compounds = 400
	found := make(map[string]int)
	for seed := range uint64(compounds) {
		c := compound.New(seed, "random/p")
		for _, text := range []string{c.Source, c.Test, c.Drive} {
			if _, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\n\n"+text, 0); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
		}
		if again := compound.Again(c.Draws, "random/p"); again.Source != c.Source || again.Drive != c.Drive {
			t.Fatalf("seed %d:\n%s\nand again:\n%s", seed, c.Source, again.Source)
		}
		for _, s := range shapes {
			if regexp.MustCompile(s.text).MatchString(c.Source) {
				found[s.name]++
			}
		}
	}
	for _, s := range shapes {
		t.Logf("%-45s %4d", s.name, found[s.name])
		if found[s.name] < s.atLeast {
			t.Errorf("%s: in %d of %d compounds, want %d", s.name, found[s.name], compounds, s.atLeast)
		}
	}
}
