package exec

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A follower is the Host of one goroutine that is replayed.
type follower struct {
	*Replay
	g            uint32
	event        Event // what the goroutine did next
	hasEvent     bool
	endRecorded  bool // the trace has the goroutine's end
	idleSteps    int
	scoutedSteps int  // made ahead since the last event
	crashSeen    bool // a test with an unknown condition has failed, by what happened next
	step         Step
	cannotGoOn   bool
	beyondSeq    uint64 // the number of the last store beyond the trace
	beyondStores []Event
	consumed     uint64            // the last event that was accounted for
	lastAllocOf  map[uint32]uint64 // the last allocation of each site that was
	firstReplay  bool              // the goroutine was not replayed before
}

// Run follows goroutine g from its start. before is called with each instruction about to be
// executed, after with each that was; either may end the run by returning false. What is
// needed to follow it again from other places is kept the first time.
func (r *Replay) Run(g uint32, before func(*Thread, *Step) bool, after func(*Thread, *Step) bool) {
	// What lies beyond the trace is numbered for each goroutine apart.
	f := &follower{Replay: r, g: g, lastAllocOf: map[uint32]uint64{}, beyondSeq: r.Trace.Last() + uint64(g)<<32}
	known := r.histories[g]
	if known != nil {
		known.restore(r.unrecorded, -1)
	}
	var made *history
	if r.madeClosures[g] == nil {
		r.madeClosures[g] = map[*ir.Func][][]ir.Value{}
		f.firstReplay = true
		made = &history{interval: firstInterval}
		r.unrecorded.journal = newMemoryJournal()
	}
	f.advance(0)
	if thread := f.begin(); thread != nil {
		f.follow(thread, made, before, after)
	}
	switch {
	case made != nil:
		made.initial, made.rest = r.unrecorded.journal.initial, r.unrecorded.changes()
		r.unrecorded.journal, r.histories[g] = nil, made
	case known != nil:
		known.restore(r.unrecorded, len(known.checkpoints))
	}
}

// follow goes on with a goroutine to its end. made, if it is there, gets checkpoints.
func (f *follower) follow(thread *Thread, made *history, before func(*Thread, *Step) bool, after func(*Thread, *Step) bool) {
	r := f.Replay
	defer func() {
		if len(f.beyondStores) > 0 {
			r.beyondTrace[f.g] = f.beyondStores
		}
	}()
	for spent, steps := 0, 0; len(thread.Frames) > 0; steps++ {
		if steps%stepsBetweenQuestions == 0 && r.Ended() {
			return
		}
		if made != nil {
			made.keep(f, thread)
			made.steps++
		}
		top := thread.Top()
		f.step = Step{Point: ir.Point{Context: top.Context, Instr: thread.At()}, Pred: top.Pred, Frame: top, Time: f.time(), BeyondTrace: !f.hasEvent}
		if !f.hasEvent {
			if spent++; spent > maxStepsBeyond || f.endRecorded {
				return
			}
		}
		if before != nil && !before(thread, &f.step) {
			return
		}
		block := top.Block
		st := thread.Step()
		in := f.step.Instr
		if in.EndsBlock() && top.Block != block {
			r.executed[[2]*ir.Block{block, top.Block}] = true
		}
		if after != nil && !after(thread, &f.step) {
			return
		}
		f.idleSteps++
		switch {
		case st == Ended && f.hasEvent && !f.cannotGoOn:
			// Something outside the program may call it once more.
			if thread = f.beginAtCall(); thread == nil {
				return
			}
			continue
		case st == Ended || f.cannotGoOn:
			return
		case st == Crashed && f.Failure.G == f.g && f.Failure.Cause == in.Cause && f.Failure.isAt(in):
			return // what follows are its deferred calls
		case st == Running && f.idleSteps < maxStepsWithoutEvent:
			continue
		case st == Crashed && f.leftByCrash(thread, in) && thread.Unwind():
			continue
		case f.hasEvent && f.event.Kind != KindCrash:
			if !f.resync(thread) {
				return
			}
		default:
			return
		}
	}
}

// leftByCrash reports whether the goroutine left a call after a test of it failed, and went on. A
// test whose condition was followed wrongly is told by what comes next: the call goes on, or calls
// something that is not deferred.
func (f *follower) leftByCrash(thread *Thread, test *ir.Instr) bool {
	switch {
	case !f.hasEvent || f.event.Kind == KindCrash:
		return false
	case test.Operand.Op == ir.OpConst, f.crashSeen:
		return true
	case f.event.Kind == KindCall:
		return thread.defersCall(f.Program.FuncAt(f.event.Site))
	}
	// What is deferred may be a part of the call, for the trace.
	return f.event.Frame != thread.Top().ID || f.hasCrashed(thread)
}

