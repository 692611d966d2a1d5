package slitest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

func number(n uint64) *ir.Expr { return ir.Number(8, n) }

// increment makes a function that adds one to a counter, under a lock if there is one.
func increment(b *slitest.Builder, lock string) *slitest.FuncBuilder {
	f := b.Func("increment")
	if lock != "" {
		f.Sync(ir.SyncLock, 0, ir.Symbol(lock))
	}
	f.Store("count", ir.Binary(ir.OpAdd, ir.Signed, f.Load("count", 8), number(1)))
	if lock != "" {
		f.Sync(ir.SyncUnlock, 0, ir.Symbol(lock))
	}
	f.Return()
	return f
}

// outcomes are the different ends of all schedules: the value of a variable, a failure or
// a deadlock.
func outcomes(t *testing.T, p *ir.Program, entry *ir.Func, variable string) (ends []string, schedules int) {
	t.Helper()
	seen := map[string]bool{}
	for o := range slitest.Schedules(func() *slitest.Simulation { return slitest.NewSimulation(p) }, entry) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		schedules++
		switch {
		case o.Deadlock:
			seen["deadlock"] = true
		case o.Failure.Cause != 0:
			seen[o.Failure.Cause.String()] = true
		default:
			seen[fmt.Sprint(o.Simulation.Peek(o.Simulation.Symbol(variable).Uint(), 1)[0])] = true
		}
	}
	for end := range seen {
		ends = append(ends, end)
	}
	slices.Sort(ends)
	return ends, schedules
}

// TestAllSchedulesAreTried: two increments at the same time end in 1 or 2, with a lock in
// 2 alone; two locks in both orders can deadlock.
func TestAllSchedulesAreTried(t *testing.T) {
	for lock, want := range map[string][]string{"": {"1", "2"}, "mu": {"2"}} {
		b := slitest.NewBuilder()
		inc := increment(b, lock)
		f := b.Func("main")
		f.Spawn(inc)
		f.Spawn(inc)
		f.Return()
		got, schedules := outcomes(t, b.Program(), f.Func, "count")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("lock %q, %d schedules (-want +got):\n%s", lock, schedules, d)
		}
	}
	b := slitest.NewBuilder()
	both := func(name, first, second string) *slitest.FuncBuilder {
		f := b.Func(name)
		f.Sync(ir.SyncLock, 0, ir.Symbol(first))
		f.Sync(ir.SyncLock, 0, ir.Symbol(second))
		f.Sync(ir.SyncUnlock, 0, ir.Symbol(second))
		f.Sync(ir.SyncUnlock, 0, ir.Symbol(first))
		f.Return()
		return f
	}
	f := b.Func("main")
	f.Spawn(both("ab", "a", "b"))
	f.Spawn(both("ba", "b", "a"))
	f.Return()
	got, _ := outcomes(t, b.Program(), f.Func, "count")
	if d := cmp.Diff([]string{"0", "deadlock"}, got); d != "" {
		t.Errorf("two orders (-want +got):\n%s", d)
	}
}

// TestSchedulesCanBeLeft: a loop over them that ends early ends.
func TestSchedulesCanBeLeft(t *testing.T) {
	b := slitest.NewBuilder()
	inc := increment(b, "")
	f := b.Func("main")
	f.Spawn(inc)
	f.Spawn(inc)
	f.Return()
	p := b.Program()
	n := 0
	for range slitest.Schedules(func() *slitest.Simulation { return slitest.NewSimulation(p) }, f.Func) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d schedules", n)
	}
}

