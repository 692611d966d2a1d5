package plan

import (
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/protect/batch"
)

// isPiecewise reports whether the sections of a group see data of several moments. What has a name has its copy from the
// beginning of a section; what is found behind a pointer or in a map has it from its first use, and what is used once has none. Each
// of these is undisturbed by itself, but careless code may have changed two of them in between.
//
//	x.mu.Lock()           v := x.n
//	use(x.n)              use(v)
//	                                       careless: x.n, e.n = 1, 1
//	use(e.n)              use(e.n)         x.n is old, and e.n new
//	x.mu.Unlock()
//
// What is isolated counts as nothing: careless code that changes it waits, and changes nothing after it.
func (r *round) isPiecewise(g *Group) bool {
	moments := len(g.Slots) + g.momentsOfUsedOnce()
	named := 0
	for _, v := range g.Vars {
		if v.OnPages == nil {
			named = 1
		}
		if v.CopiesEntries {
			moments++
		}
	}
	for k := range g.Batches {
		moments += g.momentsOfBatch(k)
	}
	return named+moments > 1
}

// momentsOfUsedOnce counts what the sections of a group use once, as it is.
func (g *Group) momentsOfUsedOnce() (n int) {
	if g.found == nil {
		for _, l := range g.left {
			if l.why == usedOnce {
				n++
			}
		}
		return n
	}
	for _, l := range g.found.Left {
		if l.Why == batch.UsedOnce {
			n++
		}
	}
	return n
}

// momentsOfBatch counts the elements that a batch may have copies of, as far as they have expressions of their own. In a loop one
// expression may be for many.
func (g *Group) momentsOfBatch(k int) int {
	places := make(map[string]bool)
	for _, s := range g.found.Steps {
		for _, x := range s.Uses[k].Places() {
			places[types.ExprString(x)] = true
			if len(s.Loops) > 0 {
				places["of the next round"] = true
			}
		}
	}
	return len(places)
}
