package tolerate_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// The end of a section, beside careless code, in all schedules. A number is added to by a
// section, which adds 1, and by careless code, which adds 10 and 100: the digits of what is
// left say whose addition was kept. Each step is one access of the processor to memory.

// A mergeState is the variable with what each thread has in its registers.
type mergeState struct {
	v       int
	threads [3]mergeThread
}

type mergeThread struct{ at, loaded int }

const (
	sectionAdds = 1
	over        = -1 // the thread has ended
)

// A memoryStep is one step of a thread. It returns where the thread goes on.
type memoryStep func(v *int, t *mergeThread) int

// next is a step that is always followed by the next one.
func next(do func(v *int, t *mergeThread)) memoryStep {
	return func(v *int, t *mergeThread) int { do(v, t); return t.at + 1 }
}

func load(v *int, t *mergeThread)         { t.loaded = *v }
func storeSum(d int) memoryStep           { return next(func(v *int, t *mergeThread) { *v = t.loaded + d }) }
func addAtomically(d int) memoryStep      { return next(func(v *int, _ *mergeThread) { *v += d }) }
func storeConstant(value int) memoryStep  { return next(func(v *int, _ *mergeThread) { *v = value }) }
func addInTwoSteps(d int) []memoryStep    { return []memoryStep{next(load), storeSum(d)} }
func swapOrElse(otherwise int) memoryStep { return swapAndGo(over, otherwise) }

// swapAndGo publishes the sum if the variable is what was loaded.
func swapAndGo(done, otherwise int) memoryStep {
	return func(v *int, t *mergeThread) int {
		if *v != t.loaded {
			return otherwise
		}
		*v = t.loaded + sectionAdds
		return done
	}
}

// endings are what a section may do: it takes its copy first, and the rest is its end.
var endings = map[string][]memoryStep{
	"plain": addInTwoSteps(sectionAdds), // the program as it is
	"right": {next(load), swapOrElse(2), addAtomically(sectionAdds)},

	"stores its copy":          {next(load), storeSum(sectionAdds)},
	"leaves the careless":      {next(load), swapOrElse(over)},
	"compares, then stores":    {next(load), func(v *int, t *mergeThread) int { return map[bool]int{true: 2, false: 3}[*v == t.loaded] }, storeSumAndEnd, addAtomically(sectionAdds)},
	"adds whether it did":      {next(load), swapAndGo(2, 2), addAtomically(sectionAdds)},
	"gives up after one retry": {next(load), swapOrElse(2), next(load), swapOrElse(4), storeSum(sectionAdds)},
}

func storeSumAndEnd(v *int, t *mergeThread) int { *v = t.loaded + sectionAdds; return over }

// results runs all schedules of threads, and returns what the variable can be afterwards.
func results(threads ...[]memoryStep) []int {
	all, seen := make(map[int]bool), make(map[mergeState]bool)
	var explore func(s mergeState)
	explore = func(s mergeState) {
		if seen[s] {
			return
		}
		seen[s] = true
		ended := true
		for i, steps := range threads {
			t := s.threads[i]
			if t.at == over || t.at == len(steps) {
				continue
			}
			ended = false
			after := s
			at := steps[t.at](&after.v, &after.threads[i])
			after.threads[i].at = at
			if at == over || at == len(steps) {
				after.threads[i] = mergeThread{at: over} // its registers matter no more
			}
			explore(after)
		}
		if ended {
			all[s.v] = true
		}
	}
	explore(mergeState{})
	return slices.Sorted(maps.Keys(all))
}

// faults returns what is wrong with a way to end a section.
func faults(ending []memoryStep) []string {
	var list []string
	check := func(what string, got []int, allowed func(v int) bool) {
		if slices.ContainsFunc(got, func(v int) bool { return !allowed(v) }) {
			list = append(list, fmt.Sprintf("%s: %v", what, got))
		}
	}
	check("careless additions in one step", results(ending, []memoryStep{addAtomically(10)}, []memoryStep{addAtomically(100)}),
		func(v int) bool { return v == 111 })
	check("a careless addition in two steps", results(ending, addInTwoSteps(10)),
		func(v int) bool { return v == 11 || v == 10 }) // it may lose what the section did, and never itself
	check("a careless constant", results(ending, []memoryStep{storeConstant(50)}),
		func(v int) bool { return v == 50 || v == 51 })
	careless := [][]memoryStep{addInTwoSteps(10), addInTwoSteps(100)}
	plain := results(endings["plain"], careless[0], careless[1])
	check(fmt.Sprintf("less than the plain program, which keeps at least %d", plain[0]), results(ending, careless[0], careless[1]),
		func(v int) bool { return v >= plain[0] })
	return list
}

// TestEndOfASectionLosesNothing: however careless additions fall into the end of a section,
// they are kept, and the section's is kept unless an addition in two steps spans its end. Ways
// to end a section that look right and are not must be recognised, by the same check.
func TestEndOfASectionLosesNothing(t *testing.T) {
	for name, ending := range endings {
		found := faults(ending)
		switch {
		case name == "right" && len(found) > 0:
			t.Errorf("the way that sections end: %q", found)
		case name != "right" && len(found) == 0:
			t.Errorf("a section that %s passes", name)
		}
	}
}