// TestOperationsDoWhatTheySay runs each operation of synchronisation alone.
func TestOperationsDoWhatTheySay(t *testing.T) {
	mu, counter, group := ir.Symbol("mu"), ir.Symbol("counter"), ir.Symbol("group")
	for _, test := range []struct {
		what  string
		build func(f *slitest.FuncBuilder) *ir.Expr
		want  string
	}{
		{"a free lock is taken", func(f *slitest.FuncBuilder) *ir.Expr { return f.Sync(ir.SyncTryLock, 1, mu) }, "1"},
		{"a lock that is held is not", func(f *slitest.FuncBuilder) *ir.Expr {
			f.Sync(ir.SyncReadLock, 0, mu)
			return f.Sync(ir.SyncTryLock, 1, mu)
		}, "0"},
		{"readers share", func(f *slitest.FuncBuilder) *ir.Expr {
			f.Sync(ir.SyncReadLock, 0, mu)
			return f.Sync(ir.SyncTryReadLock, 1, mu)
		}, "1"},
		{"but not with a writer", func(f *slitest.FuncBuilder) *ir.Expr {
			f.Sync(ir.SyncLock, 0, mu)
			return f.Sync(ir.SyncTryReadLock, 1, mu)
		}, "0"},
		{"what was released is free", func(f *slitest.FuncBuilder) *ir.Expr {
			f.Sync(ir.SyncReadLock, 0, mu)
			f.Sync(ir.SyncReadUnlock, 0, mu)
			f.Sync(ir.SyncLock, 0, mu)
			f.Sync(ir.SyncUnlock, 0, mu)
			return f.Sync(ir.SyncTryLock, 1, mu)
		}, "1"},
		{"an update gives what was there", func(f *slitest.FuncBuilder) *ir.Expr {
			f.Update(counter, 8, func(*ir.Expr) *ir.Expr { return number(5) })
			return f.Update(counter, 8, func(*ir.Expr) *ir.Expr { return number(2) })
		}, "5"},
		{"and leaves what follows from it", func(f *slitest.FuncBuilder) *ir.Expr {
			for range 2 {
				f.Update(counter, 8, func(old *ir.Expr) *ir.Expr { return ir.Binary(ir.OpAdd, ir.Unsigned, old, number(3)) })
			}
			return f.Load("counter", 8)
		}, "6"},
		{"or what was there, if that is another", func(f *slitest.FuncBuilder) *ir.Expr {
			f.Update(counter, 8, func(old *ir.Expr) *ir.Expr {
				return ir.Select(ir.Binary(ir.OpEq, ir.Unsigned, old, number(1)), number(3), old)
			})
			return f.Load("counter", 8)
		}, "0"},
		{"a channel keeps what is sent", func(f *slitest.FuncBuilder) *ir.Expr {
			c := f.Sync(ir.SyncNewChannel, 8, number(2))
			f.Sync(ir.SyncSend, 0, c, number(8))
			f.Sync(ir.SyncSend, 0, c, number(9))
			n := f.Sync(ir.SyncChannelLength, 8, c)
			return ir.Concat(f.Sync(ir.SyncReceive, 9, c), n)
		}, "0800000000000000010200000000000000"},
		{"a closed one gives zero", func(f *slitest.FuncBuilder) *ir.Expr {
			c := f.Sync(ir.SyncNewChannel, 8, number(1))
			f.Sync(ir.SyncClose, 0, c)
			return f.Sync(ir.SyncReceive, 9, c)
		}, "000000000000000000"},
		{"nobody waits for an empty group", func(f *slitest.FuncBuilder) *ir.Expr {
			f.Sync(ir.SyncGroupAdd, 0, group, number(1))
			f.Sync(ir.SyncGroupDone, 0, group)
			f.Sync(ir.SyncGroupWait, 0, group)
			f.Sync(ir.SyncYield, 0)
			f.Sync(ir.SyncSleep, 0)
			return number(1)
		}, "1"},
	} {
		b := slitest.NewBuilder()
		f := b.Func("f")
		f.Return(test.build(f))
		got, err := slitest.NewSimulation(b.Program()).Call(f.Func)
		if err != nil || got.String() != test.want {
			t.Errorf("%s: %v, %v; want %s", test.what, got, err, test.want)
		}
	}
}

