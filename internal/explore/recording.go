package explore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
	"github.com/cofferdam-go/cofferdam/internal/wire/ring"
)

// Record runs a target by a schedule in a fresh process, and records the run to a file;
// or not, if it has no name.
func (p *Program) Record(ctx context.Context, target, schedule string, o *Options, file string) (*wire.Done, error) {
	order := p.order(wire.Run, target, o)
	order.Schedule, order.WarmUp, order.Within = schedule, o.warmUp, recordingTakes*max(o.Within, DefaultWithin)
	if o.Halt != nil {
		order.Halt, order.Within = o.Halt.Halt, 0 // a person takes any time
	}
	if file == "" {
		c, err := p.start(ctx, o, nil)
		if err != nil {
			return nil, err
		}
		return c.once(order)
	}
	file, err := filepath.Abs(file)
	if err == nil {
		err = p.makeTraceDir(file)
	}
	if err != nil {
		return nil, fmt.Errorf("recording a run: %w", err)
	}
	order.Record, order.Sites = true, p.build.sitesFile
	events, shared, err := ring.Create()
	if err != nil {
		return nil, err
	}
	defer events.Close()
	c, err := p.start(ctx, o, shared)
	shared.Close()
	if err != nil {
		return nil, err
	}
	if o.Halt != nil {
		c.halted = o.Halt.Reached
	}
	w, err := trace.Create(file, *p.header(target, schedule, o))
	if err != nil {
		c.close()
		return nil, err
	}
	written := writeEvents(events, w)
	done, err := c.once(order)
	written()
	if err != nil {
		return nil, errors.Join(err, w.Abandon())
	}
	if err := w.SetSites(slices.Concat(p.build.Sites, done.Calls)); err != nil {
		return nil, err
	}
	return done, w.Close(*done.Outcome)
}

// readEvery is how often a ring is looked at: it is full after a multiple of that.
const readEvery = 100 * time.Microsecond

// writeEvents writes what comes through a ring to a trace. The function that it returns is
// called when nothing more comes, and returns when everything is written. The writer keeps
// its first error for Close.
func writeEvents(events *ring.Ring, w *trace.Writer) (written func()) {
	over, all := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(all)
		tick := time.NewTicker(readEvery)
		defer tick.Stop()
		for last := false; !last; {
			select {
			case <-over:
				last = true
			case <-tick.C:
			}
			for events.Drain(func(some []event.Access) { _ = w.Accesses(some) }, func(e *event.Event) { _ = w.Event(e) }) {
			}
		}
	}()
	return func() {
		close(over)
		<-all
	}
}
