package protect_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/randprog/sharing"
	"github.com/cofferdam-go/cofferdam/internal/truth/protected"
)

var seed = flag.Uint64("seed", 1, "for the programs that are made up")

// TestRandomProgramsMeanTheSame makes up programs in which sections reach the same few objects
// in many ways. They are free of races, and must leave the objects as they do without
// protection. Bench protect-fuzz does it with more.
func TestRandomProgramsMeanTheSame(t *testing.T) {
	const count = 200
	var programs []sharing.Program
	for i := range count {
		programs = append(programs, sharing.New(fmt.Sprintf("P%d", i), *seed<<32+uint64(i)))
	}
	ways := slices.DeleteFunc(slices.Clone(protected.Ways), func(w protected.Way) bool { return w.Maps })
	trial := &protected.Trial{Dir: t.TempDir(), Ways: ways}
	result, err := trial.Run(t.Context(), programs)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Differences) > 0 {
		d := result.Differences[0]
		if d, err = trial.Shrink(t.Context(), d, 20); err != nil {
			t.Error(err)
		}
		t.Errorf("-seed %d: %d programs mean something else; made smaller, one is\n%s", *seed, len(result.Differences), d)
	}
	// Sections that are left alone would prove nothing. Of the modes, isolate has few others.
	if 5*result.Protected < 2*result.Sections {
		t.Errorf("only %d of %d sections are protected", result.Protected, result.Sections)
	}
	t.Logf("%d of %d sections are protected, %d of them from lock to unlock", result.Protected, result.Sections, result.Whole)
}
