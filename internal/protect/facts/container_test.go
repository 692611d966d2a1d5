package facts_test

import (
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// TestWhatLeavesAContainerMayBeLookedAt changes the program of container.txtar so that something that comes out of a container,
// or a container, goes where it may be looked at. It may be anything that is in one.
func TestWhatLeavesAContainerMayBeLookedAt(t *testing.T) {
	a, err := txtar.ParseFile("testdata/container.txtar")
	if err != nil {
		t.Fatal(err)
	}
	text := string(a.Files[0].Data)
	for name, change := range map[string][2]string{
		"a value of a list is printed":      {"\tcase nil:\n", "\tdefault:\n\t\tfmt.Println(v)\n"},
		"an item of a heap is printed":      {"heap.Pop(j).(*job).n", "len(fmt.Sprint(heap.Pop(j)))"},
		"Push keeps what it is given":       {"*j = append(*j, x.(*job))", "*j = append(*j, x.(*job)); kept = x"},
		"Pop is called for its result":      {"\treturn n\n", "\tfmt.Println(j.Pop())\n\treturn n\n"},
		"an item is asked for its methods":  {"pool.Get().(*pooled); ok {\n\t\tn += p.n", "pool.Get().(fmt.Stringer); ok {\n\t\tn += len(p.String())"},
		"a value of a ring is printed":      {"if t, ok := v.(*turned); ok {\n\t\t\tn += t.n\n\t\t}", "fmt.Println(v)"},
		"a ring is gone through elsewhere":  {"func(v any) {\n\t\tif t, ok := v.(*turned); ok {\n\t\t\tn += t.n\n\t\t}\n\t}", "func() func(any) { return func(any) {} }()"},
		"a list is printed":                 {"\treturn n\n", "\tfmt.Println(l)\n\treturn n\n"},
		"what has a pool is printed":        {"\treturn n\n", "\tfmt.Println(&struct{ p *sync.Pool }{&pool})\n\treturn n\n"},
		"a heap that is not known is given": {"heap.Push(j, &job{})", "heap.Push(other.(heap.Interface), &job{})"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(text, change[0], change[1], 1) + "\nvar kept, other any\n"
			if !strings.Contains(changed, change[1]) {
				t.Fatal("the program has changed")
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n")
			write(t, filepath.Join(dir, "a.go"), changed)
			pkgs, err := load.Packages(load.Config{Dir: dir, Patterns: []string{"./..."}})
			if err != nil {
				t.Fatal(err)
			}
			prog, _ := load.SSA(pkgs)
			known := facts.Gather(pkgs, prog)
			for _, n := range []string{"job", "listed", "pooled", "turned"} {
				if known.PinnedType(pkgs[0].Types.Scope().Lookup(n).(*types.TypeName)) == "" {
					t.Errorf("%s may still be isolated", n)
				}
			}
		})
	}
}