// TestWhatCannotBeSimulatedIsAnError, and is not guessed.
func TestWhatCannotBeSimulatedIsAnError(t *testing.T) {
	unknown := ir.Opaque("clock", 8)
	for want, build := range map[string]func(f *slitest.FuncBuilder){
		"select cannot be simulated":  func(f *slitest.FuncBuilder) { f.Sync(ir.SyncSelect, 8) },
		"load from an unknown":        func(f *slitest.FuncBuilder) { f.LoadAt(unknown, 8, "") },
		"store of something unknown":  func(f *slitest.FuncBuilder) { f.Store("x", unknown) },
		"a test of something unknown": func(f *slitest.FuncBuilder) { f.Test(ir.Panic, ir.Opaque("clock", 1)) },
		"a branch on something unknown": func(f *slitest.FuncBuilder) {
			b := f.NewBlock()
			f.Branch(ir.Opaque("clock", 1), b, b)
			f.Enter(b)
		},
	} {
		b := slitest.NewBuilder()
		f := b.Func("f")
		build(f)
		f.Return()
		p := b.Program()
		if _, err := slitest.NewSimulation(p).Call(f.Func); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("alone: %v, want %q", err, want)
		}
		if _, _, err := slitest.NewSimulation(p).Run(f.Func); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("in a run: %v, want %q", err, want)
		}
	}
}

func TestRunsThatDoNotEndAreEnded(t *testing.T) {
	b := slitest.NewBuilder()
	loop := b.Func("loop")
	body := loop.NewBlock()
	loop.Jump(body)
	loop.Jump(body)
	stuck := b.Func("stuck")
	stuck.Sync(ir.SyncReceive, 8, stuck.Sync(ir.SyncNewChannel, 8, number(0)))
	stuck.Return()
	crash := b.Func("crash")
	crash.Test(ir.OutOfRange, ir.Number(1, 1))
	crash.Return()
	p := b.Program()
	for fn, want := range map[*ir.Func]error{loop.Func: slitest.ErrSteps, stuck.Func: slitest.ErrStuck} {
		s := slitest.NewSimulation(p)
		s.MaxSteps = 1000
		if _, err := s.Call(fn); !errors.Is(err, want) {
			t.Errorf("%s alone: %v", fn.Name, err)
		}
		s = slitest.NewSimulation(p)
		s.MaxSteps = 1000
		if _, _, err := s.Run(fn); !errors.Is(err, want) {
			t.Errorf("%s in a run: %v", fn.Name, err)
		}
	}
	var e *slitest.CrashError
	if err := slitest.NewSimulation(p).Init(crash.Func); !errors.As(err, &e) || e.Test.Cause != ir.OutOfRange || !strings.Contains(err.Error(), "index out of range at b0.0") {
		t.Errorf("a crash while initialising: %v", err)
	}
}

