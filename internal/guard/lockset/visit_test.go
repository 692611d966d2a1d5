package lockset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/locks/lockstest"
)

// TestWorkGrowsWithTheCalls: a function that makes twice as many calls, each of a function that was not met
// before, and each of them of such a one, takes about twice the work, and not four times as much.
func TestWorkGrowsWithTheCalls(t *testing.T) {
	few, many := stepsFor(t, 20), stepsFor(t, 40)
	t.Logf("%d steps for 20 calls, %d for 40", few, many)
	if many > 3*few {
		t.Errorf("%d steps for 20 calls, %d for 40", few, many)
	}
}

// TestWhatIsTakenOverIsWhatWouldBeFound: a context that is analysed once more, from its start, ends as it
// did, and with the same paths at each block.
func TestWhatIsTakenOverIsWhatWouldBeFound(t *testing.T) {
	for _, row := range lockstest.Load(t, "testdata/observations") {
		a := analyse(row)
		for _, ctx := range a.all {
			before := ctx.before
			if got := a.analyse(ctx); !slices.EqualFunc(got, ctx.exits, exit.equal) {
				t.Errorf("%s: %s: exits %v, found %v before", row.Name, ctx.fn, got, ctx.exits)
			}
			if d := cmp.Diff(held(before), held(ctx.before)); d != "" {
				t.Errorf("%s: %s: what is held at its blocks (-before +now):\n%s", row.Name, ctx.fn, d)
			}
		}
	}
}

// held renders what is held on the paths that lead to each block.
func held(before [][]locks.Path) (all [][]string) {
	for _, paths := range before {
		var texts []string
		for _, p := range paths {
			texts = append(texts, fmt.Sprint(p.Held, p.Released, len(p.Facts), len(p.Deferred)))
		}
		all = append(all, texts)
	}
	return all
}

// stepsFor counts the steps of the analysis of a function that makes some calls.
func stepsFor(t *testing.T, calls int) int {
	var text strings.Builder
	text.WriteString("One of many calls.\n-- a.go --\npackage p\n\nimport \"sync\"\n\nvar (\n\tmu sync.Mutex\n\tn  int\n)\n\nfunc All() {\n")
	for i := range calls {
		fmt.Fprintf(&text, "\tmu.Lock()\n\tn += 2*n + 1\n\tf%d()\n\tmu.Unlock()\n", i)
	}
	text.WriteString("}\n")
	for i := range calls {
		fmt.Fprintf(&text, "\nfunc f%d() { g%d() }\n\nfunc g%d() { n++ }\n", i, i, i)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "calls.txtar"), []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return analyse(lockstest.Load(t, dir)[0]).steps
}
