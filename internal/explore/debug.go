package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Halt is where a run waits for a debugger, and what is done then.
type Halt struct {
	wire.Halt
	// Reached is called with the process when the run waits. It must not wait itself: what the
	// program does is heard of in the same place.
	Reached func(pid int)
	// Output gets what the program prints, as it does.
	Output io.Writer
}

// compilations are the flags of the compiler for programs that a debugger looks into, the best to
// look at first. A compiler that does not inline may put a variable on the heap that it would have
// left on a stack: then there are accesses that were no steps when the trace was recorded, and its
// schedule means something else. So the run is made once without a debugger, and if it differs the
// next flags are tried.
var compilations = []string{"-N -l", "-N", ""}

// Debuggable reports, as an error, whether runs can wait for a debugger here.
func Debuggable() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("on %s a program cannot tell that a debugger has come; debug on Linux", runtime.GOOS)
	}
	return nil
}

// NewDebugged builds the program of a trace for a debugger. The run that is made with it, without
// one, is returned as well: it differs from the trace if that of every such build does.
func NewDebugged(ctx context.Context, c instrument.Config, environment []string, r *trace.Reader) (_ *Build, again *Replayed, err error) {
	for i, flags := range compilations {
		c.Debug = &instrument.Debug{Compiling: flags}
		build, err := New(ctx, c, r.Header.Args...)
		if err != nil {
			return nil, nil, err
		}
		build.Environment = environment
		again, err := build.Programs[0].Replay(ctx, r)
		if err == nil && (again.Parting == nil || i == len(compilations)-1) {
			return build, again, nil
		}
		if err := errors.Join(err, build.Close()); err != nil {
			return nil, nil, err
		}
	}
	panic("unreachable: the last flags are taken whatever comes of them")
}

// Debug runs a recorded run again, as Replay does, and has it wait for a debugger. A run that was
// stopped or changed by a debugger may differ, or not come to its end.
func (p *Program) Debug(ctx context.Context, r *trace.Reader, halt *Halt) (*Replayed, error) {
	return p.replay(ctx, r, halt)
}

// FailureEvent returns the number of the event at which the failure of a recorded run comes about:
// that of a panic, of the failure that a test reports, of the later access of a race, and of a
// deadlock the last at which one of its goroutines begins to wait. It is 0 if the run did not
// fail.
func FailureEvent(r *trace.Reader) (uint64, error) {
	worst := r.Outcome.Worst()
	if worst == nil {
		return 0, nil
	}
	filter := trace.Filter{Goroutines: []uint32{worst.G}}
	switch {
	case len(worst.Waiting) > 0:
		filter.Goroutines, filter.Kinds = waiting(worst), []event.Kind{event.Blocked}
	case worst.Kind == event.FailurePanic:
		filter.Kinds = []event.Kind{event.Panic}
	case worst.Kind == event.FailureTest:
		filter.Kinds = []event.Kind{event.Fail}
	case worst.Kind == event.FailureRace && len(worst.Others) > 0:
		return raceEvent(r, &worst.Others[0], &worst.Point)
	}
	events := r.Cursor(filter)
	if events.SeekEnd(); events.Prev() {
		return events.Event().Seq, nil
	}
	return r.Len(), events.Err()
}

// raceEvent returns the number of the later access of a race, which is told at the first that
// comes after the earlier one.
func raceEvent(r *trace.Reader, earlier, later *trace.Point) (uint64, error) {
	events := r.Cursor(trace.Filter{Goroutines: []uint32{earlier.G, later.G}})
	for seen := false; events.Next(); {
		switch e := events.Event(); {
		case earlier.Is(e):
			seen = true
		case seen && later.Is(e):
			return e.Seq, nil
		}
	}
	return r.Len(), events.Err()
}

// waiting are the goroutines of a deadlock or a leak.
func waiting(f *trace.Failure) []uint32 {
	var all []uint32
	for i := range f.Waiting {
		all = append(all, f.Waiting[i].G)
		all = append(all, f.Waiting[i].More...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
