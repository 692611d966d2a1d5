package explore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/search"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A search can have its units done elsewhere, by other processes of this machine or by other
// machines: the Search decides, Hands do the units, and what is in between carries Errands there
// and UnitsDone back. Both are plain data.
//
//	Search ── Errand ──> Hands.Do ──> processes of the program
//	       <─ UnitsDone ─

// An Errand is some units of a search to be done elsewhere.
type Errand struct {
	Target string
	// Fresh has each unit done in a process of its own.
	Fresh bool
	// Alone says that there is no other errand for the target at the same time.
	Alone bool `json:",omitempty"`
	Units []sched.Unit
	// Budget is after how long no other run is begun.
	Budget time.Duration
}

// UnitsDone are what came of an errand.
type UnitsDone struct {
	// Units are as many of the errand's as were done.
	Units   []wire.UnitDone `json:",omitempty"`
	Residue wire.Residue    `json:",omitempty"`
	Before  int             `json:",omitempty"`
	// Ended is why not all of them were, if it was not for lack of time.
	Ended *Ended `json:",omitempty"`
	// Deaths are how the program died where that is a failure of a unit.
	Deaths []Death `json:",omitempty"`
}

// Ended is why processes that make one run after another could not go on.
type Ended struct {
	// Residue says that a run changed how the next one ended, or which steps it took.
	Residue wire.Residue `json:",omitempty"`
	// NotBeside is why the target is to be run by one process at a time.
	NotBeside string `json:",omitempty"`
	// Death is how the program died, and Stuck what it printed whose run did not come to an end.
	Death *Death  `json:",omitempty"`
	Stuck *string `json:",omitempty"`
}

// A Death is a DeathError as data.
type Death struct{ Cause, Output, Crash string }

// death is an error as data.
func (e *DeathError) death() *Death {
	return &Death{Cause: e.cause(), Output: e.Output, Crash: e.Crash}
}

// err is the death as an error.
func (d *Death) err() *DeathError {
	return &DeathError{Cause: errors.New(d.Cause), Output: d.Output, Crash: d.Crash}
}

// endedBy is an error of a search as data; nil if it is none that ends a search in one process.
func endedBy(err error) *Ended {
	var died *DeathError
	var stuck *StuckError
	var notBeside notBesideError
	switch {
	case errors.As(err, &notBeside):
		return &Ended{NotBeside: string(notBeside)}
	case errors.Is(err, errChangesEndings):
		return &Ended{Residue: wire.ChangesEndings}
	case errors.Is(err, errChangesSteps):
		return &Ended{Residue: wire.ChangesSteps}
	case errors.As(err, &stuck):
		return &Ended{Stuck: &stuck.Output}
	case errors.As(err, &died):
		return &Ended{Death: died.death()}
	}
	return nil
}

// err is the error that the data is of.
func (e *Ended) err() error {
	switch {
	case e == nil:
		return nil
	case e.NotBeside != "":
		return notBesideError(e.NotBeside)
	case e.Residue == wire.ChangesEndings:
		return errChangesEndings
	case e.Residue == wire.ChangesSteps:
		return errChangesSteps
	case e.Death != nil:
		return e.Death.err()
	}
	return &StuckError{Output: *e.Stuck}
}

// Hands do units of a target for a search that is elsewhere, one errand after the other.
type Hands struct {
	x      *pass
	idle   idleProcesses
	ctx    context.Context
	before int
	known  wire.Residue
}

// NewHands returns hands for a target. Their processes end with the context, or by Close.
func (p *Program) NewHands(ctx context.Context, target string, o *Options, fresh bool) *Hands {
	return &Hands{x: newPass(p, target, o, fresh), ctx: ctx}
}

// Do does an errand.
func (h *Hands) Do(e *Errand) (*UnitsDone, error) {
	limited, cancel := context.WithTimeout(h.ctx, e.Budget+h.x.o.within()+patience)
	defer cancel()
	c := &crew{x: h.x, ctx: h.ctx, limited: limited, idle: &h.idle, alone: e.Alone, residue: h.known, started: h.idle.starting(1)}
	defer c.dismiss()
	deadline := time.Now().Add(e.Budget)
	done := &UnitsDone{}
	for len(done.Units) < len(e.Units) {
		some := e.Units[len(done.Units):]
		if e.Fresh {
			some = some[:1]
		}
		if len(done.Units) > 0 && !time.Now().Before(deadline) {
			break
		}
		units, err := c.Do(0, some, func() time.Time { return deadline })
		done.Units = append(done.Units, units...)
		if err = explain(h.ctx, limited, err); err != nil {
			if done.Ended = endedBy(err); done.Ended == nil {
				return nil, err
			}
			break
		}
		if !e.Fresh && len(units) < len(some) {
			break // the time is up, or a run took too long
		}
	}
	h.known, h.before = c.residue, max(h.before, c.before)
	done.Residue, done.Before = h.known, h.before
	for _, died := range h.x.deaths {
		done.Deaths = append(done.Deaths, *died.death())
	}
	return done, nil
}

// Close ends the processes.
func (h *Hands) Close() { h.idle.close() }

// A distantCrew has units done elsewhere.
type distantCrew struct {
	x     *pass
	ctx   context.Context
	alone bool // one errand at a time

	mu      sync.Mutex
	tally   search.Tally
	residue wire.Residue
	before  int
}

func (c *distantCrew) Starting() time.Duration { return 0 }

func (c *distantCrew) Leaves() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return leaves(c.residue)
}

func (c *distantCrew) Do(n int, units []sched.Unit, deadline func() time.Time) ([]wire.UnitDone, error) {
	done, err := c.x.o.Elsewhere(c.ctx, &Errand{Target: c.x.target, Fresh: c.x.fresh, Alone: c.alone, Units: units, Budget: max(0, time.Until(deadline()))})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	if done.Residue != wire.NoResidue {
		c.residue = done.Residue
	}
	c.before = max(c.before, done.Before)
	c.mu.Unlock()
	for i := range done.Deaths {
		c.x.noteDeath(done.Deaths[i].err())
	}
	c.tally.Note(c.x.Pass, n, wire.Progress{})
	return done.Units, done.Ended.err()
}
