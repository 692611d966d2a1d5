package runtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// ShopSource is the program of the runs without a race.
const ShopSource = `package shop

import "sync"

type Stock struct {
	mu    sync.Mutex
	items map[string]int
}

func (s *Stock) Take(item string) {
	s.mu.Lock()
	n := s.items[item]
	s.mu.Unlock()
	if n > 0 {
		s.mu.Lock()
		s.items[item]--
		s.mu.Unlock()
	}
}

func Transfer(a, b *Stock, item string) {
	a.mu.Lock()
	b.mu.Lock()
	a.items[item]--
	b.items[item]++
	b.mu.Unlock()
	a.mu.Unlock()
}
`

const (
	siteTake = iota + 1
	siteLook
	siteRead
	siteLeave
	siteAgain
	siteWrite
	siteLeave2
	siteTransfer
	siteFirst
	siteSecond
)

const (
	addrStock  = 0xc000040000
	addrItems  = 0xc000050000
	addrStock2 = 0xc000060000
	addrNames  = 0xc000070000
)

// names are the items of the shop. Each goroutine has the text of a name in memory of its own, as it has from the
// request that it serves.
var names = []string{"pen", "cup"}

const pen, cup = 0, 1

// nameAt is where a goroutine has the name of an item.
func nameAt(g uint32, item int) uint64 { return addrNames + uint64(g)<<8 + uint64(item)<<4 }

// texts are the names of the items, wherever goroutines have them.
func texts() []trace.Text {
	var all []trace.Text
	for g := range uint32(3) {
		for item, name := range names {
			all = append(all, trace.Text{Addr: nameAt(g, item), Length: uint64(len(name)), Text: name})
		}
	}
	return all
}

func shopSites(file string) []trace.Site {
	one := func(id uint32, line int, function, expr string, kind event.Kind) trace.Site {
		s := trace.Site{ID: id, Package: "example.com/shop", File: file, Line: line, Column: 2, Function: function, Expr: expr, Kind: kind}
		if kind == event.MapRead || kind == event.MapWrite {
			s.Type = "map{string}int"
		}
		return s
	}
	const take, transfer = "(*Stock).Take", "Transfer"
	return []trace.Site{
		one(siteTake, 10, take, "Take", event.Call), one(siteLook, 11, take, "s.mu.Lock()", event.Lock), one(siteRead, 12, take, "s.items[item]", event.MapRead),
		one(siteLeave, 13, take, "s.mu.Unlock()", event.Unlock), one(siteAgain, 15, take, "s.mu.Lock()", event.Lock), one(siteWrite, 16, take, "s.items[item]", event.MapWrite),
		one(siteLeave2, 17, take, "s.mu.Unlock()", event.Unlock), one(siteTransfer, 21, transfer, "Transfer", event.Call),
		one(siteFirst, 22, transfer, "a.mu.Lock()", event.Lock), one(siteSecond, 23, transfer, "b.mu.Lock()", event.Lock),
	}
}

// shop is the program as record has it.
var shop = program{name: "shop", source: ShopSource, sites: shopSites}

// A program is what a run is of: a package with one file.
type program struct {
	name, source string
	sites        func(file string) []trace.Site
}

// record makes a trace of a program in a folder with its source, and returns its file.
func (p program) record(t *testing.T, dir, test string, schedule sched.Schedule, events []event.Event, outcome func(source string) trace.Outcome) string {
	t.Helper()
	source := filepath.Join(dir, p.name+".go")
	if err := os.WriteFile(source, []byte(p.source), 0o666); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, test+".trace")
	w, err := trace.Create(file, trace.Header{Package: "example.com/" + p.name, Test: test, Schedule: schedule.String(), Own: []string{"example.com/" + p.name}, Go: "go1.26", Options: trace.Options{Races: true}})
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{t: t, w: w}
	for _, e := range events {
		r.event(e)
	}
	if err := w.SetSites(p.sites(source)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(outcome(source)); err != nil {
		t.Fatal(err)
	}
	return file
}

// entry is an entry of the shop's map, which a goroutine finds by its copy of the item's name.
func entry(g uint32, item, n int) []byte {
	var to [event.MaxValue]byte
	e := event.Entry{Key: append(value(nameAt(g, item)), value(len(names[item]))...), Value: value(n), Held: true}
	return append([]byte(nil), to[:e.Put(&to)]...)
}