// TestLogAnswersAsATraceDoes: the queries of exec.Trace, on a few events.
func TestLogAnswersAsATraceDoes(t *testing.T) {
	l := exec.NewLog([]exec.Event{
		{Seq: 1, G: 1, Kind: exec.KindCall, Frame: 1, Site: 7},
		{Seq: 2, G: 1, Kind: exec.KindAlloc, Addr: 64, Size: 32},
		{Seq: 3, G: 2, Kind: exec.KindStore, Addr: 72, Size: 16},
		{Seq: 4, G: 1, Kind: exec.KindLoad, Addr: 80, Size: 4},
		{Seq: 5, G: 1, Kind: exec.KindStore, Addr: 64, Size: 4},
	})
	if e, ok := l.Event(3); !ok || e.G != 2 || l.Last() != 5 {
		t.Error("event 3 is another")
	}
	for _, seq := range []uint64{0, 6} {
		if _, ok := l.Event(seq); ok {
			t.Errorf("there is an event %d", seq)
		}
	}
	if e, ok := l.Next(1, 2); !ok || e.Seq != 4 {
		t.Errorf("after 2, goroutine 1 makes event %d", e.Seq)
	}
	if _, ok := l.Next(2, 3); ok {
		t.Error("goroutine 2 goes on")
	}
	if e, ok := l.LastStore(84, 1, 5); !ok || e.Seq != 3 {
		t.Errorf("the last store is %d", e.Seq)
	}
	if _, ok := l.LastStore(84, 1, 3); ok {
		t.Error("a store was made before it was made")
	}
	var seqs []uint64
	l.Accesses(64, 24, 1, 4, func(e *exec.Event) bool { seqs = append(seqs, e.Seq); return true })
	l.Accesses(64, 24, 1, 5, func(e *exec.Event) bool { seqs = append(seqs, e.Seq); return false })
	if d := cmp.Diff([]uint64{3, 4, 3}, seqs); d != "" {
		t.Errorf("accesses (-want +got):\n%s", d)
	}
	if e, until, ok := l.Allocation(90, 5); !ok || e.Seq != 2 || until != 5 {
		t.Errorf("allocated by %d until %d", e.Seq, until)
	}
	for _, addr := range []uint64{63, 96, 1 << 30} {
		if _, _, ok := l.Allocation(addr, 5); ok {
			t.Errorf("%d was allocated", addr)
		}
	}
	if parent, site, ok := l.Frame(1); !ok || parent != 0 || site != 7 {
		t.Errorf("frame 1 is of %d at %d", parent, site)
	}
	n := 0
	l.All(3, func(*exec.Event) bool { n++; return false })
	if n != 1 {
		t.Errorf("%d events after the first that was enough", n)
	}
}

// TestElementsClosuresAndMethods: what programs keep in maps, call by value and call by a
// dynamic type.
func TestElementsClosuresAndMethods(t *testing.T) {
	b := slitest.NewBuilder()
	b.Constant("greeting", "hello")
	method := b.Func("method", 8)
	method.Return(ir.Binary(ir.OpMul, ir.Signed, method.Param(0), number(3)))
	b.Method("type T", "Triple", method)
	closure := b.Func("closure", 8)
	captured := closure.Captures(8)
	closure.Return(ir.Binary(ir.OpAdd, ir.Signed, captured, closure.Param(0)))
	element := func(f *slitest.FuncBuilder, key *ir.Expr, size int) *ir.Expr {
		in := f.Add(&ir.Instr{Op: ir.Load, Operand: ir.Symbol("table"), Key: key, Size: size, Dst: f.Func.NewReg("", size), Sites: []uint32{70}})
		return ir.Register(in.Dst, size)
	}
	change := func(f *slitest.FuncBuilder, key, value *ir.Expr) {
		f.Add(&ir.Instr{Op: ir.Store, Operand: ir.Symbol("table"), Key: key, Value: value, Size: 8, Sites: []uint32{71}})
	}
	for _, test := range []struct {
		what  string
		build func(f *slitest.FuncBuilder) *ir.Expr
		want  string
	}{
		{"what was put in is there", func(f *slitest.FuncBuilder) *ir.Expr {
			change(f, number(1), number(7))
			return element(f, number(1), 9)
		}, "070000000000000001"},
		{"what was not is zero", func(f *slitest.FuncBuilder) *ir.Expr { return element(f, number(2), 9) }, "000000000000000000"},
		{"elements are counted, removed and cleared", func(f *slitest.FuncBuilder) *ir.Expr {
			change(f, number(1), number(7))
			change(f, number(2), number(8))
			two := element(f, ir.LengthKey, 8)
			change(f, number(1), nil)
			one := element(f, ir.LengthKey, 8)
			change(f, ir.AnyKey, nil)
			return ir.Concat(two, one, element(f, ir.LengthKey, 8))
		}, "020000000000000001000000000000000000000000000000"},
		{"iteration is not known", func(f *slitest.FuncBuilder) *ir.Expr { return element(f, ir.AnyKey, 8) }, "?"},
		{"a closure knows what it captured", func(f *slitest.FuncBuilder) *ir.Expr {
			return f.CallValue(ir.Closure("closure", number(40)), 8, number(2))
		}, "42"},
		{"a method is found by its type", func(f *slitest.FuncBuilder) *ir.Expr {
			in := f.Add(&ir.Instr{Op: ir.Call, Target: ir.Symbol("type T"), Method: "Triple", Args: []*ir.Expr{number(5)}, Size: 8, Dst: f.Func.NewReg("", 8)})
			return ir.Register(in.Dst, 8)
		}, "15"},
		{"one that the type has not does nothing", func(f *slitest.FuncBuilder) *ir.Expr {
			in := f.Add(&ir.Instr{Op: ir.Call, Target: ir.Symbol("type U"), Method: "Triple", Args: []*ir.Expr{number(5)}, Size: 8, Dst: f.Func.NewReg("", 8)})
			return ir.Register(in.Dst, 8)
		}, "0"},
		{"constant texts are in memory", func(f *slitest.FuncBuilder) *ir.Expr {
			same := ir.Binary(ir.OpSameText, ir.Unsigned, ir.Concat(ir.Symbol("greeting"), number(5)), ir.Concat(f.Assign(ir.Symbol("greeting")), number(5)))
			return ir.Concat(f.Assign(same), f.LoadAt(ir.Symbol("greeting"), 1, ""))
		}, "26625"},
		{"new memory is zero, and apart", func(f *slitest.FuncBuilder) *ir.Expr {
			p, q := f.Alloc(8), f.Alloc(8)
			f.StoreAt(p, number(9), "")
			return f.LoadAt(q, 8, "")
		}, "0"},
	} {
		f := b.Func("f")
		f.Return(test.build(f))
		got, err := slitest.NewSimulation(b.Program()).Call(f.Func)
		if err != nil || got.String() != test.want {
			t.Errorf("%s: %v, %v; want %s", test.what, got, err, test.want)
		}
	}
}

