package binfix

import (
	"errors"
	"os"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/drive"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// observe runs a failing schedule again, as the engine wants to see it. The result says if
// that cannot be fixed.
func (f *fixer) observe(outcome *trace.Outcome) (*failingCase, error) {
	r, found := f.result, outcome.Worst()
	c := &failingCase{failure: found}
	if found.Kind == event.FailureDeadlock {
		r.Refusal = "no thread can go on, and another lock cannot change that: if the threads hold locks that they wait for, take them in one order everywhere; if one waits for a signal that was sent before, test what it waits for under the same mutex that the signal is sent under"
		return nil, nil
	}
	data, err := os.ReadFile(f.Binary.Path)
	if err != nil {
		return nil, err
	}
	f.data = data
	f.Progress("recording", "")
	run, failure, process, err := f.watch(outcome.Schedule)
	if err != nil {
		return nil, err
	}
	c.run = run
	if failure == nil || !failure.Same(found) {
		return nil, r.Program.NotRepeated()
	}
	c.process = process
	switch c.at = c.run.FailureOf(failure); {
	case inHandler(process, failure.G):
		r.Refusal = "it fails in a signal handler, and a lock does not keep a handler apart from the code that it interrupts: have the handler set a flag, and do the rest where the flag is looked at"
	case c.run.TooLong():
		r.Refusal = "the run is too long to be analysed: give the program less to do"
	case c.at == nil:
		r.Refusal = "no instruction of the program itself is where it failed: the code of libraries is not patched"
	}
	return c, nil
}

// inHandler reports whether a thread is in a signal handler.
func inHandler(process *linux.Process, number uint32) bool {
	return slices.ContainsFunc(process.Threads(), func(t *linux.Thread) bool { return t.Number == number && t.Handling() })
}

// watch runs a schedule as the engine wants to see it.
func (f *fixer) watch(schedule string) (run *lifting.Run, failure *trace.Failure, process *linux.Process, err error) {
	var broken error
	failure, process, err = f.result.Program.Observe(schedule, &drive.Observer{
		Begins: func(process *linux.Process) {
			if f.result.Image, broken = lifting.NewImage(f.Binary.Path, f.data, process.Program().Base); broken == nil {
				run = lifting.NewRun(process, f.result.Image)
			}
		},
		Allocates: func(t *linux.Thread, addr, size uint64) {
			if run != nil {
				run.Allocated(t, addr, size)
			}
		},
		Frees: func(t *linux.Thread, addr, size uint64) {
			if run != nil {
				run.Freed(t, addr, size)
			}
		},
	})
	return run, failure, process, errors.Join(err, broken)
}
