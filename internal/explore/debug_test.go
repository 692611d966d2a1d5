package explore

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// TestARunStopsWhereItsFailureComesAbout: the event that stands for a failure, by its kind.
func TestARunStopsWhereItsFailureComesAbout(t *testing.T) {
	events := []event.Event{
		{Seq: 1, G: 1, Kind: event.Store, Site: 1, Addr: 64, Size: 8},
		{Seq: 2, G: 2, Kind: event.Load, Site: 2, Addr: 64, Size: 8},
		{Seq: 3, G: 2, Kind: event.Fail, Site: 3},
		{Seq: 4, G: 2, Kind: event.Blocked, Site: 4},
		{Seq: 5, G: 1, Kind: event.Blocked, Site: 5},
		{Seq: 6, G: 3, Kind: event.Blocked, Site: 5},
		{Seq: 7, G: 2, Kind: event.Panic},
		{Seq: 8, G: 2, Kind: event.Load, Site: 2, Addr: 64, Size: 8},
		{Seq: 9, G: 1, Kind: event.End},
	}
	for name, c := range map[string]struct {
		failures []trace.Failure
		want     uint64
	}{
		"none":  {nil, 0},
		"panic": {[]trace.Failure{{Kind: event.FailurePanic, Point: trace.Point{G: 2}}}, 7},
		"test":  {[]trace.Failure{{Kind: event.FailureTest, Point: trace.Point{G: 2}}}, 3},
		"race": {[]trace.Failure{{
			Kind: event.FailureRace, Point: trace.Point{G: 2, Site: 2, Op: event.Load, Addr: 64},
			Others: []trace.Point{{G: 1, Site: 1, Op: event.Store, Addr: 64}},
		}}, 2},
		"deadlock": {[]trace.Failure{{Kind: event.FailureDeadlock, Waiting: []trace.Waiter{{Point: trace.Point{G: 1}}, {Point: trace.Point{G: 2}}}}}, 5},
		"exit":     {[]trace.Failure{{Kind: event.FailureExit, Point: trace.Point{G: 2}}}, 8},
	} {
		file := filepath.Join(t.TempDir(), "x.trace")
		w, err := trace.Create(file, trace.Header{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range events {
			if err := w.Event(&events[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(trace.Outcome{Failures: c.failures}); err != nil {
			t.Fatal(err)
		}
		r, err := trace.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := FailureEvent(r); err != nil || got != c.want {
			t.Errorf("%s: event %d, %v, want %d", name, got, err, c.want)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAHaltedRunWaitsUntilItIsEnded: the run is not over, and no limit of time ends it, until the
// context does.
func TestAHaltedRunWaitsUntilItIsEnded(t *testing.T) {
	if err := Debuggable(); err != nil {
		t.Log(err)
		return
	}
	p := build(t, "testdata/again")
	targets, err := p.Targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.trace")
	if _, err := p.Record(t.Context(), targets[0], "default", &Options{}, file); err != nil {
		t.Fatal(err)
	}
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	reached := 0
	halt := &Halt{Reached: func(int) { reached++; end() }}
	halt.Events = []uint64{2, 4}
	_, err = p.Debug(ctx, r, halt)
	if died := new(*DeathError); !errors.As(err, died) || reached != 1 {
		t.Errorf("reached %d times, then %v", reached, err)
	}
}