// TestExternsCopyAndGrow: the parts of a language's library that programs cannot do without.
func TestExternsCopyAndGrow(t *testing.T) {
	b := slitest.NewBuilder()
	f := b.Func("f")
	from := f.Alloc(24)
	f.StoreAt(from, number(5), "")
	f.StoreAt(ir.Binary(ir.OpAdd, ir.Unsigned, from, number(8)), number(6), "")
	list := ir.Concat(from, number(1), number(2)) // one element of two
	more := ir.Concat(ir.Binary(ir.OpAdd, ir.Unsigned, from, number(8)), number(1), number(1))
	inPlace := f.CallExtern("append", 24, list, more, number(8))
	grown := f.CallExtern("append", 24, inPlace, more, number(8))
	copied := f.CallExtern("copy", 8, grown, ir.Concat(ir.Binary(ir.OpAdd, ir.Unsigned, from, number(8)), number(1)), number(8))
	f.Return(ir.Concat(ir.Extract(inPlace, 8, 16), ir.Extract(grown, 8, 16), copied, f.LoadAt(ir.Extract(grown, 0, 8), 8, ""), f.LoadAt(from, 8, "")))
	s := slitest.NewSimulation(b.Program())
	s.Externs = map[string]slitest.Extern{"append": slitest.Grow, "copy": slitest.Copy}
	got, err := s.Call(f.Func)
	if err != nil {
		t.Fatal(err)
	}
	var parts []uint64
	for i := range 7 {
		parts = append(parts, got.Slice(8*i, 8).Uint())
	}
	if d := cmp.Diff([]uint64{2, 2, 3, 5, 1, 6, 5}, parts); d != "" {
		t.Errorf("lengths, rooms, how many were copied, what is in the new list and in the old (-want +got):\n%s", d)
	}
}
