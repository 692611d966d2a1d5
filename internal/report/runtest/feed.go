package runtest

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// FeedSource is the program of the runs in which an operation panics, calls lie between an access and the
// test, or something is read too early.
const FeedSource = `package feed

import (
	"fmt"
	"sync"
)

type Feed struct {
	mu     sync.Mutex
	closed bool
	out    chan string
	sent   int
}

func (f *Feed) Publish(s string) {
	f.mu.Lock()
	done := f.closed
	f.mu.Unlock()
	if !done {
		f.out <- s
	}
}

func (f *Feed) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	close(f.out)
}

func (f *Feed) Count() {
	f.add()
}

func (f *Feed) add() { f.sent++ }

func (f *Feed) Print() string {
	return fmt.Sprint(fmt.Sprint(f.sent), f)
}
`

const (
	siteLook1 = iota + 1
	siteLoadClosed
	siteLookEnd
	siteLoadOut
	siteSendOut
	siteCloseLock
	siteSetClosed
	siteCloseUnlock
	siteCloseOut
	siteSent
	siteReadSent
	sitePrint = event.CallSites + 1 // calls of the standard library, which several expressions of the line may be
)

const (
	addrFeed   = uint64(0xc000080000)
	addrClosed = addrFeed + 8
	addrOut    = addrFeed + 16
	addrSent   = addrFeed + 24
	addrChan   = uint64(0xc000090000)
)

func feedSites(file string) []trace.Site {
	one := func(id uint32, line, column int, function, expr string, kind event.Kind) trace.Site {
		s := trace.Site{ID: id, Package: "example.com/feed", File: file, Line: line, Column: column, Function: function, Expr: expr, Kind: kind}
		if kind == event.Load || kind == event.Store {
			s.Type = "int"
		}
		return s
	}
	const publish, closes = "(*Feed).Publish", "(*Feed).Close"
	return []trace.Site{
		one(siteLook1, 16, 2, publish, "f.mu.Lock()", event.Lock), one(siteLoadClosed, 17, 10, publish, "f.closed", event.Load), one(siteLookEnd, 18, 2, publish, "f.mu.Unlock()", event.Unlock),
		one(siteLoadOut, 20, 3, publish, "f.out", event.Load), one(siteSendOut, 20, 3, publish, "f.out <- s", event.Send),
		one(siteCloseLock, 25, 2, closes, "f.mu.Lock()", event.Lock), one(siteSetClosed, 26, 2, closes, "f.closed", event.Store),
		one(siteCloseUnlock, 27, 2, closes, "f.mu.Unlock()", event.Unlock), one(siteCloseOut, 28, 2, closes, "close(f.out)", event.Close),
		one(siteSent, 35, 25, "(*Feed).add", "f.sent", event.Store), one(siteReadSent, 38, 32, "(*Feed).Print", "f.sent", event.Load),
		one(sitePrint, 38, 0, "(*Feed).Print", "", event.Load),
	}
}

var feed = program{name: "feed", source: FeedSource, sites: feedSites}

// look is goroutine 1 up to where it has seen that the feed is open, and has loaded the channel.
func look(locked bool) []event.Event {
	all := []event.Event{
		{G: 1, Kind: event.Start}, {G: 1, Kind: event.Go, Frame: 1, Arg: 2},
		{G: 1, Kind: event.Lock, Site: siteLook1, Frame: 1, Addr: addrFeed, Size: 1},
		{G: 1, Kind: event.Load, Site: siteLoadClosed, Frame: 1, Addr: addrClosed, Size: 8, Before: value(0)},
	}
	if !locked {
		all = append(all, event.Event{G: 1, Kind: event.Unlock, Site: siteLookEnd, Frame: 1, Addr: addrFeed, Size: 1})
	}
	// What follows is no step that a person looks at: nothing else accesses that memory.
	return append(all, event.Event{G: 1, Kind: event.Load, Site: siteLoadOut, Frame: 1, Addr: addrOut, Size: 8, Before: value(addrChan)})
}

// closes is goroutine 2, which closes the feed.
func closes() []event.Event {
	return []event.Event{
		{G: 2, Kind: event.Lock, Site: siteCloseLock, Frame: 2, Addr: addrFeed, Size: 1},
		{G: 2, Kind: event.Store, Site: siteSetClosed, Frame: 2, Addr: addrClosed, Size: 8, Before: value(0), After: value(1)},
		{G: 2, Kind: event.Unlock, Site: siteCloseUnlock, Frame: 2, Addr: addrFeed, Size: 1},
		{G: 2, Kind: event.Close, Site: siteCloseOut, Frame: 2, Addr: addrChan, Size: 1},
		{G: 2, Kind: event.End},
	}
}

