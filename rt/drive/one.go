package drive

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
	"github.com/cofferdam-go/cofferdam/rt"
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
		return &wire.Done{Progress: wire.Progress{Runs: 1, Elapsed: time.Since(start)}, Outcome: out, Diverged: replay.Diverged()}, nil
	}
	w, err := trace.Create(o.Trace, *o.Header)
	if err != nil {
		return nil, err
	}
	r := s.run(i, o, rec, func(e *event.Event) {
		_ = w.Event(e) // the writer keeps its first error for Close
	})
	out := outcome(r)
	out.Schedule = rec.Schedule().String()
	out.Elapsed = time.Since(start)
	sites, err := readSites(o.Sites)
	if err != nil {
		return nil, err
	}
	if err := w.SetSites(append(sites, callSites(r.Frames)...)); err != nil {
		return nil, err
	}
	if err := w.Close(*out); err != nil {
		return nil, err
	}
	return &wire.Done{Progress: wire.Progress{Runs: 1, Elapsed: out.Elapsed}, Outcome: out, Diverged: replay.Diverged()}, nil
}

func readSites(path string) ([]trace.Site, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the sites of the program: %w", err)
	}
	var sites []trace.Site
	if err := json.Unmarshal(data, &sites); err != nil {
		return nil, fmt.Errorf("reading the sites of the program in %s: %w", path, err)
	}
	return sites, nil
}

// callSites describes the sites that are calls of patched functions of the standard
// library: these have a return address and no number of their own.
func callSites(f *rt.Frames) []trace.Site {
	var all []trace.Site
	for id := uint32(event.CallSites); ; id++ {
		pc, ok := f.PC(id)
		if !ok {
			return all
		}
		frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
		all = append(all, trace.Site{ID: id, File: frame.File, Line: frame.Line, Function: frame.Function, Kind: "synchronisation"})
	}
}