// SplitSection records a run without a race that fails: goroutine 1 looks in one section and takes in
// another, and goroutine 2 takes what there was in between. Before that it takes something else, which
// has nothing to do with it.
func SplitSection(t *testing.T, dir string) string {
	t.Helper()
	of := func(g uint32, frame uint32, kind event.Kind, site uint32, addr uint64) event.Event {
		return event.Event{G: g, Kind: kind, Site: site, Frame: frame, Addr: addr, Size: 1}
	}
	look := func(g, frame uint32, item, n int) []event.Event {
		read := of(g, frame, event.MapRead, siteRead, addrItems)
		read.Before = entry(g, item, n)
		return []event.Event{of(g, frame, event.Lock, siteLook, addrStock), read, of(g, frame, event.Unlock, siteLeave, addrStock)}
	}
	take := func(g, frame uint32, item, n int) []event.Event {
		write := of(g, frame, event.MapWrite, siteWrite, addrItems)
		write.Before, write.After = entry(g, item, n), entry(g, item, n-1)
		return []event.Event{of(g, frame, event.Lock, siteAgain, addrStock), write, of(g, frame, event.Unlock, siteLeave2, addrStock)}
	}
	var events []event.Event
	add := func(all ...event.Event) { events = append(events, all...) }
	add(event.Event{G: 1, Kind: event.Start}, event.Event{G: 1, Kind: event.Call, Site: siteTake, Frame: 1}, event.Event{G: 1, Kind: event.Go, Frame: 1, Arg: 2})
	add(look(1, 1, pen, 1)...)
	add(event.Event{G: 2, Kind: event.Start, Arg: 1}, event.Event{G: 2, Kind: event.Call, Site: siteTake, Frame: 2, Arg: 1})
	add(take(2, 2, pen, 1)...)
	add(look(2, 2, cup, 5)...)
	add(take(2, 2, cup, 5)...)
	add(event.Event{G: 2, Kind: event.Return, Frame: 2}, event.Event{G: 2, Kind: event.End})
	add(take(1, 1, pen, 0)...)
	add(event.Event{G: 1, Kind: event.Fail, Frame: 1}, event.Event{G: 1, Kind: event.End})
	schedule := sched.Schedule{Switches: []sched.Switch{{G: 1, N: 4, To: 2, Preempt: true}}}
	return shop.record(t, dir, "TestTake", schedule, events, func(source string) trace.Outcome {
		failure := trace.Failure{Kind: event.FailureTest, Message: "TestTake: there are -1 pens left", Point: trace.Point{G: 1, Stack: []trace.Call{{Function: "example.com/shop.(*Stock).Take", File: source, Line: 17}}}}
		return trace.Outcome{Result: event.Failed, Failures: []trace.Failure{failure}, Texts: texts()}
	})
}

// Crossed records a deadlock of two goroutines that take two locks in two orders. Both call the lock
// that they have a.mu, and the one that they wait for b.mu.
func Crossed(t *testing.T, dir string) string {
	t.Helper()
	events := []event.Event{
		{G: 1, Kind: event.Start}, {G: 1, Kind: event.Call, Site: siteTransfer, Frame: 1}, {G: 1, Kind: event.Go, Frame: 1, Arg: 2},
		{G: 1, Kind: event.Lock, Site: siteFirst, Frame: 1, Addr: addrStock, Size: 1},
		{G: 2, Kind: event.Start, Arg: 1}, {G: 2, Kind: event.Call, Site: siteTransfer, Frame: 2, Arg: 1},
		{G: 2, Kind: event.Lock, Site: siteFirst, Frame: 2, Addr: addrStock2, Size: 1},
		{G: 2, Kind: event.Blocked, Site: siteSecond, Frame: 2, Addr: addrStock, Size: 1, Arg: uint64(event.Lock)},
		{G: 1, Kind: event.Blocked, Site: siteSecond, Frame: 1, Addr: addrStock2, Size: 1, Arg: uint64(event.Lock)},
	}
	schedule := sched.Schedule{Switches: []sched.Switch{{G: 1, N: 2, To: 2, Preempt: true}}}
	return shop.record(t, dir, "TestTransfer", schedule, events, func(string) trace.Outcome {
		waits := func(g, other uint32, addr uint64) trace.Waiter {
			return trace.Waiter{
				Point: trace.Point{Op: event.Lock, G: g, Site: siteSecond, Frame: g, Addr: addr}, Shape: event.LockOrder,
				HeldBy: []trace.Hold{{Point: trace.Point{Op: event.Lock, G: other, Site: siteFirst, Frame: other, Addr: addr}}},
			}
		}
		failure := trace.Failure{Kind: event.FailureDeadlock, Message: "all goroutines are asleep - deadlock!", Waiting: []trace.Waiter{waits(1, 2, addrStock2), waits(2, 1, addrStock)}}
		return trace.Outcome{Result: event.Failed, Failures: []trace.Failure{failure}}
	})
}
