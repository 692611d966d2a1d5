package gossa

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// recordedKinds are the kinds of recorded events for the engine's.
var recordedKinds = map[exec.Kind]event.Kind{
	exec.KindLoad: event.Load, exec.KindStore: event.Store, exec.KindUpdate: event.AtomicUpdate, exec.KindAlloc: event.Alloc,
	exec.KindCall: event.Call, exec.KindReturn: event.Return, exec.KindSpawn: event.Go, exec.KindStart: event.Start, exec.KindEnd: event.End,
	exec.KindCrash: event.Panic, exec.KindLock: event.Lock, exec.KindUnlock: event.Unlock, exec.KindRLock: event.RLock, exec.KindRUnlock: event.RUnlock,
	exec.KindRelease: event.Close, exec.KindAcquire: event.WaitGroupWait, exec.KindSend: event.Send, exec.KindRecv: event.Recv,
}

// written is a trace file with the events, as the engine reads it.
func written(t *testing.T, events []event.Event, sites []trace.Site, outcome trace.Outcome) *Trace {
	t.Helper()
	var file bytes.Buffer
	w := trace.NewWriter(&file, trace.Header{})
	for i := range events {
		if err := w.Event(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetSites(sites); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(outcome); err != nil {
		t.Fatal(err)
	}
	r, err := trace.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return NewTrace(r)
}

// asRecorded are a simulation's events as the recorder would have written them.
func asRecorded(log *exec.Log) []event.Event {
	all := make([]event.Event, 0, len(log.Events))
	for _, e := range log.Events {
		k := recordedKinds[e.Kind]
		if e.Map && k == event.Load {
			k = event.MapRead
		} else if e.Map {
			k = event.MapWrite
		}
		all = append(all, event.Event{Seq: e.Seq, G: e.G, Kind: k, Site: e.Site, Frame: e.Frame, Addr: e.Addr, Size: e.Size, Arg: e.Arg, Before: e.Before, After: e.After})
	}
	return all
}

// TestFileAnswersAsMemoryDoes asks a trace in a file and the same in memory all that the
// engine asks.
func TestFileAnswersAsMemoryDoes(t *testing.T) {
	p := lift(t, "unwind")
	log, _ := simulate(t, p, pkgPath("unwind"), 3)
	for i := range log.Events { // what a file has no room for, or always gives
		e := &log.Events[i]
		e.Size = max(e.Size, 1)
		e.Before, e.After = slices.Clip(e.Before), slices.Clip(e.After)
	}
	log = exec.NewLog(log.Events)
	file := written(t, asRecorded(log), nil, trace.Outcome{})
	same := func(what string, want, got any) {
		t.Helper()
		empty := cmp.Transformer("bytes", func(b []byte) string { return string(b) })
		if d := cmp.Diff(want, got, empty); d != "" {
			t.Errorf("%s (-memory +file):\n%s", what, d)
		}
	}
	type answer struct {
		E  exec.Event
		N  uint64
		OK bool
	}
	collect := func(ask func(func(*exec.Event) bool)) (all []uint64) {
		ask(func(e *exec.Event) bool { all = append(all, e.Seq); return len(all) < 40 })
		return all
	}
	same("the last event", log.Last(), file.Last())
	for seq := uint64(0); seq <= log.Last()+1; seq++ {
		a, ok := log.Event(seq)
		b, ok2 := file.Event(seq)
		same("event", answer{a, seq, ok}, answer{b, seq, ok2})
		for g := uint32(1); g < 4; g++ {
			a, ok := log.Next(g, seq)
			b, ok2 := file.Next(g, seq)
			same("next event", answer{a, seq, ok}, answer{b, seq, ok2})
		}
	}
	same("what orders goroutines", collect(log.Ordering), collect(file.Ordering))
	same("goroutines", log.Goroutines(), file.Goroutines())
	for _, e := range log.Events {
		if !e.IsAccess() {
			continue
		}
		a, ok := log.LastStore(e.Addr, e.Size, e.Seq)
		b, ok2 := file.LastStore(e.Addr, e.Size, e.Seq)
		same("last store", answer{a, 0, ok}, answer{b, 0, ok2})
		ask := func(tr exec.Trace) []uint64 {
			after := collect(func(f func(*exec.Event) bool) { tr.Accesses(e.Addr, e.Size, 3, e.Seq, f) })
			return append(after, collect(func(f func(*exec.Event) bool) { tr.AccessesBefore(e.Addr, e.Size, e.Seq, f) })...)
		}
		same("accesses", ask(log), ask(file))
		a, n, ok := log.Allocation(e.Addr, e.Seq)
		b, n2, ok2 := file.Allocation(e.Addr, e.Seq)
		same("allocation", answer{a, n, ok}, answer{b, n2, ok2})
	}
	for frame := uint32(1); frame < 6; frame++ {
		parent, site, ok := log.Frame(frame)
		parent2, site2, ok2 := file.Frame(frame)
		same("frame", []any{parent, site, ok}, []any{parent2, site2, ok2})
	}
	if _, _, ok := file.Allocation(0, 0); ok || file.Err() != nil {
		t.Errorf("before everything there is an allocation, or %v", file.Err())
	}
}

// TestBindingTellsWhatItMissed: an access of a lifted file that no instruction has is told
// if it happened. What never ran, and what other files do, is not missed.
func TestBindingTellsWhatItMissed(t *testing.T) {
	p := lift(t, "counter")
	var sites []trace.Site
	var load *ir.Instr
	add := func(s trace.Site) uint32 {
		s.ID = uint32(len(sites) + 1)
		sites = append(sites, s)
		return s.ID
	}
	for _, f := range p.Funcs {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if o := p.Origin(in); in.Op == ir.Load && o.Kind == event.Load && o.Node != nil && o.Data.Field != nil && load == nil {
					load = in
					k := p.siteKeyOf(o.Node, o.Kind)
					add(trace.Site{File: k.file, Line: k.line, Column: k.col, EndColumn: k.endCol, Kind: k.kind})
				}
			}
		}
	}
	file := sites[0].File
	missed := add(trace.Site{File: file, Line: 1, Column: 1, EndColumn: 9, Kind: event.Store, Expr: "package"})
	add(trace.Site{File: file, Line: 2, Column: 1, EndColumn: 9, Kind: event.Store}) // never ran
	elsewhere := add(trace.Site{File: "/library/other.go", Line: 1, Column: 1, EndColumn: 9, Kind: event.Load})
	call := add(trace.Site{File: file, Line: 3, Column: 1, EndColumn: 9, Kind: event.Call})
	var events []event.Event
	for i, site := range []uint32{1, missed, elsewhere, call} {
		events = append(events, event.Event{Seq: uint64(i + 1), G: 1, Kind: sites[site-1].Kind, Site: site, Addr: 64, Size: 8})
	}
	got := p.Bind(written(t, events, sites, trace.Outcome{}))
	if len(got) != 1 || got[0].ID != missed || got[0].Expr != "package" {
		t.Errorf("missed are %+v, want the store in line 1", got)
	}
	if !slices.Contains(load.Sites, 1) || len(p.InstrsAt(1)) == 0 {
		t.Error("the load of the field has lost its site")
	}
	if all := p.Bind(written(t, events[:1], sites[:1], trace.Outcome{})); all != nil {
		t.Errorf("nothing is missed, and told is %v", all)
	}
}

