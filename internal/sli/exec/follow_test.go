package exec_test

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

// Addresses of variables in traces that are written by hand.
const (
	varA = 0x10000
	varB = 0x10100
	varC = 0x10200
)

// numbered makes a trace of hand-written events.
func numbered(events ...exec.Event) *exec.Log {
	for i := range events {
		events[i].Seq = uint64(i + 1)
		if events[i].G == 0 {
			events[i].G = 1
		}
	}
	return exec.NewLog(events)
}

func word(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// entered is the event of a call; frame 1 is always the first.
func entered(f *slitest.FuncBuilder, frame, caller uint32) exec.Event {
	return exec.Event{Kind: exec.KindCall, Site: f.Func.Site, Frame: frame, Arg: uint64(caller)}
}

func left(f *slitest.FuncBuilder, frame uint32) exec.Event {
	return exec.Event{Kind: exec.KindReturn, Site: f.Func.Site, Frame: frame}
}

// load and store are the events of an instruction of the first call.
func load(in *ir.Instr, addr, value uint64) exec.Event {
	return exec.Event{Kind: exec.KindLoad, Site: in.Sites[0], Frame: 1, Addr: addr, Size: 8, Before: word(value)}
}

func store(in *ir.Instr, addr, value uint64) exec.Event {
	return exec.Event{Kind: exec.KindStore, Site: in.Sites[0], Frame: 1, Addr: addr, Size: 8, After: word(value)}
}

// last is the instruction that a builder added last.
func last(f *slitest.FuncBuilder) *ir.Instr {
	return f.Block().Instrs[len(f.Block().Instrs)-1]
}

// steps follows a goroutine and tells each step: the instruction, what it gave, the event
// it made, and whether it lies beyond the trace.
func steps(r *exec.Replay, g uint32) []string {
	var all []string
	r.Run(g, nil, func(_ *exec.Thread, s *exec.Step) bool {
		text := s.Point.String()
		if s.Instr.Dst != 0 {
			text += fmt.Sprintf(" = %v", s.Frame.Regs[s.Instr.Dst])
		}
		if s.MadeEvent {
			text += fmt.Sprintf(" @%d", s.Time)
		}
		if s.BeyondTrace {
			text += " beyond"
		}
		all = append(all, text)
		return true
	})
	return all
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
}

func TestLoadsGiveWhatTheTraceSays(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	x := f.Load("a", 8)
	loadA := last(f)
	y := f.Load("b", 8)
	loadB := last(f)
	sum := f.Assign(ir.Binary(ir.OpAdd, ir.Unsigned, x, y))
	storeC := f.Store("c", sum)
	f.Return()
	p := b.Program()
	log := numbered(entered(f, 1, 0), load(loadA, varA, 3), load(loadB, varB, 4), store(storeC, varC, 7), left(f, 1))
	r := exec.NewReplay(p, log, exec.Failure{})
	same(t, steps(r, 1), "f:b0.0 = 3 @2", "f:b0.1 = 4 @3", "f:b0.2 = 7", "f:b0.3 @4", "f:b0.4")
	if got := r.Symbol("c").Uint(); got != varC {
		t.Errorf("where c is was not learnt: %#x", got)
	}
	if got := steps(r, 2); got != nil {
		t.Errorf("a goroutine without events makes the steps %v", got)
	}
}

// TestRoundsOfALoopAreToldApart: one instruction makes an event in each round, and nothing
// else does. A wide load that was recorded in pieces is one step all the same.
func increment(old *ir.Expr) *ir.Expr { return ir.Binary(ir.OpAdd, ir.Unsigned, old, ir.Number(8, 1)) }

func TestRoundsOfALoopAreToldApart(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	entry := f.Load("head", 8)
	loadHead := last(f)
	loop, out := f.NewBlock(), f.NewBlock()
	f.Jump(loop)
	node := f.Add(&ir.Instr{Op: ir.Phi, Dst: f.Func.NewReg("", 8)})
	next := f.LoadAt(ir.Register(node.Dst, 8), 8, "next")
	loadNext := last(f)
	f.Update(ir.Symbol("visited"), 8, increment)
	update := last(f)
	f.Branch(ir.Binary(ir.OpEq, ir.Unsigned, next, ir.Number(8, 0)), out, loop)
	node.Args = []*ir.Expr{entry, next}
	f.Enter(out)
	f.Load("wide", 24)
	wide := last(f)
	f.Return()
	p := b.Program()
	count := exec.Event{Kind: exec.KindUpdate, Site: update.Sites[0], Frame: 1, Addr: 0x20000, Size: 8, Atomic: true}
	log := numbered(entered(f, 1, 0), load(loadHead, 0x30000, varA), load(loadNext, varA, varB), count, load(loadNext, varB, varB), count, load(loadNext, varB, 0), count,
		load(wide, 0x40000, 1), load(wide, 0x40008, 2), load(wide, 0x40010, 3), left(f, 1))
	same(t, steps(exec.NewReplay(p, log, exec.Failure{}), 1),
		"f:b0.0 = 65536 @2", "f:b0.1",
		"f:b1.0 = 65536", "f:b1.1 = 0x10100 @3", "f:b1.2 = ? @4", "f:b1.3",
		"f:b1.0 = 0x10100", "f:b1.1 = 0x10100 @5", "f:b1.2 = ? @6", "f:b1.3",
		"f:b1.0 = 0x10100", "f:b1.1 = 0 @7", "f:b1.2 = ? @8", "f:b1.3",
		"f:b2.0 = 010000000000000002000000000000000300000000000000 @9", "f:b2.1")
}

// TestEventsOfOthersAreLeftOut: those of sites that no instruction has, and of functions
// that are not in the program.
func TestEventsOfOthersAreLeftOut(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	f.Load("a", 8)
	loadA := last(f)
	f.Return()
	p := b.Program()
	foreign := exec.Event{Kind: exec.KindStore, Site: 77, Addr: varB, Size: 8}
	log := numbered(exec.Event{Kind: exec.KindStart}, foreign, exec.Event{Kind: exec.KindCall, Site: 78, Frame: 9}, entered(f, 1, 9), foreign, load(loadA, varA, 5), left(f, 1),
		exec.Event{Kind: exec.KindReturn, Frame: 9}, exec.Event{Kind: exec.KindEnd})
	same(t, steps(exec.NewReplay(p, log, exec.Failure{}), 1), "f:b0.0 = 5 @6", "f:b0.1")
}

// TestUnknownBranchGoesToTheNextEvent: the trace does not say what was loaded, but where
// the goroutine went.
func TestUnknownBranchGoesToTheNextEvent(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	x := f.Load("a", 8)
	loadA := last(f)
	yes, no, end := f.NewBlock(), f.NewBlock(), f.NewBlock()
	f.Branch(ir.Binary(ir.OpEq, ir.Unsigned, x, ir.Number(8, 0)), yes, no)
	f.Enter(yes)
	storeB := f.Store("b", ir.Number(8, 1))
	f.Jump(end)
	f.Enter(no)
	storeC := f.Store("c", ir.Number(8, 1))
	f.Jump(end)
	f.Return()
	p := b.Program()
	unknown := load(loadA, varA, 0)
	unknown.Before = nil
	for _, test := range []struct {
		in    *ir.Instr
		block int
	}{{storeB, 1}, {storeC, 2}} {
		log := numbered(entered(f, 1, 0), unknown, store(test.in, varB, 1), left(f, 1))
		r := exec.NewReplay(p, log, exec.Failure{})
		same(t, steps(r, 1), "f:b0.0 = ? @2", "f:b0.1", fmt.Sprintf("f:b%d.0 @3", test.block), fmt.Sprintf("f:b%d.1", test.block), "f:b3.0")
		if !r.Executed(f.Func.Blocks[0], f.Func.Blocks[test.block]) || r.Executed(f.Func.Blocks[0], f.Func.Blocks[3-test.block]) {
			t.Error("the edge that was executed is another")
		}
	}
	// No event says where it went: it cannot be told.
	log := numbered(entered(f, 1, 0), unknown)
	same(t, steps(exec.NewReplay(p, log, exec.Failure{}), 1), "f:b0.0 = ? @2", "f:b0.1 beyond")
}

// TestGoroutineIsPutDownAtItsNextEvent: program and trace part where the program would
// load through nil. What was known before and cannot have changed stays known.
func TestGoroutineIsPutDownAtItsNextEvent(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	kept := f.Load("a", 8)
	loadA := last(f)
	pointer := f.Load("b", 8)
	loadB := last(f)
	next := f.NewBlock()
	f.Jump(next)
	lost := f.LoadAt(pointer, 8, "")
	after := f.NewBlock()
	f.Jump(after)
	sum := f.Assign(ir.Binary(ir.OpAdd, ir.Unsigned, kept, lost))
	f.Store("c", kept)
	storeC := last(f)
	f.Store("c", sum)
	again := last(f)
	f.Return()
	p := b.Program()
	log := numbered(entered(f, 1, 0), load(loadA, varA, 3), load(loadB, varB, 0), store(storeC, varC, 3), store(again, varC, 9), left(f, 1))
	same(t, steps(exec.NewReplay(p, log, exec.Failure{}), 1),
		"f:b0.0 = 3 @2", "f:b0.1 = 0 @3", "f:b0.2", "f:b1.0 = ?", "f:b2.1 @4", "f:b2.2 @5", "f:b2.3")
}

// TestGoroutineIsPutDownInTheCallItIsIn: the next event is that of a function whose call
// was not seen, made from one that was.
func TestGoroutineIsPutDownInTheCallItIsIn(t *testing.T) {
	b := slitest.NewBuilder()
	inner := b.Func("inner", 8)
	storeC := inner.Store("c", inner.Param(0))
	inner.Return()
	f := b.Func("f")
	pointer := f.Load("b", 8)
	loadB := last(f)
	f.LoadAt(pointer, 8, "")
	f.Call(inner, ir.Number(8, 1))
	storeB := f.Store("b", ir.Number(8, 2))
	f.Return()
	p := b.Program()
	inInner := store(storeC, varC, 5)
	inInner.Frame = 2
	// The entry of inner was not recorded, but the frame is known by the index.
	log := numbered(entered(f, 1, 0), load(loadB, varB, 0), entered(inner, 2, 1), inInner, left(inner, 2), store(storeB, varB, 2), left(f, 1))
	same(t, steps(exec.NewReplay(p, log, exec.Failure{}), 1),
		"f:b0.0 = 0 @2", "f:b0.1 = ?", "f:b0.2", "inner:b0.0 @4", "inner:b0.1", "f:b0.3 @6", "f:b0.4")

	log = numbered(entered(f, 1, 0), load(loadB, varB, 0), exec.Event{G: 2, Kind: exec.KindCall, Site: inner.Func.Site, Frame: 2, Arg: 1}, inInner, left(inner, 2), store(storeB, varB, 2), left(f, 1))
	same(t, steps(exec.NewReplay(p, log, exec.Failure{}), 1),
		"f:b0.0 = 0 @2", "f:b0.1 = ?", "inner:b0.0 @4", "inner:b0.1", "f:b0.3 @6", "f:b0.4")
}

// TestEndlessComputationIsCutShort: a loop of which the trace says nothing.
func TestEndlessComputationIsCutShort(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	loop, end := f.NewBlock(), f.NewBlock()
	f.Jump(loop)
	f.Branch(ir.Number(1, 1), loop, end)
	f.Enter(end)
	storeC := f.Store("c", ir.Number(8, 1))
	f.Return()
	p := b.Program()
	log := numbered(entered(f, 1, 0), store(storeC, varC, 1), left(f, 1))
	all := steps(exec.NewReplay(p, log, exec.Failure{}), 1)
	same(t, all[len(all)-2:], "f:b2.0 @2", "f:b2.1")
	all = steps(exec.NewReplay(p, numbered(entered(f, 1, 0)), exec.Failure{}), 1)
	if len(all) > 30_000 {
		t.Errorf("beyond the trace %d steps are made", len(all))
	}
}

// TestGoroutineIsFollowedBeyondTheTrace: to the end, to an operation that needs others, or
// not at all if the trace has the goroutine's end.
func TestGoroutineIsFollowedBeyondTheTrace(t *testing.T) {
	build := func(kind ir.SyncKind) (*ir.Program, *slitest.FuncBuilder, *ir.Instr) {
		b := slitest.NewBuilder()
		f := b.Func("f")
		storeA := f.Store("a", ir.Number(8, 1))
		f.Sync(kind, 0, ir.Symbol("object"))
		f.Store("b", ir.Number(8, 2))
		f.CallExtern("log", 8)
		f.Store("c", f.Load("d", 8))
		f.Return()
		return b.Program(), f, storeA
	}
	p, f, storeA := build(ir.SyncUnlock)
	log := numbered(entered(f, 1, 0), store(storeA, varA, 1), exec.Event{G: 2, Kind: exec.KindCrash})
	r := exec.NewReplay(p, log, exec.Failure{})
	same(t, steps(r, 1), "f:b0.0 @2", "f:b0.1 beyond", "f:b0.2 @4294967300 beyond", "f:b0.3 = ? beyond", "f:b0.4 = ? beyond", "f:b0.5 @4294967301 beyond", "f:b0.6 beyond")
	if all := r.BeyondTrace(1); len(all) != 2 || string(all[0].After) != string(word(2)) || all[1].After != nil {
		t.Errorf("stores beyond the trace: %+v", all)
	}

	p, f, storeA = build(ir.SyncReceive)
	log = numbered(entered(f, 1, 0), store(storeA, varA, 1))
	same(t, steps(exec.NewReplay(p, log, exec.Failure{}), 1), "f:b0.0 @2", "f:b0.1 beyond")

	p, f, storeA = build(ir.SyncUnlock)
	log = numbered(entered(f, 1, 0), store(storeA, varA, 1), exec.Event{Kind: exec.KindEnd})
	same(t, steps(exec.NewReplay(p, log, exec.Failure{}), 1), "f:b0.0 @2")
}

// TestTestsFailWhereTheFailureSays: a condition that is not known fails only in the
// goroutine that crashed, at the place, when nothing more happens in the call.
func TestTestsFailWhereTheFailureSays(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	x := f.Load("a", 8)
	loadA := last(f)
	first := f.Test(ir.NilDereference, ir.Unary(ir.OpBadAddress, ir.Unsigned, x))
	f.Store("b", ir.Number(8, 1))
	storeB := last(f)
	second := f.Test(ir.NilDereference, ir.Unary(ir.OpBadAddress, ir.Unsigned, x))
	f.Test(ir.Assertion, ir.Number(1, 1))
	f.Return()
	p := b.Program()
	unknown := load(loadA, varA, 0)
	unknown.Before = nil
	log := numbered(entered(f, 1, 0), unknown, store(storeB, varB, 1), exec.Event{Kind: exec.KindCrash})
	var failed *ir.Instr
	follow := func(failure exec.Failure) {
		failed = nil
		exec.NewReplay(p, log, failure).Run(1, nil, func(th *exec.Thread, _ *exec.Step) bool {
			failed = th.Failed
			return true
		})
	}
	if follow(exec.Failure{Cause: ir.NilDereference, G: 1}); failed != second {
		t.Errorf("failed is %v, want the test after the last event", failed)
	}
	if follow(exec.Failure{Cause: ir.NilDereference, G: 1, CrashedAt: func(in *ir.Instr) bool { return in == first }}); failed != nil {
		t.Errorf("failed is %v, but something happened after it", failed)
	}
	if follow(exec.Failure{Cause: ir.NilDereference, G: 2}); failed != nil {
		t.Errorf("failed is %v in a goroutine that did not", failed)
	}
	log = numbered(entered(f, 1, 0), load(loadA, varA, 0), exec.Event{Kind: exec.KindCrash})
	if follow(exec.Failure{Cause: ir.NilDereference, G: 1}); failed != first {
		t.Errorf("failed is %v, want the test of what is known to be nil", failed)
	}
}

// TestDynamicCallsGoWhereValuesOrTheTraceSay covers closures, methods of a dynamic type,
// and values that are not known.
func TestDynamicCallsGoWhereValuesOrTheTraceSay(t *testing.T) {
	b := slitest.NewBuilder()
	closure := b.Func("closure")
	got := closure.Captures(8)
	closure.Return(got)
	method := b.Func("method", 8)
	method.Return(method.Param(0))
	b.Method("type T", "Get", method)
	f := b.Func("f")
	f.CallValue(ir.Closure("closure", ir.Number(8, 42)), 8)
	f.Add(&ir.Instr{Op: ir.Call, Target: ir.Symbol("type T"), Method: "Get", Args: []*ir.Expr{ir.Number(8, 43)}, Dst: f.Func.NewReg("", 8), Size: 8})
	f.CallValue(f.Load("a", 8), 8)
	unknownCall := last(f)
	f.Add(&ir.Instr{Op: ir.Call, Target: ir.Symbol("type U"), Method: "Get", Args: []*ir.Expr{ir.Number(8, 44)}, Dst: f.Func.NewReg("", 8), Size: 8})
	f.Return()
	p := b.Program()
	loadA := f.Func.Blocks[0].Instrs[2]
	log := numbered(entered(f, 1, 0), entered(closure, 2, 1), left(closure, 2), entered(method, 3, 1), left(method, 3),
		load(loadA, varA, 0x9999), entered(closure, 4, 1), left(closure, 4), left(f, 1))
	r := exec.NewReplay(p, log, exec.Failure{})
	same(t, steps(r, 1),
		"f:b0.0 = ?", "closure:b0.0", "f:b0.1 = ?", "method:b0.0", "f:b0.2 = 39321 @6", "f:b0.3 = ?", "closure:b0.0", "f:b0.4 = ?", "f:b0.5")
	if r.LastTarget(unknownCall) != closure.Func || r.LastTarget(loadA) != nil {
		t.Error("where the unknown call went is not known afterwards")
	}
	var results []ir.Value
	r.Run(1, nil, func(_ *exec.Thread, s *exec.Step) bool {
		if s.Instr.Op == ir.Return && s.Context.Func == f.Func {
			results = s.Frame.Regs[1:]
		}
		return true
	})
	if fmt.Sprint(results) != "[42 43 39321 ? ?]" {
		t.Errorf("the calls gave %v", results)
	}
}

// TestGoroutinesBeginWithWhatTheyWereGiven: arguments and captured values of a spawned
// goroutine, and captured values of one that something outside the program started.
func TestGoroutinesBeginWithWhatTheyWereGiven(t *testing.T) {
	b := slitest.NewBuilder()
	worker := b.Func("worker", 8)
	worker.Store("c", worker.Param(0))
	storeC := last(worker)
	worker.Return()
	task := b.Func("task")
	captured := task.Captures(8)
	task.Store("c", captured)
	storeTask := last(task)
	task.Return()
	f := b.Func("f")
	f.Spawn(worker, ir.Number(8, 11))
	spawn := last(f)
	f.Assign(ir.Closure("task", ir.Number(8, 12)))
	f.Assign(ir.Closure("task", ir.Number(8, 13)))
	f.Return()
	p := b.Program()
	in := func(g, frame uint32, e exec.Event) exec.Event {
		e.G, e.Frame = g, frame
		return e
	}
	log := numbered(
		entered(f, 1, 0), exec.Event{Kind: exec.KindSpawn, Site: spawn.Sites[0], Frame: 1, Arg: 2}, left(f, 1),
		exec.Event{Kind: exec.KindSpawn, Arg: 3}, exec.Event{Kind: exec.KindSpawn, Arg: 4},
		in(2, 2, entered(worker, 2, 0)), in(2, 2, store(storeC, varC, 11)), in(2, 2, left(worker, 2)),
		in(3, 3, entered(task, 3, 0)), in(3, 3, store(storeTask, varC, 12)), in(3, 3, left(task, 3)),
		in(4, 4, entered(task, 4, 0)), in(4, 4, store(storeTask, varC, 13)), in(4, 4, left(task, 4)),
	)
	r := exec.NewReplay(p, log, exec.Failure{})
	steps(r, 1)
	for g, want := range map[uint32]string{2: "11", 3: "12", 4: "13"} {
		r.Run(g, func(th *exec.Thread, s *exec.Step) bool {
			if s.Instr.Op == ir.Store {
				if got := th.Eval(s.Instr.Value).String(); got != want {
					t.Errorf("goroutine %d stores %s, want %s", g, got, want)
				}
			}
			return true
		}, nil)
	}
}

// TestMemoryWithoutEventsIsKept: what makes no event, because nobody else can reach it, is
// known all the same, also through an address that is invented.
func TestMemoryWithoutEventsIsKept(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	f.Add(&ir.Instr{Op: ir.Alloc, Operand: ir.Number(8, 16), Dst: f.Func.NewReg("", 8), Private: true})
	local := ir.Register(last(f).Dst, 8)
	field := ir.Binary(ir.OpAdd, ir.Unsigned, local, ir.Number(8, 8))
	f.Add(&ir.Instr{Op: ir.Store, Operand: field, Value: ir.Number(8, 21), Size: 8, Private: true})
	private := func(addr *ir.Expr) {
		f.Add(&ir.Instr{Op: ir.Load, Operand: addr, Size: 8, Dst: f.Func.NewReg("", 8), Private: true})
	}
	private(local)
	private(field)
	f.Add(&ir.Instr{Op: ir.Store, Operand: field, Value: ir.Opaque("clock", 8), Size: 8, Private: true})
	private(field)
	private(ir.Symbol("elsewhere"))
	f.Return()
	p := b.Program()
	all := steps(exec.NewReplay(p, numbered(entered(f, 1, 0), left(f, 1)), exec.Failure{}), 1)
	if !strings.HasPrefix(all[0], "f:b0.0 = 0x1") {
		t.Errorf("the address of a local variable is not invented: %s", all[0])
	}
	same(t, all[1:], "f:b0.1", "f:b0.2 = 0", "f:b0.3 = 21", "f:b0.4", "f:b0.5 = ?", "f:b0.6 = ?", "f:b0.7")
}

// TestInventedAddressesBecomeReal when a recorded event shows them: in the address of an
// access, or in a value that is stored.
func TestInventedAddressesBecomeReal(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	object := f.Alloc(16) // makes no event here
	f.Func.Blocks[0].Instrs[0].Sites = nil
	f.Store("a", object)
	publish := last(f)
	f.LoadAt(ir.Binary(ir.OpAdd, ir.Unsigned, object, ir.Number(8, 8)), 8, "")
	field := last(f)
	f.Return()
	p := b.Program()
	log := numbered(entered(f, 1, 0), store(publish, varA, varC), load(field, varC+8, 6), left(f, 1))
	r := exec.NewReplay(p, log, exec.Failure{})
	var addr uint64
	r.Run(1, nil, func(_ *exec.Thread, s *exec.Step) bool {
		if s.Instr == field {
			addr = s.Addr
		}
		return true
	})
	if addr != varC+8 {
		t.Errorf("the field is at %#x", addr)
	}
}

// TestAllocationsAreFoundAhead: the event of an allocation may come after those of what is
// put into the new object, but belongs to the call.
func TestAllocationsAreFoundAhead(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	f.Alloc(8)
	alloc := last(f)
	f.Load("a", 8)
	loadA := last(f)
	f.Sync(ir.SyncNewChannel, 8, ir.Number(8, 0))
	channel := last(f)
	f.Return()
	p := b.Program()
	at := func(in *ir.Instr, addr uint64) exec.Event {
		return exec.Event{Kind: exec.KindAlloc, Site: in.Sites[0], Frame: 1, Addr: addr, Size: 8}
	}
	log := numbered(entered(f, 1, 0), load(loadA, varA, 1), at(alloc, 50000), at(channel, 60000), left(f, 1))
	same(t, steps(exec.NewReplay(p, log, exec.Failure{}), 1), "f:b0.0 = 50000 @3", "f:b0.1 = 1 @2", "f:b0.2 = 60000 @4", "f:b0.3")
}

// busy is a program with everything that goroutines do to each other.
func busy() (*ir.Program, *ir.Func) {
	b := slitest.NewBuilder()
	add := b.Func("add", 8)
	add.Sync(ir.SyncLock, 0, ir.Symbol("mu"))
	sum := add.Load("sum", 8)
	add.Store("sum", ir.Binary(ir.OpAdd, ir.Signed, sum, add.Param(0)))
	add.Sync(ir.SyncUnlock, 0, ir.Symbol("mu"))
	add.Return(sum)
	once := b.Func("once")
	once.Store("ready", ir.Number(8, 1))
	once.Return()
	cleanup := b.Func("cleanup")
	cleanup.Update(ir.Symbol("count"), 8, increment)
	cleanup.Return()
	worker := b.Func("worker", 8, 8)
	worker.Defer(cleanup)
	worker.Add(&ir.Instr{Op: ir.Defer, Sync: ir.SyncGroupDone, Args: []*ir.Expr{ir.Symbol("group")}})
	worker.CallExtern("once", 0, ir.Symbol("o"), ir.Closure("once"))
	loop, body, end := worker.NewBlock(), worker.NewBlock(), worker.NewBlock()
	worker.Jump(loop)
	i := &ir.Instr{Op: ir.Phi, Dst: worker.Func.NewReg("i", 8)}
	worker.Add(i)
	n := ir.Register(i.Dst, 8)
	worker.Branch(ir.Binary(ir.OpLt, ir.Signed, n, ir.Number(8, 3)), body, end)
	worker.Enter(body)
	worker.Call(add, worker.Param(0))
	worker.Add(&ir.Instr{Op: ir.Store, Operand: ir.Symbol("table"), Key: n, Value: worker.Param(0), Size: 8, Sites: []uint32{900}})
	next := worker.Assign(ir.Binary(ir.OpAdd, ir.Signed, n, ir.Number(8, 1)))
	worker.Jump(loop)
	i.Args = []*ir.Expr{ir.Number(8, 0), next}
	worker.Enter(end)
	worker.Sync(ir.SyncSend, 0, worker.Param(1), worker.Param(0))
	worker.Add(&ir.Instr{Op: ir.RunDefers})
	worker.Return()
	f := b.Func("main")
	channel := f.Sync(ir.SyncNewChannel, 8, ir.Number(8, 0))
	f.Sync(ir.SyncGroupAdd, 0, ir.Symbol("group"), ir.Number(8, 2))
	f.Spawn(worker, ir.Number(8, 1), channel)
	f.Spawn(worker, ir.Number(8, 2), channel)
	x := f.Sync(ir.SyncReceive, 8, channel)
	y := f.Sync(ir.SyncReceive, 8, channel)
	f.Sync(ir.SyncGroupWait, 0, ir.Symbol("group"))
	f.Store("result", ir.Binary(ir.OpMul, ir.Signed, x, y))
	f.Return()
	return b.Program(), f.Func
}

// TestReplayMakesTheStepsOfTheRun: under many schedules, every goroutine is followed
// through exactly the instructions that it executed.
func TestReplayMakesTheStepsOfTheRun(t *testing.T) {
	p, entry := busy()
	for seed := range int64(50) {
		rng := rand.New(rand.NewSource(seed))
		s := slitest.NewSimulation(p)
		s.Externs = map[string]slitest.Extern{"once": slitest.Once}
		s.Pick = func(ready []uint32) uint32 { return ready[rng.Intn(len(ready))] }
		executed := map[uint32][]string{}
		s.Executed = func(g uint32, in *ir.Instr) {
			executed[g] = append(executed[g], in.Block.Func.Name+":"+in.Name())
		}
		log, _, err := s.Run(entry)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got := s.Peek(s.Symbol("sum").Uint(), 1)[0]; got != 9 {
			t.Fatalf("seed %d: the sum is %d", seed, got)
		}
		r := exec.NewReplay(p, log, exec.Failure{})
		for g := uint32(1); g <= 3; g++ {
			var followed []string
			r.Run(g, nil, func(_ *exec.Thread, s *exec.Step) bool {
				followed = append(followed, s.Point.String())
				return true
			})
			if d := cmp.Diff(executed[g], followed); d != "" {
				t.Fatalf("seed %d, goroutine %d (-executed +followed):\n%s", seed, g, d)
			}
		}
	}
}
