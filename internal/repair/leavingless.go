package repair

import (
	"context"
	"time"
)

// The first lock that is proven may leave data uncovered that another lock has room for:
//
//	type Queue struct { jobs []*Job }         a lock in each job is a fix of what the run showed, and
//	type Job struct { state int }             cannot be held where jobs are added; one in the queue can
//
// So a fix with a new lock that leaves something is held against those with other locks. A lock that the
// program has is what its authors chose for the data: what it leaves is listed.

// maxOtherLocks bounds how many other locks are looked at.
const maxOtherLocks = 3

// leavingLess returns the fix, of one that is proven and of other candidates with other locks, that leaves
// the fewest accesses uncovered.
func (f *fixer) leavingLess(ctx context.Context, best *Candidate, others []*Candidate) (*Candidate, error) {
	if best.lock == nil || best.isOwn() {
		return best, nil
	}
	looked := map[string]bool{best.Lock: true}
	for _, c := range others {
		if len(best.Uncovered) == 0 || len(looked) > maxOtherLocks || time.Now().After(f.until) {
			break
		}
		if c.Patch == nil || c.regions == nil || looked[c.Lock] || f.seen[c.Patch.Key()] || c.lock.Owner() == nil && best.lock.Owner() != nil {
			continue
		}
		looked[c.Lock] = true
		c.Rounds, c.run = best.Rounds, best.run
		larger, err := f.enlarge(c)
		if err != nil {
			return nil, err
		}
		if larger != nil {
			c = larger
		}
		f.seen[c.Patch.Key()] = true
		changed, err := f.changedBy(c)
		if err != nil || f.judgeWhole(c, changed) != "" || len(c.Uncovered) >= len(best.Uncovered) {
			continue
		}
		f.result.Considered = append(f.result.Considered, c)
		c.Uncovered = nil // the proof judges it again
		f.tried++
		f.begin("proving a lock that leaves less: " + c.Lock)
		if _, err := f.prove(ctx, c); err != nil {
			return nil, err
		}
		if c.Why == "" {
			best = c
		} else {
			f.result.Tried = append(f.result.Tried, c)
		}
	}
	return best, nil
}
