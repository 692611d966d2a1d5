package sli_test

import (
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

// firstFailure runs a program under random schedules until one fails.
func firstFailure(t *testing.T, p *ir.Program, entry *ir.Func) (*exec.Log, exec.Failure) {
	t.Helper()
	return firstFailureWith(t, p, entry, func(*exec.Log) bool { return true })
}

// firstFailureWith is the first failure of which the trace is accepted.
func firstFailureWith(t *testing.T, p *ir.Program, entry *ir.Func, accept func(*exec.Log) bool) (*exec.Log, exec.Failure) {
	t.Helper()
	for seed := range int64(2000) {
		log, failure := randomRun(t, p, entry, seed)
		if failure.Cause != 0 && accept(log) {
			return log, failure
		}
	}
	t.Fatal("no schedule fails")
	return nil, exec.Failure{}
}

// randomRun runs a program under a random schedule.
func randomRun(t *testing.T, p *ir.Program, entry *ir.Func, seed int64) (*exec.Log, exec.Failure) {
	t.Helper()
	rng := rand.New(rand.NewSource(seed))
	s := slitest.NewSimulation(p)
	s.Pick = func(ready []uint32) uint32 { return ready[rng.Intn(len(ready))] }
	log, failure, err := s.Run(entry)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return log, failure
}

func analyse(t *testing.T, p *ir.Program, log exec.Trace, f exec.Failure) *sli.Analysis {
	t.Helper()
	a, err := sli.Analyse(p, log, f, sli.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// told is a fix as text: each section with its role and, in the order of the code, what
// it loads and stores.
func told(f *sli.Fix) []string {
	var all []string
	for _, s := range f.Sections {
		var words []string
		for _, in := range s.Instrs {
			switch {
			case in.Op == ir.Load || in.Op == ir.Store:
				words = append(words, in.Op.String()+" "+in.Data)
			case in.Op == ir.Call && in.Callee != nil:
				words = append(words, "call "+in.Callee.Name)
			}
		}
		all = append(all, fmt.Sprintf("%s in %s: %s", s.Role, s.Func.Name, strings.Join(words, ", ")))
	}
	return all
}

func best(t *testing.T, a *sli.Analysis, want ...string) *sli.Fix {
	t.Helper()
	if len(a.Fixes) == 0 {
		t.Fatalf("no fix: %v", a.Reasons)
	}
	if d := cmp.Diff(want, told(a.Fixes[0])); d != "" {
		t.Errorf("sections of the best fix (-want +got):\n%s", d)
	}
	return a.Fixes[0]
}

// machine is the text of the largest machine.
func machine(a *sli.Analysis) string { return draw.Text(a.Machines[len(a.Machines)-1]) }

func number(n uint64) *ir.Expr { return ir.Number(8, n) }

func differs(x, y *ir.Expr) *ir.Expr { return ir.Binary(ir.OpNe, ir.Unsigned, x, y) }

func isNil(x *ir.Expr) *ir.Expr { return ir.Unary(ir.OpBadAddress, ir.Unsigned, x) }

func plus(x *ir.Expr, n uint64) *ir.Expr { return ir.Binary(ir.OpAdd, ir.Unsigned, x, number(n)) }

// beside makes a function that runs others at the same time, then the rest.
func beside(b *slitest.Builder, rest func(*slitest.FuncBuilder), fns ...*slitest.FuncBuilder) *ir.Func {
	f := b.Func("main")
	f.Sync(ir.SyncGroupAdd, 0, ir.Symbol("group"), number(uint64(len(fns))))
	for _, fn := range fns {
		f.Spawn(fn)
	}
	f.Sync(ir.SyncGroupWait, 0, ir.Symbol("group"))
	if rest != nil {
		rest(f)
	}
	f.Return()
	return f.Func
}

func done(f *slitest.FuncBuilder) {
	f.Sync(ir.SyncGroupDone, 0, ir.Symbol("group"))
	f.Return()
}

// TestTwoReadingsMustAgree is the smallest of all: a value is read twice, and a store
// comes between.
func TestTwoReadingsMustAgree(t *testing.T) {
	b := slitest.NewBuilder()
	reader := b.Func("reader")
	first := reader.Load("count", 8)
	second := reader.Load("count", 8)
	reader.Test(ir.Panic, differs(second, first))
	done(reader)
	writer := b.Func("writer")
	writer.Store("count", number(7))
	done(writer)
	entry := beside(b, nil, reader, writer)
	p := b.Program()
	log, failure := firstFailure(t, p, entry)
	a := analyse(t, p, log, failure)
	if d := cmp.Diff("at reader:b0.0: s0\ns0: if load(count@b0.1) != load(count@b0.0) then crash else no-crash\n", machine(a)); d != "" {
		t.Errorf("machine (-want +got):\n%s", d)
	}
	f := best(t, a, "reads together in reader: load count, load count", "other access in writer: store count")
	if f.Cost != 2*10+3 || f.Discarded != 0 || f.Price == "" {
		t.Errorf("cost %d, %d discarded, price %q", f.Cost, f.Discarded, f.Price)
	}
	if d := cmp.Diff([]string{"count"}, f.Data()); d != "" {
		t.Errorf("data (-want +got):\n%s", d)
	}
	if a.Crash.Instr.Op != ir.Test || a.G != failure.G {
		t.Errorf("the crash is %v of goroutine %d", a.Crash, a.G)
	}
}

// TestReadingsInCallsAreOneSection: the section is in the caller that both calls have.
func TestReadingsInCallsAreOneSection(t *testing.T) {
	b := slitest.NewBuilder()
	get := b.Func("get")
	get.Return(get.Load("count", 8))
	reader := b.Func("reader")
	first, second := reader.Call(get), reader.Call(get)
	reader.Test(ir.Panic, differs(second, first))
	done(reader)
	writer := b.Func("writer")
	writer.Store("count", number(7))
	done(writer)
	entry := beside(b, nil, reader, writer)
	p := b.Program()
	log, failure := firstFailure(t, p, entry)
	best(t, analyse(t, p, log, failure), "reads together in reader: call get, call get", "other access in writer: store count")
}

// TestUnfinishedUpdateIsCovered: the object is published before it is complete. Where the
// trace ends before the update does, its end is found by following the goroutine on.
func TestUnfinishedUpdateIsCovered(t *testing.T) {
	b := slitest.NewBuilder()
	reader := b.Func("reader")
	object := reader.Load("head", 8)
	use, out := reader.NewBlock(), reader.NewBlock()
	reader.Branch(ir.Binary(ir.OpEq, ir.Unsigned, object, number(0)), out, use)
	reader.Enter(use)
	field := reader.LoadAt(object, 8, "field")
	reader.Test(ir.NilDereference, isNil(field))
	reader.Jump(out)
	done(reader)
	writer := b.Func("writer")
	fresh := writer.Alloc(8)
	writer.Store("head", fresh)
	writer.StoreAt(fresh, ir.Symbol("value"), "field")
	done(writer)
	entry := beside(b, nil, reader, writer)
	p := b.Program()
	log, failure := firstFailure(t, p, entry)
	a := analyse(t, p, log, failure)
	if d := cmp.Diff(`at reader:b0.0: s0
s0: if load(head@b0.0) == 0 then no-crash else s2
s2: if BadAddr(load(load(head@b0.0)@b1.0)) then crash else no-crash
`, machine(a)); d != "" {
		t.Errorf("machine (-want +got):\n%s", d)
	}
	best(t, a, "reads together in reader: load field", "update in progress in writer: store head, store field")
}

// TestLostUpdateIsFoundBehindWhatNoticedIt: every access holds the lock, but the read and
// the write of an update do not hold it together. The test that fails is elsewhere.
func TestLostUpdateIsFoundBehindWhatNoticedIt(t *testing.T) {
	b := slitest.NewBuilder()
	mu := ir.Symbol("mu")
	deposit := b.Func("deposit")
	deposit.Sync(ir.SyncLock, 0, mu)
	balance := deposit.Load("balance", 8)
	deposit.Sync(ir.SyncUnlock, 0, mu)
	deposit.Sync(ir.SyncLock, 0, mu)
	deposit.Store("balance", plus(balance, 10))
	deposit.Sync(ir.SyncUnlock, 0, mu)
	done(deposit)
	entry := beside(b, func(f *slitest.FuncBuilder) {
		f.Test(ir.Assertion, differs(f.Load("balance", 8), number(20)))
	}, deposit, deposit)
	p := b.Program()
	log, failure := firstFailure(t, p, entry)
	a := analyse(t, p, log, failure)
	f := best(t, a, "reads together in deposit: load balance, store balance")
	for _, x := range f.Sections[0].Accesses {
		if len(x.Locks) != 1 || x.Locks[0].Read || len(x.Events) == 0 {
			t.Errorf("%v: locks %v, want the one that is held at each", x.Point, x.Locks)
		}
	}
	if len(f.Sections[0].Waits) != 2 {
		t.Errorf("operations in the section: %v", f.Sections[0].Waits)
	}
}

// stores finds the last store of each goroutine but the first.
func stores(log *exec.Log) (one, other uint64) {
	for _, e := range log.Events {
		if e.Kind == exec.KindStore && e.G == 2 {
			one = e.Seq
		}
		if e.Kind == exec.KindStore && e.G == 3 {
			other = e.Seq
		}
	}
	return one, other
}

// passing runs a program once, with the goroutines one after the other.
func passing(t *testing.T, p *ir.Program, entry *ir.Func) *exec.Log {
	t.Helper()
	log, failure, err := slitest.NewSimulation(p).Run(entry)
	if err != nil || failure.Cause != 0 {
		t.Fatalf("%v, %v", err, failure.Cause)
	}
	return log
}

// TestRaceBeginsAtTheLoad: a lock around the two stores alone would end the race and lose
// updates.
func TestRaceBeginsAtTheLoad(t *testing.T) {
	b := slitest.NewBuilder()
	increment := b.Func("increment")
	increment.Store("count", plus(increment.Load("count", 8), 1))
	done(increment)
	entry := beside(b, nil, increment, increment)
	p := b.Program()
	log := passing(t, p, entry)
	one, other := stores(log)
	a := analyse(t, p, log, exec.Failure{Cause: ir.Race, Seq: one, Other: other})
	best(t, a, "reads together in increment: load count, store count")
}

// TestRaceOfPlainStoresTakesBoth: single accesses are a fix if what is to end is a race.
// What decides about the access is in the section of a dearer fix.
func TestRaceOfPlainStoresTakesBoth(t *testing.T) {
	b := slitest.NewBuilder()
	careful := b.Func("careful")
	yes, no := careful.NewBlock(), careful.NewBlock()
	careful.Branch(ir.Binary(ir.OpEq, ir.Unsigned, careful.Load("mode", 8), number(0)), yes, no)
	careful.Enter(yes)
	careful.Store("state", number(1))
	careful.Jump(no)
	done(careful)
	careless := b.Func("careless")
	careless.Store("state", number(2))
	done(careless)
	entry := beside(b, nil, careful, careless)
	p := b.Program()
	log := passing(t, p, entry)
	one, other := stores(log)
	a := analyse(t, p, log, exec.Failure{Cause: ir.Race, Seq: one, Other: other})
	f := best(t, a, "reads together in careful: store state", "other access in careless: store state")
	if f.Omitted != 0 {
		t.Errorf("%d loads are left out, but nobody disturbs them", f.Omitted)
	}
	merged := sli.Merge(sli.Options{}, a.Fixes[0], a.Fixes[0])
	if d := cmp.Diff(told(f), told(merged)); d != "" {
		t.Errorf("a fix merged with itself (-alone +merged):\n%s", d)
	}
	// An access that is not in the program has no path.
	a = analyse(t, p, log, exec.Failure{Cause: ir.Race, Seq: 1, Other: 2})
	if len(a.Fixes) != 0 || len(a.Reasons) == 0 {
		t.Errorf("%d fixes, reasons %v", len(a.Fixes), a.Reasons)
	}
}

// TestElementsRaceAsTheirMap: what is used at the same time is the map, whichever element.
func TestElementsRaceAsTheirMap(t *testing.T) {
	b := slitest.NewBuilder()
	element := func(f *slitest.FuncBuilder, op ir.Op, key uint64, site uint32) {
		in := &ir.Instr{Op: op, Operand: ir.Symbol("table"), Key: number(key), Size: 8, Data: "table", Sites: []uint32{site}}
		if op == ir.Load {
			in.Dst = f.Func.NewReg("", 8)
		} else {
			in.Value = number(1)
		}
		f.Add(in)
	}
	reader := b.Func("reader")
	element(reader, ir.Load, 1, 501)
	done(reader)
	writer := b.Func("writer")
	element(writer, ir.Store, 2, 502)
	done(writer)
	entry := beside(b, nil, reader, writer)
	p := b.Program()
	log := passing(t, p, entry)
	f := exec.Failure{Cause: ir.MapConflict}
	for _, e := range log.Events {
		if e.Map && e.Kind == exec.KindLoad {
			f.Other = e.Seq
		} else if e.Map {
			f.Seq = e.Seq
		}
	}
	best(t, analyse(t, p, log, f), "reads together in writer: store table", "other access in reader: load table")
}

// TestOrderedProgramNeedsNoSection: what a channel orders, no lock would order otherwise.
func TestOrderedProgramNeedsNoSection(t *testing.T) {
	b := slitest.NewBuilder()
	worker := b.Func("worker", 8)
	worker.Store("result", number(1))
	worker.Sync(ir.SyncSend, 0, worker.Param(0), number(1))
	worker.Return()
	f := b.Func("main")
	channel := f.Sync(ir.SyncNewChannel, 8, number(0))
	f.Spawn(worker, channel)
	f.Sync(ir.SyncReceive, 8, channel)
	first := f.Load("result", 8)
	f.Test(ir.Assertion, ir.Binary(ir.OpEq, ir.Unsigned, first, number(1)))
	f.Return()
	p := b.Program()
	log, failure := firstFailure(t, p, f.Func)
	a := analyse(t, p, log, failure)
	if len(a.Fixes) != 0 || len(a.Reasons) != 1 || !strings.Contains(a.Reasons[0], "no store of another thread") {
		t.Errorf("%d fixes, reasons %q", len(a.Fixes), a.Reasons)
	}
}

// TestCrashThatMemoryDoesNotDecide: a machine without loads predicts nothing.
func TestCrashThatMemoryDoesNotDecide(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("main")
	f.Test(ir.Panic, ir.Number(1, 1))
	f.Return()
	p := b.Program()
	log, failure := firstFailure(t, p, f.Func)
	a := analyse(t, p, log, failure)
	if len(a.Machines) != 0 || len(a.Reasons) == 0 || !strings.Contains(a.Reasons[0], "nothing that the crashing thread read") {
		t.Errorf("%d machines, reasons %q", len(a.Machines), a.Reasons)
	}
	if _, err := sli.Analyse(p, log, exec.Failure{Cause: ir.OutOfRange, G: 1}, sli.Options{}); !errors.Is(err, sli.ErrLost) {
		t.Errorf("a failure that the trace does not lead to: %v", err)
	}
}

// TestSidesThatWereNotTakenAreFilledIn: from the code, through a call and around a loop.
func TestSidesThatWereNotTakenAreFilledIn(t *testing.T) {
	b := slitest.NewBuilder()
	get := b.Func("get")
	get.Return(get.Load("spare", 8))
	reader := b.Func("reader")
	main, other, loop, join := reader.NewBlock(), reader.NewBlock(), reader.NewBlock(), reader.NewBlock()
	object := reader.Load("head", 8)
	reader.Branch(ir.Binary(ir.OpEq, ir.Unsigned, object, number(0)), other, main)
	reader.Enter(main)
	reader.Jump(join)
	reader.Enter(other)
	spare := reader.Call(get)
	reader.Jump(loop)
	reader.Branch(ir.Binary(ir.OpEq, ir.Unsigned, reader.Load("busy", 8), number(1)), loop, join)
	reader.Enter(join)
	chosen := &ir.Instr{Op: ir.Phi, Dst: reader.Func.NewReg("", 8), Args: []*ir.Expr{object, spare}}
	reader.Add(chosen)
	reader.Test(ir.NilDereference, isNil(reader.LoadAt(ir.Register(chosen.Dst, 8), 8, "field")))
	done(reader)
	writer := b.Func("writer")
	writer.StoreAt(ir.Symbol("first"), number(0), "field")
	writer.StoreAt(ir.Symbol("first"), ir.Symbol("target"), "field")
	done(writer)
	f := b.Func("main")
	f.StoreAt(ir.Symbol("first"), ir.Symbol("target"), "field")
	f.Store("head", ir.Symbol("first"))
	f.Sync(ir.SyncGroupAdd, 0, ir.Symbol("group"), number(2))
	f.Spawn(reader)
	f.Spawn(writer)
	f.Sync(ir.SyncGroupWait, 0, ir.Symbol("group"))
	f.Return()
	p := b.Program()
	log, failure := firstFailure(t, p, f.Func)
	a := analyse(t, p, log, failure)
	if d := cmp.Diff(`at reader:b0.0: s0
s0: if load(head@b0.0) == 0 then s1 else s4
s1: if BadAddr(load(load(spare@b0.0)@b4.1)) then crash else no-crash
s4: if BadAddr(load(load(head@b0.0)@b4.1)) then crash else no-crash
`, machine(a)); d != "" {
		t.Errorf("machine (-want +got):\n%s", d)
	}
	best(t, a, "reads together in reader: load field", "update in progress in writer: store field, store field")
}

// TestLoopCarriesTheReadOperation: a list is walked, and what one round reads leads to the
// next.
func TestLoopCarriesTheReadOperation(t *testing.T) {
	b := slitest.NewBuilder()
	reader := b.Func("reader")
	entry := reader.Load("head", 8)
	loop, out := reader.NewBlock(), reader.NewBlock()
	reader.Jump(loop)
	node := &ir.Instr{Op: ir.Phi, Dst: reader.Func.NewReg("node", 8)}
	reader.Add(node)
	at := ir.Register(node.Dst, 8)
	reader.Test(ir.NilDereference, isNil(at))
	next := reader.LoadAt(at, 8, "next")
	reader.Branch(ir.Binary(ir.OpEq, ir.Unsigned, next, ir.Symbol("tail")), out, loop)
	node.Args = []*ir.Expr{entry, next}
	reader.Enter(out)
	done(reader)
	writer := b.Func("writer")
	writer.StoreAt(ir.Symbol("second"), number(0), "next")
	writer.StoreAt(ir.Symbol("second"), ir.Symbol("tail"), "next")
	done(writer)
	f := b.Func("main")
	f.Store("head", ir.Symbol("first"))
	f.StoreAt(ir.Symbol("first"), ir.Symbol("second"), "next")
	f.StoreAt(ir.Symbol("second"), ir.Symbol("tail"), "next")
	f.Sync(ir.SyncGroupAdd, 0, ir.Symbol("group"), number(2))
	f.Spawn(reader)
	f.Spawn(writer)
	f.Sync(ir.SyncGroupWait, 0, ir.Symbol("group"))
	f.Return()
	p := b.Program()
	log, failure := firstFailure(t, p, f.Func)
	a := analyse(t, p, log, failure)
	best(t, a, "reads together in reader: load next", "update in progress in writer: store next, store next")
}

// TestOwnMemoryIsLookedThrough: what the goroutine stored itself, where nobody else looks,
// and what a deferred call reads, is part of the machine.
func TestOwnMemoryIsLookedThrough(t *testing.T) {
	b := slitest.NewBuilder()
	check := b.Func("check", 8, 8)
	check.Test(ir.Panic, differs(check.Param(0), check.Param(1)))
	check.Return()
	reader := b.Func("reader")
	local := reader.Assign(ir.Symbol("local"))
	reader.Add(&ir.Instr{Op: ir.Store, Operand: local, Value: reader.Load("count", 8), Size: 8, Private: true})
	reader.Add(&ir.Instr{Op: ir.Load, Operand: local, Dst: reader.Func.NewReg("", 8), Size: 8, Private: true})
	first := ir.Register(reader.Func.Blocks[0].Instrs[3].Dst, 8)
	reader.Sync(ir.SyncYield, 0)
	reader.CallExtern("log", 0)
	second := reader.Load("count", 8)
	reader.Defer(check, second, first)
	reader.Add(&ir.Instr{Op: ir.RunDefers})
	done(reader)
	writer := b.Func("writer")
	writer.Store("count", number(7))
	done(writer)
	entry := beside(b, nil, reader, writer)
	p := b.Program()
	log, failure := firstFailure(t, p, entry)
	a := analyse(t, p, log, failure)
	if d := cmp.Diff("at reader:b0.1: s0\ns0: if load(count@b0.6) != load(count@b0.1) then crash else no-crash\n", machine(a)); d != "" {
		t.Errorf("machine (-want +got):\n%s", d)
	}
	best(t, a, "reads together in reader: load count, store , load , load count", "other access in writer: store count")
}

// TestFailureThatIsReportedElsewhere: a test says that it failed through code that is not
// in the program, or an operation panics; the path ends at the call.
func TestFailureThatIsReportedElsewhere(t *testing.T) {
	build := func(end func(*slitest.FuncBuilder)) (*ir.Program, *ir.Func) {
		b := slitest.NewBuilder()
		reader := b.Func("reader")
		first, second := reader.Load("count", 8), reader.Load("count", 8)
		wrong, right := reader.NewBlock(), reader.NewBlock()
		reader.Branch(differs(first, second), wrong, right)
		reader.Enter(wrong)
		end(reader)
		reader.Jump(right)
		done(reader)
		writer := b.Func("writer")
		writer.Store("count", number(7))
		done(writer)
		entry := beside(b, nil, reader, writer)
		return b.Program(), entry
	}
	// cut is the trace of a run that makes the call: all before it, then what end gives.
	cut := func(p *ir.Program, entry *ir.Func, call *ir.Instr, end func(before, after []exec.Event) []exec.Event) (*exec.Log, uint32) {
		for seed := range int64(2000) {
			log, _ := randomRun(t, p, entry, seed)
			for i, e := range log.Events {
				if e.Site != call.Sites[0] {
					continue
				}
				events := end(append([]exec.Event(nil), log.Events[:i]...), log.Events[i:])
				for k := range events {
					events[k].Seq = uint64(k + 1)
				}
				return exec.NewLog(events), e.G
			}
		}
		t.Fatal("the call is never made")
		return nil, 0
	}
	want := []string{"reads together in reader: load count, load count", "other access in writer: store count"}

	var call *ir.Instr
	p, entry := build(func(f *slitest.FuncBuilder) {
		f.CallExtern("assert.Fail", 0)
		f.Store("reported", number(1))
		call = f.Block().Instrs[1]
	})
	log, g := cut(p, entry, call, func(before, after []exec.Event) []exec.Event {
		return append(append(before, exec.Event{G: after[0].G, Kind: exec.KindFail}), after...)
	})
	best(t, analyse(t, p, log, exec.Failure{Cause: ir.Assertion, G: g}), want...)

	p, entry = build(func(f *slitest.FuncBuilder) {
		f.Sync(ir.SyncGroupDone, 0, ir.Symbol("closed"))
		call = f.Block().Instrs[0]
	})
	log, g = cut(p, entry, call, func(before, after []exec.Event) []exec.Event {
		return append(before, after[0], exec.Event{G: after[0].G, Kind: exec.KindCrash})
	})
	here := func(in *ir.Instr) bool { return in == call }
	best(t, analyse(t, p, log, exec.Failure{Cause: ir.Panic, G: g, CrashedAt: here}), want...)
}

// TestRegionsAcrossGoroutinesAreDiscarded: one goroutine breaks the data, another mends
// it. No section covers that, and the fix says so.
func TestRegionsAcrossGoroutinesAreDiscarded(t *testing.T) {
	b := slitest.NewBuilder()
	breaker := b.Func("breaker")
	breaker.Store("x", number(1))
	breaker.Store("x", number(2))
	breaker.Return()
	mender := b.Func("mender")
	mended := mender.Store("y", number(1))
	mender.Return()
	f := b.Func("main")
	f.Spawn(breaker)
	f.Spawn(mender)
	x, y := f.Load("x", 8), f.Load("y", 8)
	f.Test(ir.Panic, differs(x, y))
	f.Return()
	p := b.Program()
	log, failure := firstFailureWith(t, p, f.Func, func(l *exec.Log) bool {
		sites := ""
		for _, e := range l.Events {
			if e.Kind == exec.KindStore {
				sites += fmt.Sprint(e.Site == mended.Sites[0], " ")
			}
		}
		return sites == "false true false "
	})
	a := analyse(t, p, log, failure)
	if len(a.Fixes) == 0 || a.Fixes[0].Discarded == 0 || a.Fixes[0].Cost < 1000 {
		t.Fatalf("fixes %+v, reasons %v", a.Fixes, a.Reasons)
	}
	if text := strings.Join(a.Fixes[0].Reasons, "\n"); !strings.Contains(text, "no section covers that") {
		t.Errorf("reasons %q", text)
	}
}
