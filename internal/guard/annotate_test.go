package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/load"
)

// infer loads a package of one file and infers its guards.
func infer(t *testing.T, src string) (file string, guards *Guards) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n")
	file = filepath.Join(dir, "a.go")
	write(t, file, src)
	pkgs, err := load.Packages(load.Config{Dir: dir, Patterns: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	return file, Infer(pkgs)
}

const table = `package p

import "sync"

var (
	globalMu sync.Mutex
	global   int
)

type Table struct {
	mu   sync.Mutex // protects the fields below
	rows map[string]int
	size int
	a, b int
	other sync.Mutex; odd int
}

func (t *Table) Put(k string, v int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows[k] = v
	t.grow()
	t.a++
	t.odd++
}

func (t *Table) grow()     { t.size++ }
func (t *Table) Size() int { return t.size }

func (t *Table) Set() {
	t.mu.Lock()
	t.b++
	globalMu.Lock()
	global++
	globalMu.Unlock()
	t.mu.Unlock()
}
`

// TestTheExampleOfThePackageComment holds what the comment of the package promises.
func TestTheExampleOfThePackageComment(t *testing.T) {
	_, guards := infer(t, table)
	for _, g := range guards.List {
		if g.Lock.Name != "Table.mu" {
			continue
		}
		found := make(map[string]Evidence)
		for _, d := range g.Data {
			found[d.Name] = d.Evidence
			if d.Way != "mu" {
				t.Errorf("%s is guarded by way of %s", d.Name, d.Way)
			}
			switch {
			case d.Name != "Table.size" && len(d.Deviations) > 0:
				t.Errorf("%s has deviations %v", d.Name, d.Deviations)
			case d.Name == "Table.size" && (len(d.Deviations) != 1 || d.Deviations[0].Func != "(*Table).Size" || d.Deviations[0].Kind != Read):
				t.Errorf("%s has deviations %v", d.Name, d.Deviations)
			}
		}
		if e := found["Table.rows"]; e.WritesWith != 1 || e.WritesWithout+e.ReadsWithout != 0 || e.Signs[0] != CommentAbove {
			t.Errorf("evidence for Table.rows: %+v", e)
		}
		if e := found["Table.size"]; e.WritesWith != 1 || e.ReadsWithout != 1 || e.Signs[0] != CommentAbove {
			t.Errorf("evidence for Table.size: %+v", e)
		}
		return
	}
	t.Errorf("Table.mu guards nothing")
}

func TestAnnotationsStandAboveTheFieldAndAreNotAddedTwice(t *testing.T) {
	file, guards := infer(t, table)
	out, err := guards.Annotate(0.5)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(table, "\trows map", "\t// +checklocks:mu\n\trows map", 1)
	want = strings.Replace(want, "\tsize int", "\t// +checklocks:mu\n\tsize int", 1)
	want = strings.Replace(want, "\ta, b int", "\t// +checklocks:mu\n\ta, b int", 1)
	if d := cmp.Diff(want, string(out.Files[file])); d != "" {
		t.Errorf("annotated file (-want +got):\n%s", d)
	}
	if out.Added != 3 {
		t.Errorf("%d annotations were added", out.Added)
	}
	reasons := make(map[string]string)
	for _, s := range out.Skipped {
		reasons[s.Name] = s.Reason
	}
	if d := cmp.Diff(map[string]string{
		"p.global":  "is a variable: checklocks reads annotations of fields only",
		"Table.odd": "shares its line with other fields",
	}, reasons); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
	_, again := infer(t, string(out.Files[file]))
	second, err := again.Annotate(0.5)
	if err != nil || second.Added != 0 || len(second.Files) != 0 {
		t.Errorf("the second time %d annotations were added: %v", second.Added, err)
	}
}

func TestWhatCannotBeAnnotated(t *testing.T) {
	_, guards := infer(t, `package p

import "sync"

type Pool struct {
	mu    sync.Mutex
	conns []*conn
}

type conn struct{ open bool }

func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.open = false
		c.shut()
	}
}

func (c *conn) shut() {
	c.open = false
}

type T struct {
	mu, other sync.Mutex
	// +checklocks:other
	n    int
	a, b int
}

func (t *T) Set() {
	t.mu.Lock()
	t.n++
	t.a++
	t.mu.Unlock()
}

func (t *T) Add() {
	t.mu.Lock()
	t.n++
	t.a++
	t.mu.Unlock()
	t.other.Lock()
	t.b++
	t.other.Unlock()
}
`)
	out, err := guards.Annotate(0.1)
	if err != nil {
		t.Fatal(err)
	}
	reasons := make(map[string]string)
	for _, s := range out.Skipped {
		reasons[s.Name] = s.Reason
	}
	for name, want := range map[string]string{
		"conn.open": "its lock, mu of what has it in conns, cannot be named from the field",
		"T.a":       "is declared together with b, which has another guard or none",
		"T.b":       "is declared together with a, which has another guard or none",
	} {
		if reasons[name] != want {
			t.Errorf("%s is skipped because %q, want %q", name, reasons[name], want)
		}
	}
}

// TestEveryRunIsTheSame: files are parsed at the same time and maps have no order, and the
// guards are the same all the same. The order of the files decides nothing: b.go has the
// exported method that reaches what is in a.go with the lock held.
func TestEveryRunIsTheSame(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "a.go"), "package p\n\nimport \"sync\"\n\ntype table struct {\n\tmu sync.Mutex\n\tn int\n}\n\nfunc (t *table) set() { t.n++ }\n")
	write(t, filepath.Join(dir, "b.go"), "package p\n\ntype Table struct{ *table }\n\nfunc (t *table) Set() {\n\tt.mu.Lock()\n\tt.set()\n\tt.mu.Unlock()\n}\n")
	for range 5 {
		pkgs, err := load.Packages(load.Config{Dir: dir, Patterns: []string{"./..."}})
		if err != nil {
			t.Fatal(err)
		}
		guards := Infer(pkgs)
		if len(guards.List) != 1 || len(guards.List[0].Data) != 1 || len(guards.List[0].Data[0].Deviations) != 0 {
			t.Fatalf("guards %+v", guards.List)
		}
	}
}

func TestAnnotatingAFileThatIsGone(t *testing.T) {
	file, guards := infer(t, table)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := guards.Annotate(0.5); err == nil || !strings.Contains(err.Error(), "annotating Table.") {
		t.Errorf("error %v", err)
	}
}
