package isolator

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/internal/page"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// What a section executes, part by part: the instructions that a target was missed by. Each part is a
// loop in a function of its own, over locks that the loops before have taken, so that callgrind tells
// them apart; the instructions of the loop itself are counted on both sides.

// sectionsCounted asks the worker to run these loops.
const sectionsCounted = "sections"

const countedLocks, countedRounds = 64, 200

// figureInstructions is instructions by itself.
func (s *session) figureInstructions() error {
	s.instructions()
	return nil
}

// count has a worker count its instructions. Valgrind knows nothing of userfaultfd. What an undisturbed
// section executes does not depend on the backend.
func count(r request) (measure.Instructions, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return measure.Count(r, exe, []string{page.BackendVariable + "=" + string(page.None)}, name, command.WorkerArgument)
}

// instructions prints what the parts of a section execute.
func (s *session) instructions() {
	counts, err := count(request{Do: sectionsCounted})
	if errors.Is(err, measure.ErrNoValgrind) {
		fmt.Fprintf(s.Out, "\nThe instructions of a section by part are not shown: %v.\n", err)
		return
	}
	if err != nil {
		s.Note("%v", err)
		return
	}
	per := func(functions ...string) string {
		n := counts.Per(countedLocks*countedRounds, functions...)
		if n == 0 {
			return "-"
		}
		return fmt.Sprintf("%.0f", n)
	}
	fmt.Fprintf(s.Out, "\nInstructions of a section that nobody disturbs, by callgrind, with those of the loop around each part:\n\n")
	t := measure.Table{Head: []string{"part", "sync.Mutex", "isolate.Mutex", "what for"}, Left: 1}
	t.Row("lock, enter", per(".lockPlain"), per(".lockGuarded", "/page.Begin"), "one locked instruction each; whose section it is, where it began, a look at the gate")
	t.Row("own", per(".usePlain"), per(".useGuarded", "/page.Own"), "that the goroutine is in the section, and the object the guard's")
	t.Row("leave, unlock", per(".unlockPlain"), per(".unlockGuarded"), "one locked instruction each; the store that ends the section before it")
	t.Write(s.Out)
}

// countSections is the worker's side.
func countSections() {
	plain := make([]sync.Mutex, countedLocks)
	cells := make([]cell, countedLocks)
	guarded := make([]isolate.Mutex, countedLocks)
	objects := make([]*cell, countedLocks)
	for i := range guarded {
		objects[i] = isolate.New[cell](&guarded[i])
		guarded[i].Lock() // so that what only the first section does is not counted below
		isolate.Own(&guarded[i], objects[i])
		guarded[i].Unlock()
		defer guarded[i].Close()
	}
	for range countedRounds {
		lockPlain(plain)
		usePlain(cells)
		unlockPlain(plain)
		lockGuarded(guarded)
		useGuarded(guarded, objects)
		unlockGuarded(guarded)
	}
}

//go:noinline
func lockPlain(locks []sync.Mutex) {
	for i := range locks {
		locks[i].Lock()
	}
}

//go:noinline
func usePlain(cells []cell) {
	for i := range cells {
		cells[i].n++
	}
}

//go:noinline
func unlockPlain(locks []sync.Mutex) {
	for i := range locks {
		locks[i].Unlock()
	}
}

//go:noinline
func lockGuarded(locks []isolate.Mutex) {
	for i := range locks {
		locks[i].Lock()
	}
}

//go:noinline
func useGuarded(locks []isolate.Mutex, objects []*cell) {
	for i := range locks {
		isolate.Own(&locks[i], objects[i]).n++
	}
}

//go:noinline
func unlockGuarded(locks []isolate.Mutex) {
	for i := range locks {
		locks[i].Unlock()
	}
}
