// Package lockstest has the table of every way that Go has to name and use a lock, with
// the verdict that all tools share. It is read by the tests of the analyses that say what
// is held where: of package locks, on syntax, and of guard's, on SSA form.
//
// A row is an archive in internal/locks/testdata/uses. Its comment tells what it shows and
// has the verdict; its files are packages of one module, example.com/m/ROW. A call
// at("a") marks point a.
//
//	op LINE: acquire s.mu         each operation that is recognised, by its line
//	held a: s.mu                  what is held at a point
//	ssa a: s.mu                   the same in SSA form, where that has a name for a value
//	                              that has none in the source
//	finding LINE: s.mu left held  what is wrong with it
//	order: S.mu before T.mu       in which order locks are taken
package lockstest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/load"
)

// A Row is one way to use a lock, and the verdict on it.
type Row struct {
	Name string
	// Verdict are the lines of the comment that begin with op, held, ssa, finding or order.
	Verdict []string
	// Packages are the row's.
	Packages []*packages.Package
}

// Lines returns the lines that begin with a word.
func Lines(all []string, word string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(line string) bool { return wordOf(line) != word })
}

func wordOf(line string) string {
	word, _, _ := strings.Cut(line, " ")
	return strings.TrimSuffix(word, ":")
}

// HeldInSSA returns what is held at the points, as an analysis of SSA form has it: lines
// that begin with held, sorted.
func (r *Row) HeldInSSA() []string {
	points := make(map[string]string)
	for _, line := range append(Lines(r.Verdict, "held"), Lines(r.Verdict, "ssa")...) {
		_, rest, _ := strings.Cut(line, " ")
		point, _, _ := strings.Cut(rest, ":")
		points[point] = "held " + rest
	}
	return slices.Sorted(maps.Values(points))
}

// Point returns the name of the point that a function's argument marks, if the function is
// the one that marks points.
func Point(function, argument string) (string, bool) {
	return strings.Trim(argument, `"`), function == "at"
}

// Load reads the rows from a folder.
func Load(t *testing.T, folder string) []*Row {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no rows in %s: %v", folder, err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n")
	rows := make(map[string]*Row)
	var list []*Row
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		row := &Row{Name: strings.TrimSuffix(filepath.Base(name), ".txtar")}
		for line := range strings.Lines(string(archive.Comment)) {
			switch wordOf(line) {
			case "op", "held", "ssa", "finding", "order":
				row.Verdict = append(row.Verdict, strings.TrimSpace(line))
			}
		}
		for _, f := range archive.Files {
			write(t, filepath.Join(dir, row.Name, f.Name), string(f.Data))
		}
		rows[row.Name] = row
		list = append(list, row)
	}
	pkgs, err := load.Packages(load.Config{Dir: dir, Patterns: []string{"./..."}, Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		name, _, _ := strings.Cut(strings.TrimPrefix(p.PkgPath, "example.com/m/"), "/")
		row := rows[strings.TrimSuffix(name, ".test")]
		row.Packages = append(row.Packages, p)
	}
	return list
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
