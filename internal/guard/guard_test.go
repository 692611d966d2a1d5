package guard

import (
	"fmt"
	"go/types"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/load"
)

// extract writes each archive of testdata into a package of one module, and loads
// them together.
func extract(t *testing.T, pattern string, tests bool) (dir string, pkgs []*packages.Package) {
	t.Helper()
	archives, err := filepath.Glob(pattern)
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives match %s: %v", pattern, err)
	}
	dir = t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n")
	for _, name := range archives {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			write(t, filepath.Join(dir, strings.TrimSuffix(filepath.Base(name), ".txtar"), f.Name), string(f.Data))
		}
	}
	pkgs, err = load.Packages(load.Config{Dir: dir, Patterns: []string{"./..."}, Tests: tests})
	if err != nil {
		t.Fatal(err)
	}
	return dir, pkgs
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

var (
	wantGuard     = regexp.MustCompile(`(?m)^guard (\S+) by (\S+)$`)
	wantDeviation = regexp.MustCompile(`//want (read|write)$`)
	wantDoubt     = regexp.MustCompile(`//doubt (read|write) (.*)$`)
)

// TestPrograms runs over small programs. The comment of an archive has a line
// "guard DATA by WAY" for each guard that must be found, and a line of code that
// deviates ends in "//want read" or "//want write", in doubt.txtar one that may be meant to in
// "//doubt read" and the reason. What is missing and what is
// found besides are both errors, and counted.
func TestPrograms(t *testing.T) {
	dir, pkgs := extract(t, "testdata/*.txtar", true)
	guards := Infer(pkgs)
	found := make(map[string]map[string]bool) // by archive
	for _, g := range guards.AtLeast(0.5) {
		for _, d := range g.Data {
			name, rest := archiveOf(dir, d.At.Filename)
			if found[name] == nil {
				found[name] = make(map[string]bool)
			}
			_ = rest
			found[name]["guard "+d.Name+" by "+d.Way] = true
			for _, v := range d.Deviations {
				_, file := archiveOf(dir, v.At.Filename)
				what := fmt.Sprintf("%s:%d: %s", file, v.At.Line, v.Kind)
				// Whether an object is shared is the matter of two programs, why an access may be meant to be of some,
				// and what is held of the others.
				if v.Doubt != NoDoubt && strings.HasPrefix(name, "doubt") && (v.Doubt != NotShown || name == "doubt_shared" || name == "doubt_beside") {
					what += ", in doubt: " + v.Doubt.String()
				}
				found[name][what] = true
			}
		}
	}
	missed, wrong, total := 0, 0, 0
	archives, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range archives {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := make(map[string]bool)
			for _, m := range wantGuard.FindAllSubmatch(ar.Comment, -1) {
				want[fmt.Sprintf("guard %s by %s", m[1], m[2])] = true
			}
			for _, f := range ar.Files {
				for i, line := range strings.Split(string(f.Data), "\n") {
					if m := wantDeviation.FindStringSubmatch(line); m != nil {
						want[fmt.Sprintf("%s:%d: %s", f.Name, i+1, m[1])] = true
					}
					if m := wantDoubt.FindStringSubmatch(line); m != nil {
						want[fmt.Sprintf("%s:%d: %s, in doubt: %s", f.Name, i+1, m[1], m[2])] = true
					}
				}
			}
			total += len(want)
			for _, w := range sorted(want) {
				if !found[name][w] {
					missed++
					t.Errorf("missed: %s", w)
				}
			}
			for _, f := range sorted(found[name]) {
				if !want[f] {
					wrong++
					t.Errorf("not wanted: %s", f)
				}
			}
		})
	}
	if missed > 0 || wrong > 0 || total == 0 {
		t.Errorf("of %d guards and deviations %d missed, %d found that are none", total, missed, wrong)
	}
}

func archiveOf(dir, file string) (archive, name string) {
	rel, _ := filepath.Rel(dir, file)
	archive, name, _ = strings.Cut(filepath.ToSlash(rel), "/")
	return archive, name
}

func sorted(set map[string]bool) []string {
	var list []string
	for s := range set {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

func TestConfidence(t *testing.T) {
	for _, c := range []struct {
		name string
		e    Evidence
		want float64
	}{
		{"nothing", Evidence{}, 0},
		{"one write", Evidence{WritesWith: 1}, 2.0 / 3},
		{"nine of ten reads", Evidence{ReadsWith: 9, ReadsWithout: 1}, 9.0 / 11},
		{"a write with, a read without", Evidence{WritesWith: 1, ReadsWithout: 1}, 0.5},
		{"an annotation alone", Evidence{Signs: []Sign{Annotated}}, 0.95},
		{"an annotation that no access follows", Evidence{WritesWithout: 3, Signs: []Sign{Annotated}}, 0.95},
		{"a hint that no access follows", Evidence{WritesWithout: 3, Signs: []Sign{Below}}, 0},
		{"a hint that half follow", Evidence{ReadsWith: 1, ReadsWithout: 1, Signs: []Sign{Below}}, 1 - 2.0/3*0.85},
		{"a lock two steps away", Evidence{WritesWith: 1, Distance: 2}, 2.0 / 3 * 0.81},
		{"two signs", Evidence{WritesWith: 1, Signs: []Sign{CommentOnLock, Below}}, 1 - 1.0/3*0.2*0.7},
	} {
		if got := c.e.Confidence(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: confidence %v, want %v", c.name, got, c.want)
		}
	}
}

func TestEverySignHasAWeightAndAText(t *testing.T) {
	for s := Annotated; s <= Helper; s++ {
		if weights[s] <= 0 || weights[s] >= 1 || s.String() == "" {
			t.Errorf("sign %d: weight %v, text %q", s, weights[s], s)
		}
	}
	if len(weights) != int(Helper)+1 {
		t.Errorf("%d weights for %d signs", len(weights), Helper+1)
	}
}

// TestLookupByObject: the object may be that of any variant or instance.
func TestLookupByObject(t *testing.T) {
	_, pkgs := extract(t, "testdata/generic.txtar", true)
	guards := Infer(pkgs)
	looked := 0
	for _, p := range pkgs {
		for _, tv := range p.TypesInfo.Types {
			s, ok := tv.Type.Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for f := range s.Fields() {
				if f.Name() != "items" {
					continue
				}
				looked++
				g, d := guards.Of(f)
				if g == nil || g.Lock.Object.Name() != "mu" || d.Way != "mu" {
					t.Errorf("%s in %s: guard %v", f, tv.Type, g)
				}
			}
		}
	}
	if looked == 0 {
		t.Error("no field was looked up")
	}
}

// TestStandardLibrary: large packages are analysed without failing, and their best
// known guards are found.
func TestStandardLibrary(t *testing.T) {
	pkgs, err := load.Packages(load.Config{Patterns: []string{"net/http", "database/sql", "log", "expvar"}})
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for _, g := range Infer(pkgs).AtLeast(0.5) {
		for _, d := range g.Data {
			found[d.Name] = g.Lock.Name
		}
	}
	for data, lock := range map[string]string{
		"Server.listeners":   "Server.mu",
		"Server.activeConn":  "Server.mu",
		"Transport.idleConn": "Transport.idleMu",
		"DB.freeConn":        "DB.mu",
		"DB.dep":             "DB.mu",
		"driverConn.ci":      "driverConn.Mutex",
	} {
		if found[data] != lock {
			t.Errorf("%s is guarded by %q, want %s", data, found[data], lock)
		}
	}
}
