package repair

import (
	"context"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A fix that grew in rounds has the locks of all rounds. The first may have come about because the run
// showed the data where nothing names it, and then the last is all that is needed:
//
//	func (j jobs) Swap(a, b int) {     the first round has a lock here, for a race on elements
//		j[a], j[b] = j[b], j[a]
//	}
//	func (q *Queue) Add(j *Job) {      the second round has one here, which orders both
//		heap.Push(&q.jobs, j)
//	}

// withFewerLocks returns a fix of the program as it is with one of the locks of a fix that has several;
// nil if none is proven.
func (f *fixer) withFewerLocks(ctx context.Context, c *Candidate) (*Candidate, error) {
	if len(c.Patch.NewLocks) <= 1 || c.lock == nil {
		return nil, nil
	}
	guards := c.Patch.Guards()
	slices.SortStableFunc(guards, func(a, b cover.Guard) int { return len(b.Data) - len(a.Data) })
	for _, g := range guards {
		alone := f.result.run.coveredBy(g)
		if alone == nil || time.Now().After(f.until) {
			continue
		}
		larger, err := f.enlarge(alone)
		if err != nil {
			return nil, err
		}
		if larger != nil {
			alone = larger
		}
		if f.seen[alone.Patch.Key()] {
			continue
		}
		f.seen[alone.Patch.Key()] = true
		alone.Rounds = []trace.Failure{f.result.Failure}
		f.result.Considered = append(f.result.Considered, alone)
		if _, err := f.prove(ctx, alone); err != nil {
			return nil, err
		}
		if alone.Why == "" {
			return alone, nil
		}
		f.result.Tried = append(f.result.Tried, alone)
	}
	return nil, nil
}

// coveredBy is the candidate in which one lock covers all accesses to its data; nil if there is none.
func (r *failedRun) coveredBy(g cover.Guard) *Candidate {
	variables := r.code.Variables(g.Data)
	var regions []*cover.Region
	for _, group := range whole.Broken(r.locksHeld(), variables, nil) {
		if region := r.groupRegion(group, false); region != nil && !r.inTest(group.Func) {
			regions = append(regions, region)
		}
	}
	if len(regions) == 0 {
		return nil
	}
	ranked := ranking{run: r}
	ranked.add(proposal{&sli.Fix{Cost: costPerSection * len(regions)}, regions, r.onlyData(variables...)})
	for _, c := range slices.Concat(ranked.good, ranked.forAll) {
		if c.lock.Is(g.Lock) {
			c.run = r
			return c
		}
	}
	return nil
}
