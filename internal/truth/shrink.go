package truth

import (
	"context"
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/randprog"
)

// batch is how many smaller programs are tried together.
const batch = 40

// Shrink returns the smallest program that it finds on which exploration and the judge still
// do not agree, in at most so many rounds.
func (t *Trial) Shrink(ctx context.Context, d Difference, rounds int) (Difference, error) {
	for range rounds {
		smaller := randprog.Smaller(d.Program.Draws)
		found := false
		for len(smaller) > 0 && !found {
			now := smaller[:min(batch, len(smaller))]
			smaller = smaller[len(now):]
			var programs []randprog.Program
			for i, draws := range now {
				programs = append(programs, randprog.Again(fmt.Sprintf("S%d", i), draws, d.Program.Options))
			}
			res, err := t.Run(ctx, programs)
			if err != nil {
				return d, err
			}
			for _, e := range res.Differences {
				if len(e.Program.Source) < len(d.Program.Source) {
					d, found = e, true
				}
			}
		}
		if !found {
			break
		}
	}
	return d, nil
}
