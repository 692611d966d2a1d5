package fixes

import (
	"fmt"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/randprog/compound"
)

// TestFixesOfRandomPackagesAreTrue: no fix fails what it was not shown, and most packages are
// fixed, those whose methods race, those whose operations are made of each other, and those with a
// mistake for which no lock is missing. They are built together, because building is most of what
// they cost.
func TestFixesOfRandomPackagesAreTrue(t *testing.T) {
	const packages = 8
	var cases []*Case
	for seed := range uint64(packages / 4) {
		cases = append(cases, &Case{Name: fmt.Sprintf("p%d", seed), Object: randprog.NewObject(seed)},
			&Case{Name: fmt.Sprintf("q%d", seed), Mistake: randprog.NewMistake(seed)})
	}
	for seed := range uint64(packages / 2) {
		name := fmt.Sprintf("r%d", seed)
		cases = append(cases, &Case{Name: name, Compound: compound.New(seed, "random/"+name)})
	}
	trial := &Trial{Temp: t.TempDir(), States: 50_000, Budget: 2 * time.Second}
	if err := trial.Run(t.Context(), cases); err != nil {
		t.Fatal(err)
	}
	fixed := 0
	for _, c := range cases {
		t.Logf("%s: no failure %t, refused %q, uncovered %d, judged %d, unjudged %d", c.Name, c.NoFailure, c.Refusal, c.Uncovered, c.Judged, c.Unjudged)
		if c.False != "" {
			t.Errorf("%v", c)
		}
		if c.Diff != "" {
			fixed++
		}
	}
	if fixed < packages/2 {
		t.Errorf("%d of %d packages are fixed", fixed, packages)
	}
}
