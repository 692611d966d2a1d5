package drive

import (
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// one runs a target once, by a given schedule, and records it if asked.
func (s *server) one(i int, o *wire.Order) (*wire.Done, error) {
	schedule, err := sched.ParseSchedule(o.Schedule)
	if err != nil {
		return nil, err
	}
	replay := sched.NewReplay(schedule)
	rec := sched.NewRecorder(replay, false)
	start := time.Now()
	if o.Trace == "" {
		out := outcome(s.run(i, o, rec, nil))
		out.Schedule = rec.Schedule().String()
		return &wire.Done{Outcome: out, Diverged: replay.Diverged()}, nil
	}
	w, err := trace.Create(o.Trace, *o.Header)
	if err != nil {
		return nil, err
	}
	to := &recording{w: w}
	r := s.run(i, o, rec, to)
	out := outcome(r)
	out.Schedule = rec.Schedule().String()
	out.Elapsed = time.Since(start)
	table, err := readTable(o.Sites)
	if err != nil {
		return nil, err
	}
	out.Texts = to.texts.of(table.Sites)
	if err := w.SetSites(append(table.Sites, callSites(r.Frames, table.Calls, &to.kinds)...)); err != nil {
		return nil, err
	}
	if err := w.Close(*out); err != nil {
		return nil, err
	}
	return &wire.Done{Outcome: out, Diverged: replay.Diverged()}, nil
}

// A recording is where the events of a run go. The writer keeps its first error for
// Close.
type recording struct {
	w     *trace.Writer
	texts texts
	kinds kindsAt
}

func (r *recording) event(e *event.Event) {
	_ = r.w.Event(e)
	r.kinds.add(e)
	r.texts.add(e)
}

// accesses is event for what is neither a string nor done by a patched function.
func (r *recording) accesses(all []event.Access) { _ = r.w.Accesses(all) }