// Closed records a send on a closed channel: goroutine 1 has seen that the feed is open, and goroutine 2 closes
// it before goroutine 1 sends. There is no event of the send, which began before the close.
func Closed(t *testing.T, dir string) string {
	t.Helper()
	events := append(look(false), event.Event{G: 2, Kind: event.Start, Arg: 1})
	events = append(append(events, closes()...), event.Event{G: 1, Kind: event.Panic}, event.Event{G: 1, Kind: event.End})
	schedule := sched.Schedule{Switches: []sched.Switch{{G: 1, N: 5, To: 2, Preempt: true}}}
	return feed.record(t, dir, "TestClose", schedule, events, func(source string) trace.Outcome {
		return trace.Outcome{Result: event.Failed, Failures: []trace.Failure{
			{Kind: event.FailurePanic, Message: "send on closed channel", Point: trace.Point{G: 1, Stack: []trace.Call{{Function: "example.com/feed.(*Feed).Publish", File: source, Line: 20}}}},
			{Kind: event.FailureRace, Message: "a data race", Point: trace.Point{Op: event.Close, G: 2, Site: siteCloseOut, Frame: 2, Addr: addrChan},
				Others: []trace.Point{{Op: event.Send, G: 1, Site: siteSendOut, Frame: 1, Addr: addrChan}}},
		}}
	})
}

// KeptOpen records the same schedule with the lock held until the send is done: goroutine 2 has to wait.
func KeptOpen(t *testing.T, dir string) string {
	t.Helper()
	events := append(look(true), event.Event{G: 2, Kind: event.Start, Arg: 1},
		event.Event{G: 2, Kind: event.Blocked, Site: siteCloseLock, Frame: 2, Addr: addrFeed, Size: 1, Arg: uint64(event.Lock)},
		event.Event{G: 1, Kind: event.Send, Site: siteSendOut, Frame: 1, Addr: addrChan, Size: 1, Arg: 1},
		event.Event{G: 1, Kind: event.Unlock, Site: siteLookEnd, Frame: 1, Addr: addrFeed, Size: 1})
	events = append(append(events, closes()...), event.Event{G: 1, Kind: event.End})
	schedule := sched.Schedule{Switches: []sched.Switch{{G: 1, N: 5, To: 2, Preempt: true}}}
	return feed.record(t, dir, "TestClose", schedule, events, func(string) trace.Outcome { return trace.Outcome{} })
}

// Printed records a race as the only failure: goroutine 2 counts, in a call of a call, what goroutine 1 has handed
// to the standard library, in one of several calls of a line.
func Printed(t *testing.T, dir string) string {
	t.Helper()
	events := []event.Event{
		{G: 1, Kind: event.Start}, {G: 1, Kind: event.Go, Frame: 1, Arg: 2},
		{G: 1, Kind: event.Load, Site: sitePrint, Frame: 1, Addr: addrSent, Size: 8, Before: value(0)},
		{G: 2, Kind: event.Start, Arg: 1},
		{G: 2, Kind: event.Store, Site: siteSent, Frame: 2, Addr: addrSent, Size: 8, Before: value(0), After: value(1)},
		{G: 2, Kind: event.End}, {G: 1, Kind: event.End},
	}
	return feed.record(t, dir, "TestPrint", sched.Schedule{}, events, func(source string) trace.Outcome {
		return trace.Outcome{Result: event.Failed, Failures: []trace.Failure{{
			Kind: event.FailureRace, Message: "a data race",
			Point:  trace.Point{Op: event.Store, G: 2, Site: siteSent, Frame: 2, Addr: addrSent, Stack: []trace.Call{{Function: "example.com/feed.(*Feed).Count", File: source, Line: 32}}},
			Others: []trace.Point{{Op: event.Load, G: 1, Site: sitePrint, Frame: 1, Addr: addrSent}},
		}}}
	})
}

// TooEarly records a test that reads a count before the goroutine that counts has come to it, all under a lock.
func TooEarly(t *testing.T, dir string) string {
	t.Helper()
	locked := func(g uint32, e event.Event) []event.Event {
		return []event.Event{{G: g, Kind: event.Lock, Site: siteLook1, Frame: g, Addr: addrFeed, Size: 1}, e, {G: g, Kind: event.Unlock, Site: siteLookEnd, Frame: g, Addr: addrFeed, Size: 1}}
	}
	events := []event.Event{{G: 1, Kind: event.Start}, {G: 1, Kind: event.Go, Frame: 1, Arg: 2}}
	events = append(events, locked(1, event.Event{G: 1, Kind: event.Load, Site: siteReadSent, Frame: 1, Addr: addrSent, Size: 8, Before: value(0)})...)
	events = append(events, event.Event{G: 1, Kind: event.Fail, Frame: 1}, event.Event{G: 2, Kind: event.Start, Arg: 1})
	events = append(events, locked(2, event.Event{G: 2, Kind: event.Store, Site: siteSent, Frame: 2, Addr: addrSent, Size: 8, Before: value(0), After: value(1)})...)
	events = append(events, event.Event{G: 2, Kind: event.End}, event.Event{G: 1, Kind: event.End})
	return feed.record(t, dir, "TestCount", sched.Schedule{}, events, func(source string) trace.Outcome {
		failure := trace.Failure{Kind: event.FailureTest, Message: "TestCount: sent is 0, want 1", Point: trace.Point{G: 1, Stack: []trace.Call{{Function: "example.com/feed.(*Feed).Print", File: source, Line: 38}}}}
		return trace.Outcome{Result: event.Failed, Failures: []trace.Failure{failure}}
	})
}