// TestFailuresOfTheTraceInTheEnginesTerms: crashes come before races, and a race needs the
// events of both accesses.
func TestFailuresOfTheTraceInTheEnginesTerms(t *testing.T) {
	p := lift(t, "counter")
	var file string
	for f := range p.files {
		file = f
	}
	events := []event.Event{
		{Seq: 1, G: 1, Kind: event.Load, Site: 11, Addr: 64, Size: 8},
		{Seq: 2, G: 2, Kind: event.Store, Site: 12, Addr: 64, Size: 8},
		{Seq: 3, G: 1, Kind: event.MapWrite, Site: 13, Addr: 128},
		{Seq: 4, G: 2, Kind: event.MapRead, Site: 14, Addr: 128},
		{Seq: 5, G: 2, Kind: event.MapWrite, Site: 15, Addr: 256},
	}
	at := func(g, site uint32, op event.Kind, addr uint64) trace.Point {
		return trace.Point{G: g, Site: site, Op: op, Addr: addr}
	}
	outcome := trace.Outcome{Failures: []trace.Failure{
		{Kind: event.FailureRace, Point: at(2, 12, event.Store, 64), Others: []trace.Point{at(1, 11, event.Load, 64)}},
		{Kind: event.FailureRace, Point: at(2, 14, event.MapRead, 128), Others: []trace.Point{at(1, 13, event.MapWrite, 128)}},
		{Kind: event.FailureRace, Point: at(2, 99, event.Store, 64), Others: []trace.Point{at(1, 11, event.Load, 64)}}, // not in the trace
		{Kind: event.FailureRace, Point: at(2, 12, event.Store, 64)},                                                   // of one
		{Kind: event.FailureFatal, Cause: event.ConcurrentMap, Point: at(1, 13, event.MapWrite, 128)},
		{Kind: event.FailureTest, Point: trace.Point{G: 3}},
		{Kind: event.FailureDeadlock},
		{Kind: event.FailurePanic, Cause: event.OutOfRange, Point: trace.Point{G: 4, Stack: []trace.Call{{File: "/go/src/runtime/panic.go", Line: 1}, {File: file, Line: 6}}}},
		{Kind: event.FailurePanic, Cause: event.NilPointer, Point: trace.Point{G: 5}},
	}}
	tr := written(t, events, nil, outcome)
	var got []string
	for _, f := range p.Failures(tr, &outcome) {
		at := ""
		if f.CrashedAt != nil {
			at = " at a line"
		}
		got = append(got, f.Cause.String()+at)
		if (f.Cause == ir.Race || f.Cause == ir.MapConflict) && (f.Seq == 0 || f.Other == 0 || f.Seq == f.Other) {
			t.Errorf("%v is between %d and %d", f.Cause, f.Other, f.Seq)
		}
	}
	want := []string{"failed assertion", "index out of range at a line", "nil dereference", "data race", "concurrent map use", "concurrent map use"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("failures (-want +got):\n%s", d)
	}
	for cause, want := range map[event.FailureCause]ir.Cause{event.WrongType: ir.WrongType, event.DivideByZero: ir.DivideByZero, event.CloseOfNil: ir.Panic} {
		if got := causeOf(cause); got != want {
			t.Errorf("%v is %v, want %v", cause, got, want)
		}
	}
	// The place of the panic in line 6 is that of the instructions there.
	here := p.Failures(tr, &outcome)[1].CrashedAt
	found := 0
	for _, f := range p.Funcs {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if here(in) {
					found++
					if line := p.Position(in).Line; line != 6 && p.Origin(in).Instr == nil {
						t.Errorf("an instruction of line %d is taken for the crash", line)
					}
				}
			}
		}
	}
	if found == 0 {
		t.Error("no instruction is where the program crashed")
	}
}
