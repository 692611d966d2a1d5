package lockset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/locks/lockstest"
)

// TestWorkGrowsWithTheCalls: a function that makes twice as many calls, each of a function that was not met before, and each
// of them of such a one, takes about twice the work, and not four times as much.
func TestWorkGrowsWithTheCalls(t *testing.T) {
	few, many := stepsFor(t, 20), stepsFor(t, 40)
	t.Logf("%d steps for 20 calls, %d for 40", few, many)
	if many > 3*few {
		t.Errorf("%d steps for 20 calls, %d for 40", few, many)
	}
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
