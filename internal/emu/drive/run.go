package drive

import (
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/race"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A run is one run of a program, from its snapshot to its end.
type run struct {
	*Program
	strategy sched.Strategy
	learns   bool // what memory is shared, for the next run
	// stop, if there is one, reports now and then whether to cut the run off.
	stop func() bool

	threads []threadState // by number
	point   sched.Turn
	ready   []*linux.Thread
	steps   uint64
	last    *linux.Thread
	row     int // steps that the last thread has taken without rest
	running *linux.Thread
	ref     cpu.Ref

	failure *trace.Failure
	races   []trace.Failure // of the run, if they are asked for
	cutOff  bool
	moves   moves
	held    sched.Held
	// foundAtomics are words that this run is the first to show to be atomic.
	foundAtomics []uint64
}

// A threadState is what is known about a thread between its steps.
type threadState struct {
	op event.Op
	// decided: the operation is an instruction, which executes when the thread is picked.
	decided bool
	taken   uint64
	watcher watcher
	// half is the operand of an instruction that reads and writes in two steps, of which the
	// next one is step.
	half half
}

// A half is where a thread is in an instruction that reads memory and writes it back, and
// does not lock it: another thread may come between, as on a real machine.
type half struct {
	step  uint8 // 0: in none; 1: about to read; 2: about to write
	ref   cpu.Ref
	value uint64 // what was read
}

// Instructions between two looks at a thread that makes no visible step; and steps after
// which a thread is taken to wait by trying again and again.
const (
	quiet    = 2_000_000
	spinning = 10_000
)

// lookEvery is after how many steps a run looks whether to stop.
const lookEvery = 64

func (r *run) state(t *linux.Thread) *threadState {
	for int(t.Number) >= len(r.threads) {
		r.threads = append(r.threads, threadState{op: event.Op{Kind: event.Start, G: uint32(len(r.threads))}})
	}
	return &r.threads[t.Number]
}

// execute makes the run.
func (r *run) execute() {
	r.process.Restore(r.start)
	r.heap = r.Program.ready.copy()
	if r.learns {
		r.uses.begin()
	}
	r.output.text = r.output.text[:0]
	r.drive()
}

// drive makes the steps of a run, up to its end.
func (r *run) drive() {
	r.strategy.Begin()
	r.process.Draw(r.strategy.Chance())
	watches := r.strategy.Watches()
	visible := r.visible
	for _, t := range r.process.Threads() {
		if t.Calling() {
			r.state(t).op, _ = call(t)
		}
	}
	if r.findsRaces {
		r.watch.begin(r.process.Threads())
	}
	for r.process.Exit() == nil && r.failure == nil && !r.cutOff {
		t := r.choose(watches)
		if t == nil {
			if !r.idle(watches) {
				r.failure = r.deadlock()
			}
			continue
		}
		if r.steps++; r.steps > r.maxSteps || r.stop != nil && r.steps%lookEvery == 0 && r.stop() {
			r.cutOff = true
			break
		}
		if r.row++; t != r.last {
			r.row = 0
			if r.routing != nil && r.last != nil {
				r.leaves(r.last)
			}
		}
		r.last = t
		s := r.state(t)
		s.taken++
		decided := s.decided
		s.decided = false
		r.uses.threads(len(r.process.Threads()))
		r.running = t
		if decided && r.isFreed(&s.op) {
			break
		}
		var past *race.Vector
		if r.findsRaces && decided {
			r.touches(t, &cpu.Ref{Addr: uint64(s.op.Addr), Size: uint32(s.op.Size), Kind: s.op.Kind, Site: s.op.Site})
		} else if r.findsRaces && t.Calling() {
			past = r.calls(t)
		}
		if s.half.step == 1 && r.readHalf(t, s) {
			continue
		}
		if s.half.step == 2 {
			r.process.WriteHalf(t, &s.half.ref, s.half.value)
		}
		s.half.step = 0
		if r.creates(t) {
			// What its creator does from now on, it does beside the new thread.
			r.uses.threads(len(r.process.Threads()) + 1)
		}
		r.advance(t, visible, decided)
		if r.findsRaces {
			r.created(t, past)
		}
	}
	r.finish()
}

// readHalf makes the first step of an instruction that reads and writes. It reports whether
// there is a second: not if the memory is not there.
func (r *run) readHalf(t *linux.Thread, s *threadState) bool {
	value, ok := r.process.ReadHalf(t, &s.half.ref)
	if !ok {
		return false
	}
	s.half.step, s.half.value = 2, value
	s.op.Kind, s.decided = event.Store, true
	s.watcher.looks(&s.op)
	return true
}

// learn makes the memory that a run has found to be shared visible from now on. It reports
// whether there is any. A run that failed is to be repeated by its schedule, which would
// no longer be the same.
func (r *run) learn() bool {
	r.atomics.addAll(r.foundAtomics)
	return r.shared.addAll(r.uses.found)
}

// finish tells the strategy how the run ended.
func (r *run) finish() {
	if e := r.process.Exit(); e != nil && r.failure == nil {
		r.failure = r.crash(e)
		r.cutOff = r.cutOff || e.Reason == linux.Limited
	}
	if r.judge != nil && r.failure == nil {
		if text := r.judge(r.process); text != "" {
			r.failure = &trace.Failure{Kind: event.FailureDeadlock, Message: text}
		}
	}
	if r.findsRaces {
		r.races = r.raced()
		if r.failure == nil && len(r.races) > 0 {
			r.failure, r.races = &r.races[0], r.races[1:]
		}
	}
	ending := event.Passed
	switch {
	case r.failure != nil:
		ending = event.Failed
	case r.cutOff:
		ending = event.CutOff
	}
	r.held.Clock, r.held.Outside = r.process.Used().Clock, r.process.Used().Outside
	r.strategy.End(ending, sched.Used{Draws: r.process.Used().Random})
}

// choose returns the thread that takes the next step, nil if none can.
func (r *run) choose(watches bool) *linux.Thread {
	if t := r.last; t != nil && !watches && r.row < spinning && r.process.Ready(t) {
		if s := r.state(t); !s.op.Yield && r.strategy.Next(t.Number) > s.taken {
			return t
		}
	}
	p := &r.point
	p.Step, p.Current, p.Last, p.Taken = r.steps, 0, 0, 0
	p.Ready, p.Ops, r.ready = p.Ready[:0], p.Ops[:0], r.ready[:0]
	tired := (*linux.Thread)(nil)
	for _, t := range r.process.Threads() {
		if !r.process.Ready(t) {
			continue
		}
		if t == r.last && r.row >= spinning {
			tired = t
			continue
		}
		p.Ready, p.Ops, r.ready = append(p.Ready, t.Number), append(p.Ops, r.state(t).op), append(r.ready, t)
		if t == r.last {
			p.Current = t.Number
		}
	}
	if r.last != nil {
		p.Last, p.Taken = r.last.Number, r.state(r.last).taken
	}
	if len(r.ready) == 0 {
		return tired
	}
	stalls := r.offerTime(p)
	if len(r.ready) == 1 && !watches && !stalls {
		return r.ready[0]
	}
	if i := r.strategy.Pick(p); i < len(r.ready) {
		return r.ready[i]
	}
	r.stalls()
	return r.choose(watches)
}

// visible reports whether an access is one that the strategy decides about, or a failure.
func (r *run) visible(ref *cpu.Ref) bool {
	if r.learns {
		r.uses.note(r.running.Number, ref, &r.shared)
	}
	if r.shared.has(ref.Addr, ref.Size) {
		return true // and looked at when it happens
	}
	if r.findsRaces {
		r.touches(r.running, ref)
	}
	return r.heap.freed.has(ref.Addr, ref.Size) && r.usesFreed(ref)
}

// isFreed reports whether an operation that is about to happen is a use of freed memory.
func (r *run) isFreed(op *event.Op) bool {
	if !r.heap.freed.has(uint64(op.Addr), uint32(op.Size)) {
		return false
	}
	return r.usesFreed(&cpu.Ref{Addr: uint64(op.Addr), Size: uint32(op.Size), Kind: op.Kind, Site: op.Site})
}

// advance executes a thread up to its next visible operation.
func (r *run) advance(t *linux.Thread, visible func(*cpu.Ref) bool, decided bool) {
	r.running = t
	for {
		kind := r.process.Advance(t, quiet, &r.ref, visible, decided)
		decided = false
		s := r.state(t)
		switch {
		case r.process.Exit() != nil, r.failure != nil, !t.Runs():
			return
		case kind == cpu.Marked:
			r.routing.arrives(t)
			r.heapCall(t)
			if r.failure != nil {
				return
			}
		case t.Calling():
			op, meets := call(t)
			if meets || visible == nil {
				s.op = op
				return
			}
		case kind == cpu.Visible:
			s.op = event.Op{Kind: r.ref.Kind, G: t.Number, Site: r.ref.Site, Addr: uintptr(r.ref.Addr), Size: uintptr(r.ref.Size)}
			if s.decided = true; r.ref.Halves {
				s.half = half{step: 1, ref: r.ref}
				s.op.Kind = event.Load
			}
			s.watcher.looks(&s.op)
			return
		case kind == cpu.Limit:
			s.op = event.Op{Kind: event.Gosched, G: t.Number, Yield: true, Round: event.LongRound}
			return
		}
	}
}

// creates reports whether a thread is about to create another.
func (r *run) creates(t *linux.Thread) bool {
	return t.Calling() && r.process.CreatesThread(t)
}
