package sli

import (
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Options are the constants of the cost (section 6.3). Zero stands for the paper's.
type Options struct {
	Discarded int // U: a crashing region that could not be covered
	Section   int // C_s: a critical section
}

func (o Options) defaults() Options {
	if o.Discarded == 0 {
		o.Discarded = 1000
	}
	if o.Section == 0 {
		o.Section = 10
	}
	return o
}

// An Analysis is what the engine found out about a failure.
type Analysis struct {
	Failure exec.Failure
	// Crash is the point of the proximal cause, G the goroutine that was there.
	Crash ir.Point
	G     uint32
	// Machines are those derived from the crash, the nearest first. The last is the
	// most of the read operation that was found.
	Machines []*Machine
	// Fixes are ranked, the best first. If there are none, Reasons say why.
	Fixes   []*Fix
	Reasons []string
	// Replay is how long it took to follow the trace through the program.
	Replay time.Duration
}

// ErrLost is returned when a trace cannot be followed to the crash.
var ErrLost = errors.New("the trace cannot be followed to the failure: it lacks the accesses before it, or was recorded from another version of the program")

// Analyse derives fixes for the failure of a trace.
func Analyse(p *ir.Program, tr exec.Trace, f exec.Failure, o Options) (*Analysis, error) {
	o = o.defaults()
	start := time.Now()
	a := &analyser{r: exec.NewReplay(p, tr, f), opts: o, joint: map[ir.Point][]ir.Point{}, shared: map[uint64]bool{}, out: &Analysis{Failure: f}}
	tr.All(0, func(e *exec.Event) bool {
		if len(a.gs) == 0 || a.gs[len(a.gs)-1] < e.G {
			a.gs = append(a.gs, e.G)
		} else if i := sort.Search(len(a.gs), func(i int) bool { return a.gs[i] >= e.G }); a.gs[i] != e.G {
			a.gs = append(a.gs[:i], append([]uint32{e.G}, a.gs[i:]...)...)
		}
		return true
	})
	path := a.follow()
	a.out.Replay = time.Since(start)
	switch f.Why {
	case ir.Race, ir.MapConflict:
		a.race()
	default:
		if path == nil {
			return nil, ErrLost
		}
		a.crash(path)
	}
	a.rank()
	return a.out, nil
}

type analyser struct {
	r      *exec.Replay
	gs     []uint32
	opts   Options
	joint  map[ir.Point][]ir.Point
	shared map[uint64]bool // whether an address is used by more than one goroutine
	out    *Analysis
	fixes  []*Fix
}

// follow replays all goroutines and returns the path to the crash.
func (a *analyser) follow() []exec.Step {
	var found []exec.Step
	var at uint64
	for _, g := range a.gs {
		var ring path
		wanted := a.r.Failure.G == 0 || a.r.Failure.G == g
		a.r.Run(g, nil, func(t *exec.Thread, s *exec.Step) bool {
			if !wanted {
				return true
			}
			ring.add(s)
			switch {
			case t.Failed != nil && !s.Ahead:
				found, t.Failed = ring.copy(), nil
			case s.Instr.Op == ir.Test && s.Instr.Why == ir.Assertion && a.r.Failure.Why == ir.Assertion && !s.Ahead && (found == nil || s.Time < at):
				found, at = ring.copy(), s.Time
			}
			return true
		})
	}
	if found != nil && found[len(found)-1].Instr.Why != a.r.Failure.Why {
		found = nil
	}
	switch {
	case found == nil && a.r.Failure.Why == ir.Assertion:
		return a.reported()
	case found == nil && a.r.Failure.Why == ir.Panic:
		return a.stopped()
	}
	return found
}

// stopped is the path to a panic that is not the program's own but that of an
// operation it made.
func (a *analyser) stopped() []exec.Step {
	var ring path
	var found []exec.Step
	a.r.Run(a.r.Failure.G, nil, func(_ *exec.Thread, s *exec.Step) bool {
		ring.add(s)
		if (s.Instr.Op == ir.Sync || s.Instr.Op == ir.Call) && a.r.Failure.Here != nil && a.r.Failure.Here(s.Instr) {
			found = ring.copy()
		}
		return !s.Ahead
	})
	return found
}

// reported is the path to where a test said that it failed, by something that is not
// in the program: the call of it ends the path.
func (a *analyser) reported() []exec.Step {
	var fail exec.Event
	a.r.Trace.All(0, func(e *exec.Event) bool {
		if e.Kind == exec.KindFail {
			fail = *e
		}
		return fail.Seq == 0
	})
	if fail.Seq == 0 {
		return nil
	}
	var ring path
	var found []exec.Step
	a.r.Run(fail.G, nil, func(_ *exec.Thread, s *exec.Step) bool {
		if s.Time > fail.Seq && s.Instr.Op == ir.Call && s.Instr.Callee == nil && !s.Ahead {
			ring.add(s)
			found = ring.copy()
			return false
		}
		if s.Time <= fail.Seq {
			ring.add(s)
		}
		return s.Time <= fail.Seq || s.Instr.Op != ir.Call
	})
	if found == nil && len(ring.steps) > 0 {
		found = ring.copy()
	}
	return found
}

// pathTo is the path of a goroutine to one of its events.
func (a *analyser) pathTo(seq uint64) []exec.Step {
	e, ok := a.r.Trace.Event(seq)
	if !ok {
		return nil
	}
	var ring path
	var found []exec.Step
	a.r.Run(e.G, nil, func(_ *exec.Thread, s *exec.Step) bool {
		ring.add(s)
		if s.Event && s.Time == seq {
			found = ring.copy()
		}
		return found == nil && s.Time <= seq
	})
	return found
}

// A path keeps the last steps of a goroutine.
type path struct{ steps []exec.Step }

func (p *path) add(s *exec.Step) {
	if len(p.steps) == 2*maxPath {
		p.steps = append(p.steps[:0], p.steps[maxPath:]...)
	}
	p.steps = append(p.steps, *s)
}

func (p *path) copy() []exec.Step {
	return append([]exec.Step(nil), p.steps[max(0, len(p.steps)-maxPath):]...)
}

// private reports whether only one goroutine uses the memory.
func (a *analyser) private(addr uint64, size int) bool {
	if addr >= ir.FirstInvented {
		return true
	}
	s, ok := a.shared[addr]
	if !ok {
		var g uint32
		a.r.Trace.Accesses(addr, uint32(size), 1, a.r.Trace.Last(), func(e *exec.Event) bool {
			s = g != 0 && e.G != g
			g = e.G
			return !s
		})
		a.shared[addr] = s
	}
	return !s
}

// crash analyses a failure that has a point: the machine of the proximal cause is
// the test that failed.
func (a *analyser) crash(steps []exec.Step) {
	end := steps[len(steps)-1]
	a.out.Crash = end.Point
	for _, g := range a.gs {
		if a.r.Failure.G == g {
			a.out.G = g
		}
	}
	d := newDeriver(a.r, steps, a.private)
	cause := Edge{To: crash}
	if end.Instr.Op == ir.Test {
		cause = choose(end.Instr.X.InContext(end.Ctx), Edge{To: crash}, Edge{To: noCrash})
	}
	machines := d.run(cause)
	a.out.Machines = machines
	if len(machines) == 0 {
		a.reason("nothing that the crashing goroutine read from memory decides whether it crashes: what was done in which order does, and a lock does not order")
		return
	}
	specials := a.solve(d, machines, solveOptions{})
	for _, f := range a.fixes {
		if f.Discarded == 0 {
			return
		}
	}
	// What the goroutine read had gone wrong before it read it. See whether an update
	// was lost on the way.
	a.lostUpdates(specials)
}

func (a *analyser) reason(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	for _, r := range a.out.Reasons {
		if r == s {
			return
		}
	}
	a.out.Reasons = append(a.out.Reasons, s)
}
