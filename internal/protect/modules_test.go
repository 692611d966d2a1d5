package protect

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestModulesPassTheirTests runs the tests of packages that use locks, built with
// protection: those of a module that this one requires, and some of the standard
// library. Neither needs more than what building this module has downloaded. Bench
// protect-corpus does it with more modules.
func TestModulesPassTheirTests(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sync").Output()
	if err != nil {
		t.Fatal(err)
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	std := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	dir := t.TempDir()
	for from, to := range map[string]string{
		strings.TrimSpace(string(out)):         "sync",
		filepath.Join(std, "net", "rpc"):       "rpc",
		filepath.Join(std, "net", "textproto"): "textproto",
	} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	// One module, so that it is loaded and built once.
	if err := os.Remove(filepath.Join(dir, "sync", "go.mod")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module golang.org/x\n\ngo 1.26\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	b, err := Prepare(Config{Patterns: []string{"./..."}, Tests: true, Mode: Auto, Least: 0.5}) // the bench has the other modes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	sections := 0
	for _, s := range b.Sections {
		if s.IsProtected() {
			sections++
		}
	}
	if sections < 20 {
		t.Errorf("only %d sections are protected:\n%s", sections, b.Plan)
	}
	cmd := exec.Command("go", append(append([]string{"test", "-short", "-vet=off", "-ldflags=-w"}, b.Flags...), "./...")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%d sections", sections)
}

// TestTestsHaveTheirDependenciesProtected: -deps is for go test, too. The tests of the
// dependencies need not build.
func TestTestsHaveTheirDependenciesProtected(t *testing.T) {
	mod, err := exec.Command("go", "list", "-m", "-f", "go {{.GoVersion}}\n\nrequire {{.Path}} {{.Version}}", "golang.org/x/sync").Output()
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join("..", "..", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod": "module example.com/p\n\n" + string(mod),
		"go.sum": string(sums),
		// The names are those of packages that our TestMain imports.
		"p.go": "package p\n\nvar watch, os = 1, 2\n",
		"p_test.go": `package p

import (
	"testing"

	"golang.org/x/sync/semaphore"
)

func TestSemaphore(t *testing.T) {
	s := semaphore.NewWeighted(2)
	if !s.TryAcquire(2) || s.TryAcquire(1) {
		t.Error("it has not two")
	}
	s.Release(2)
}
`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b, err := Prepare(Config{Patterns: []string{"."}, Tests: true, Deps: true, Mode: Tolerate, Least: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if !strings.Contains(b.Plan.String(), "Weighted.cur") {
		t.Errorf("the dependency is not in the summary:\n%s", b.Plan)
	}
	cmd := exec.Command("go", append([]string{"test"}, b.Flags...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
