package protecting

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/internal/protect/wicket"
)

// What a section on a field that is isolated in its object executes, part by part: the instructions
// that a target was missed by. Each part is a loop in a function of its own, as in package isolator.

// A tally is an object as the rewriter makes one.
type tally struct {
	x  wicket.Guard
	mu sync.Mutex
	n  int
}

const countedObjects, countedRounds = 64, 200

// instructions prints what the parts of a section execute.
func (s *session) instructions() {
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintf(s.Out, "\nThe instructions of a section by part are not shown: %v.\n", err)
		return
	}
	counts, err := measure.Count(request{}, exe, nil, Benchmark.Name, command.WorkerArgument)
	if err != nil {
		fmt.Fprintf(s.Out, "\nThe instructions of a section by part are not shown: %v.\n", err)
		return
	}
	per := func(functions ...string) string {
		return fmt.Sprintf("%.0f", counts.Per(countedObjects*countedRounds, functions...))
	}
	fmt.Fprintf(s.Out, "\nInstructions of a section on an isolated field that nobody disturbs, by callgrind, with those of the loop around each part:\n\n")
	t := measure.Table{Head: []string{"part", "instructions", "what for"}, Left: 1}
	t.Row("lock", per(".lockTallies"), "the program's own: one locked instruction")
	t.Row("enter", per(".enterTallies", "/page.StepIn"), "whose section it is, where it began, a look for stores under way; one locked instruction until the guard trusts")
	t.Row("use", per(".useTallies"), "the program's own")
	t.Row("leave", per(".leaveTallies"), "two stores")
	t.Row("unlock", per(".unlockTallies"), "the program's own: one locked instruction")
	t.Row("wake", per(".wakeTallies"), "a look for accesses that wait")
	t.Write(s.Out)
}

// serveInstructions is the worker's side.
func serveInstructions(in io.Reader, out io.Writer) int {
	return measure.Serve(in, out, func(r request) (any, error) {
		if r.Do != "" {
			return nil, errors.New("the child can count and nothing else")
		}
		countTallies()
		return measure.Took{}, nil
	})
}

func countTallies() {
	tallies := make([]tally, countedObjects)
	for range countedRounds {
		lockTallies(tallies)
		enterTallies(tallies)
		useTallies(tallies)
		leaveTallies(tallies)
		unlockTallies(tallies)
		wakeTallies(tallies)
	}
}

//go:noinline
func lockTallies(all []tally) {
	for i := range all {
		all[i].mu.Lock()
	}
}

//go:noinline
func enterTallies(all []tally) {
	for i := range all {
		all[i].x.Lock(1, 0)
	}
}

//go:noinline
func useTallies(all []tally) {
	for i := range all {
		all[i].n++
	}
}

//go:noinline
func leaveTallies(all []tally) {
	for i := range all {
		all[i].x.Leave()
	}
}

//go:noinline
func unlockTallies(all []tally) {
	for i := range all {
		all[i].mu.Unlock()
	}
}

//go:noinline
func wakeTallies(all []tally) {
	for i := range all {
		all[i].x.Wake()
	}
}