// time is the number of the goroutine's next event; beyond the trace, of the next store.
func (f *follower) time() uint64 {
	if f.hasEvent {
		return f.event.Seq
	}
	return f.beyondSeq + 1
}

// advance moves to the goroutine's next event that its instructions account for.
func (f *follower) advance(after uint64) {
	for {
		f.event, f.hasEvent = f.Trace.Next(f.g, after)
		f.idleSteps, f.scoutedSteps = 0, 0
		if !f.hasEvent {
			return
		}
		after = f.event.Seq
		switch f.event.Kind {
		case KindLoad, KindStore, KindUpdate, KindSpawn, KindFree, KindResult:
			if len(f.Program.InstrsAt(f.event.Site)) > 0 {
				return
			}
		case KindCall:
			if f.Program.FuncAt(f.event.Site) != nil {
				return
			}
		case KindReturn:
			if _, site, ok := f.Trace.Frame(f.event.Frame); ok && f.Program.FuncAt(site) != nil {
				return
			}
		case KindCrash:
			return
		case KindEnd:
			f.endRecorded = true
		case KindOther, KindLock, KindRLock:
			if slices.ContainsFunc(f.Program.InstrsAt(f.event.Site), (*ir.Instr).TriesLock) {
				return
			}
		}
	}
}

// take consumes the next event if in makes it.
func (f *follower) take(in *ir.Instr, kinds ...Kind) (Event, bool) {
	if !f.hasEvent {
		return Event{}, false
	}
	for _, s := range in.Sites {
		if s != f.event.Site {
			continue
		}
		for _, k := range kinds {
			if f.event.Kind == k {
				event := f.event
				f.consumed = event.Seq
				if f.step.MadeEvent {
					f.step.Others = append(f.step.Others, f.step.Time)
				}
				f.step.Time, f.step.MadeEvent, f.step.Addr = event.Seq, true, event.Addr
				f.advance(event.Seq)
				return event, true
			}
		}
	}
	return Event{}, false
}

// begin makes the thread: with what the goroutine was started with if its start was followed,
// otherwise at the first call that the trace has of it.
func (f *follower) begin() *Thread {
	if s, ok := f.spawned[f.g]; ok {
		return NewThread(f.Program, f, f.Contexts, f.g, s.Func, s.args, s.Captured)
	}
	return f.beginAtCall()
}

// beginAtCall makes the thread at the next call that the trace has of the goroutine.
func (f *follower) beginAtCall() *Thread {
	for f.hasEvent && f.event.Kind != KindCall {
		f.advance(f.event.Seq)
	}
	if !f.hasEvent {
		return nil
	}
	fn := f.Program.FuncAt(f.event.Site)
	return NewThread(f.Program, f, f.Contexts, f.g, fn, nil, f.capturedAtStart(f.g, fn))
}

// capturedAtStart is what a closure captured that a goroutine began with, if it was started by code
// that is not in the program (as by sync.WaitGroup.Go): of the closures of that function
// that its parent made, the n-th is taken for the n-th such goroutine.
func (r *Replay) capturedAtStart(g uint32, fn *ir.Func) []ir.Value {
	if r.parents == nil {
		r.parents = map[uint32]uint32{}
		r.Trace.Ordering(func(event *Event) bool {
			if event.Kind == KindSpawn {
				r.parents[uint32(event.Arg)] = event.G
			}
			return true
		})
	}
	parent, ok := r.parents[g]
	if !ok {
		return nil
	}
	n := 0
	for child, p := range r.parents {
		if child >= g || p != parent {
			continue
		}
		if r.firstCall(child) == fn {
			n++
		}
	}
	if list := r.madeClosures[parent][fn]; n < len(list) {
		return list[n]
	}
	return nil
}

// firstCall is the function of the program that a goroutine calls first.
func (r *Replay) firstCall(g uint32) *ir.Func {
	fn, ok := r.firstCalls[g]
	if !ok {
		for event, more := r.Trace.Next(g, 0); more && fn == nil; event, more = r.Trace.Next(g, event.Seq) {
			if event.Kind == KindCall {
				fn = r.Program.FuncAt(event.Site)
			}
		}
		r.firstCalls[g] = fn
	}
	return fn
}

