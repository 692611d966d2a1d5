package instrument

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/load"
)

// TestParallelTestsAreThoseThatHandTheirTToParallel holds the analysis against each way to get
// there, and against those that look like one.
func TestParallelTestsAreThoseThatHandTheirTToParallel(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/p\n\ngo 1.26\n",
		"help/help.go": `package help
import "testing"
func SetUp(name string, t *testing.T) { deeper(t) }
func deeper(t *testing.T) { t.Parallel() }
func Other(t *testing.T) {}
type Suite struct{}
func (*Suite) Run(t *testing.T) { t.Parallel() }
func Generic[T any](t *testing.T, x T) { t.Parallel() }
`,
		"p_test.go": `package p
import ("testing"; "example.com/p/help")
func TestDirect(t *testing.T) { t.Parallel() }
func TestLater(t *testing.T) { if testing.Short() { return }; (t).Parallel() }
func TestHelper(t *testing.T) { help.SetUp("x", t) }
func TestMethod(t *testing.T) { (&help.Suite{}).Run(t) }
func TestGeneric(t *testing.T) { help.Generic[int](t, 1) }
func TestOther(t *testing.T) { help.Other(t) }
func TestSub(t *testing.T) { t.Run("x", func(t *testing.T) { t.Parallel() }) }
func TestSubHelper(t *testing.T) { t.Run("x", sub) }
func sub(t *testing.T) { t.Parallel() }
func BenchmarkX(b *testing.B) {}
`,
		"out_test.go": "package p_test\nimport \"testing\"\nfunc TestOutside(u *testing.T) { u.Parallel() }\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots, err := load.List(load.Config{Dir: dir, Patterns: []string{"."}, Tests: true, Env: append(os.Environ(), "GOWORK=off")})
	if err != nil {
		t.Fatal(err)
	}
	checker := load.NewChecker()
	var all []*load.Checked
	var parts []*packages.Package
	for _, p := range load.Variants(roots) {
		if p.Module == nil {
			continue
		}
		c, err := checker.Check(p)
		if err != nil {
			t.Fatal(err)
		}
		all, parts = append(all, c), append(parts, p)
	}
	want := []string{"TestDirect", "TestGeneric", "TestHelper", "TestLater", "TestMethod", "TestOutside"}
	got := findParallel(all).tests(parts)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
