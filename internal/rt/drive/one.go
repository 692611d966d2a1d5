package drive

import (
	"errors"
	"os"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
	"github.com/cofferdam-go/cofferdam/internal/wire/ring"
)

// one runs a target once, by a given schedule, and records it if asked.
func (s *server) one(i int, o *wire.Order) (*wire.Done, error) {
	schedule, err := sched.ParseSchedule(o.Schedule)
	if err != nil {
		return nil, err
	}
	var to *recording
	if o.Record {
		if to, err = s.recording(); err != nil {
			return nil, err
		}
	}
	replay := sched.NewReplay(schedule)
	rec := sched.NewRecorder(replay, false)
	var strategy sched.Strategy = rec
	if o.Halt.On() {
		if to == nil {
			return nil, errors.New("a run that is to wait for a debugger has to be recorded")
		}
		to.halt = s.halt
		if o.Halt.Preemption > 0 {
			strategy = &haltingStrategy{Recorder: rec, before: o.Halt.Preemption, halt: s.halt}
		}
	}
	start := time.Now()
	r := s.run(i, o, strategy, to)
	out := outcome(r)
	out.Schedule = rec.Schedule().String()
	done := &wire.Done{Outcome: out, Diverged: replay.Diverged()}
	if to != nil {
		out.Elapsed = time.Since(start)
		table, err := readTable(o.Sites)
		if err != nil {
			return nil, err
		}
		out.Texts = to.texts.of(table.Sites)
		done.Calls = callSites(r.Frames, table.Calls, &to.kinds)
	}
	return done, nil
}

// A recording is where the events of a run go.
type recording struct {
	ring  *ring.Ring
	texts texts
	kinds kindsAt
	halt  func() // nil if the run is not to wait for a debugger
}

func (s *server) recording() (*recording, error) {
	if s.events == nil {
		return nil, errors.New("recording a run: the program was started without room for events")
	}
	r, err := ring.Open(s.events)
	if err != nil {
		return nil, err
	}
	r.Wait = s.awaitReader
	return &recording{ring: r}, nil
}

// awaitReader gives the tool time to read events. Now and then it looks whether there is a
// tool: one that was killed reads no more.
func (s *server) awaitReader() {
	const pause, pauses = 50 * time.Microsecond, 10_000
	time.Sleep(pause)
	if s.waited++; s.waited%pauses == 0 && s.out.Encode(&wire.Report{Progress: &wire.Progress{}}) != nil {
		os.Exit(2)
	}
}

// event is for what is no access: strings, and what patched functions do.
func (r *recording) event(e *event.Event) {
	r.ring.Event(e)
	r.kinds.add(e)
	r.texts.add(e)
}