// Sync accounts for the event of an operation of synchronisation. What it gives is unknown,
// but for the address of something new, and whether a lock was taken. Beyond the trace nothing is known of others.
func (f *follower) Sync(thread *Thread, in *ir.Instr, args []ir.Value) (ir.Value, Status) {
	value := ir.Unknown(in.Size)
	if in.Extern != "" {
		value = f.takeOutside(in)
	} else {
		if event, ok := f.allocated(thread, in); ok {
			value = ir.Word(8, event.Addr)
		}
		if event, ok := f.take(in, f.event.Kind); ok && in.TriesLock() {
			value = ir.Word(in.Size, 1)
			if event.Kind == KindOther {
				value = ir.Word(in.Size, 0)
			}
		}
	}
	if !f.hasEvent && in.Sync.NeedsOthers() {
		f.cannotGoOn = true
	}
	return value, Running
}

// takeOutside consumes the events of a call outside the program, up to its result if the
// trace has it.
func (f *follower) takeOutside(in *ir.Instr) ir.Value {
	for {
		event, ok := f.take(in, f.event.Kind)
		switch {
		case !ok:
			return ir.Unknown(in.Size)
		case event.Kind == KindResult && len(event.After) >= in.Size:
			return ir.Bytes(event.After[:in.Size])
		case event.Kind == KindResult:
			return ir.Unknown(in.Size)
		}
	}
}

// Extern accounts for the events of a call outside the program, which may call back closures
// that it was given.
func (f *follower) Extern(thread *Thread, in *ir.Instr, args []ir.Value) (ir.Value, Status) {
	if !f.hasEvent {
		if in.Op == ir.Call && in.Extern != "" {
			return ir.Unknown(in.Size), Running
		}
		f.cannotGoOn = true
	}
	result := f.takeOutside(in)
	// What is called may call back what it was given, or what it knows from elsewhere.
	if f.event.Kind == KindCall && f.hasEvent && uint32(f.event.Arg) == thread.Top().ID {
		fn := f.Program.FuncAt(f.event.Site)
		for _, a := range args {
			if c, ok := f.closures[a.Uint()]; ok && a.Known && c.Func == fn {
				thread.CallBack(fn, nil, c.Captured)
				return ir.Value{}, Called
			}
		}
		if fn != nil && len(f.event.After) > 0 {
			thread.CallBack(fn, nil, nil)
			return ir.Value{}, Called
		}
	}
	return result, Running
}

func (f *follower) Spawn(thread *Thread, in *ir.Instr, fn *ir.Func, args, captured []ir.Value) {
	if event, ok := f.take(in, KindSpawn); ok {
		f.spawned[uint32(event.Arg)] = goroutineStart{Closure{fn, captured}, args}
	}
}

// Enter finds the trace's number of a call. A function that makes no event when it is entered
// counts as a part of its caller.
func (f *follower) Enter(thread *Thread, frame *Frame) {
	if frame.Call != nil && frame.Call.Callee == nil {
		f.targets[frame.Call] = frame.Func
	}
	if f.hasEvent && f.event.Kind == KindCall && f.Program.FuncAt(f.event.Site) == frame.Func {
		frame.ID = f.event.Frame
		frame.setParams(f.event.After)
		f.consumed = f.event.Seq
		f.advance(f.event.Seq)
	} else if len(thread.Frames) > 1 {
		frame.ID = thread.Frames[len(thread.Frames)-2].ID // makes no event of its own: its accesses count as its caller's
	}
}

// setParams gives the parameters of a call that something outside the program made.
func (f *Frame) setParams(args []byte) {
	for _, r := range f.Func.Params {
		size := f.Func.RegSizes[r]
		if len(args) < size {
			return
		}
		f.Regs[r] = ir.Bytes(args[:size])
		args = args[size:]
	}
}

func (f *follower) Leave(thread *Thread, frame *Frame) {
	if f.hasEvent && f.event.Kind == KindReturn && f.event.Frame == frame.ID {
		f.consumed = f.event.Seq
		f.advance(f.event.Seq)
	}
}

// Closure makes a closure, and remembers it for goroutines that are started elsewhere with it.
func (f *follower) Closure(name string, captured []ir.Value) ir.Value {
	if f.firstReplay && len(captured) > 0 { // later replays may end before it makes them all
		fn := f.Program.Func(name)
		f.madeClosures[f.g][fn] = append(f.madeClosures[f.g][fn], captured)
	}
	return f.Replay.Closure(name, captured)
}
