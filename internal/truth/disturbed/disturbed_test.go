package disturbed

import (
	"flag"
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/protect"
)

var every = flag.Int("every", 60, "try one of so many cases, and those with something new; 1 for all")

// TestTheTableSaysWhatIsSo: a section that the table calls protected does not see what careless
// code does in the middle of it, in any home of the data, any shape of the section and any type.
func TestTheTableSaysWhatIsSo(t *testing.T) {
	all := make(map[protect.Mode][]Case)
	for _, mode := range []protect.Mode{protect.Tolerate, protect.Auto, protect.Isolate} {
		all[mode] = sample(Cases())
	}
	for mode, cases := range all {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			results, err := Run(t.Context(), t.TempDir(), mode, cases)
			if err != nil {
				t.Fatal(err)
			}
			count := make(map[Verdict]int)
			disturbed := make(map[Verdict]int)
			for _, r := range results {
				count[r.Verdict]++
				if r.Disturbed > 0 {
					disturbed[r.Verdict]++
				}
				if r.Wrong() {
					t.Error(r)
				}
			}
			// Careless code that never runs, and sections that are all left alone, would
			// prove nothing.
			// Where data is isolated, careless code is kept out of most of a section with gaps.
			if mode != protect.Isolate && 3*disturbed[Open] < 2*count[Open] || 4*count[Protected] < len(results) {
				t.Errorf("of %d sections %d are protected; of the %d open ones %d were disturbed", len(results), count[Protected], count[Open], disturbed[Open])
			}
			t.Logf("%d cases: %v, disturbed: %v", len(results), count, disturbed)
		})
	}
}

// sample returns some of the cases, with all homes, shapes and kinds among them. Captured variables
// are known to the analysis by other ways than all else, so they are there in all shapes, and so is what only few homes have.
func sample(all []Case) []Case {
	var some []Case
	seen := make(map[string]bool)
	for i, c := range all {
		parts := slices.Clone(c.parts[:])
		if c.parts[0] == capturedVariable || c.special {
			parts = append(parts, c.parts[0]+c.parts[1])
		}
		isNew := slices.ContainsFunc(parts, func(p string) bool { return !seen[p] })
		if i%*every == 0 || isNew {
			some = append(some, c)
		}
		for _, p := range parts {
			seen[p] = true
		}
	}
	return some
}
