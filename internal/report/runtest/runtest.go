// Package runtest makes recorded runs for tests of reports, without running anything.
//
// A run is of a small program that a test can read; runtest.go has a race, shop.go a section that is split
// and a deadlock, feed.go what panics, what happens in calls, and what is read too early:
//
//	goroutine 1 (TestBank)                goroutine 2 (bank.go:12)
//	wg.Add(1), go
//	load b.total 100
//	-- preempted --                       b.mu.Lock(); store b.total 100 -> 150; b.mu.Unlock()
//	                                      done <- 1; wg.Done()
//	store b.total 100 -> 70  (a race)
//	<-done; b.mu.Lock(); b.mu.Unlock(); wg.Wait(); the test fails
package runtest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Source is the program of the runs.
const Source = `package bank

import "sync"

type Bank struct {
	mu    sync.Mutex
	total int
}

func (b *Bank) Run(wg *sync.WaitGroup, done chan int) {
	wg.Add(1)
	go b.deposit(wg, done)
	old := b.total
	b.total = old - 30
	<-done
	b.mu.Lock()
	b.mu.Unlock()
	wg.Wait()
}

func (b *Bank) deposit(wg *sync.WaitGroup, done chan int) {
	b.mu.Lock()
	b.total += 50
	b.mu.Unlock()
	done <- 1
	wg.Done()
}
`

// Sites of the program, by the line and the expression.
const (
	siteRun = iota + 1
	siteAdd
	siteGo
	siteLoad
	siteStore
	siteRecv
	siteLock
	siteUnlock
	siteWait
	siteDeposit
	siteLock2
	siteLoad2
	siteStore2
	siteUnlock2
	siteSend
	siteDone
)

// Addresses of the program's memory.
const (
	object  = 0xc000010000
	addrMu  = object
	addrTot = object + 8
	addrWg  = 0xc000020000
	addrCh  = 0xc000030000
)

func sites(file string) []trace.Site {
	const run, deposit = "(*Bank).Run", "(*Bank).deposit"
	one := func(id uint32, line, column int, function, expr string, kind event.Kind) trace.Site {
		s := trace.Site{ID: id, Package: "example.com/bank", File: file, Line: line, Column: column, Function: function, Expr: expr, Kind: kind}
		if kind == event.Load || kind == event.Store {
			s.Type = "int"
		}
		return s
	}
	return []trace.Site{
		one(siteRun, 10, 16, run, "Run", event.Call), one(siteAdd, 11, 2, run, "wg.Add(1)", event.WaitGroupAdd), one(siteGo, 12, 2, run, "go b.deposit(wg, done)", event.Go),
		one(siteLoad, 13, 9, run, "b.total", event.Load), one(siteStore, 14, 2, run, "b.total", event.Store), one(siteRecv, 15, 2, run, "<-done", event.Recv),
		one(siteLock, 16, 2, run, "b.mu.Lock()", event.Lock), one(siteUnlock, 17, 2, run, "b.mu.Unlock()", event.Unlock), one(siteWait, 18, 2, run, "wg.Wait()", event.WaitGroupWait),
		one(siteDeposit, 21, 16, deposit, "deposit", event.Call), one(siteLock2, 22, 2, deposit, "b.mu.Lock()", event.Lock), one(siteLoad2, 23, 2, deposit, "b.total", event.Load),
		one(siteStore2, 23, 2, deposit, "b.total", event.Store), one(siteUnlock2, 24, 2, deposit, "b.mu.Unlock()", event.Unlock),
		one(siteSend, 25, 2, deposit, "done <- 1", event.Send), one(siteDone, 26, 2, deposit, "wg.Done()", event.WaitGroupAdd),
	}
}

// A recorder numbers events.
type recorder struct {
	t   *testing.T
	w   *trace.Writer
	seq uint64
}

func (r *recorder) event(e event.Event) uint64 {
	r.t.Helper()
	r.seq++
	e.Seq = r.seq
	if err := r.w.Event(&e); err != nil {
		r.t.Fatal(err)
	}
	return r.seq
}

// value is a number as memory has it.
func value[N int | uint64](n N) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

// Bank records the run, in a folder with its source, and returns the trace's file. Rounds are how
// often the goroutines first do what is in order: a thousand of them make nine thousand events.
func Bank(t *testing.T, dir string, rounds int) string {
	t.Helper()
	source := filepath.Join(dir, "bank.go")
	if err := os.WriteFile(source, []byte(Source), 0o666); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "TestBank.trace")
	w, err := trace.Create(file, trace.Header{Package: "example.com/bank", Test: "TestBank", Schedule: preemption(rounds), Own: []string{"example.com/bank"}, Go: "go1.26"})
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{t: t, w: w}
	r.event(event.Event{G: 1, Kind: event.Start})
	r.event(event.Event{G: 1, Kind: event.Alloc, Addr: object, Size: 16, Arg: 1})
	r.event(event.Event{G: 1, Kind: event.Call, Site: siteRun, Frame: 1})
	r.event(event.Event{G: 1, Kind: event.WaitGroupAdd, Site: siteAdd, Frame: 1, Addr: addrWg, Size: 1, Arg: 1})
	r.event(event.Event{G: 1, Kind: event.Go, Site: siteGo, Frame: 1, Arg: 2})
	for range rounds {
		r.event(event.Event{G: 1, Kind: event.Lock, Site: siteLock, Frame: 1, Addr: addrMu, Size: 1})
		r.event(event.Event{G: 1, Kind: event.Load, Site: siteLoad, Frame: 1, Addr: addrTot, Size: 8, Before: value(100)})
		r.event(event.Event{G: 1, Kind: event.Store, Site: siteStore, Frame: 1, Addr: addrTot, Size: 8, Before: value(100), After: value(100)})
		r.event(event.Event{G: 1, Kind: event.Unlock, Site: siteUnlock, Frame: 1, Addr: addrMu, Size: 1})
	}
	r.event(event.Event{G: 1, Kind: event.Load, Site: siteLoad, Frame: 1, Addr: addrTot, Size: 8, Before: value(100)})
	r.event(event.Event{G: 2, Kind: event.Start, Arg: 1})
	r.event(event.Event{G: 2, Kind: event.Call, Site: siteDeposit, Frame: 2, Arg: 1})
	r.event(event.Event{G: 2, Kind: event.Lock, Site: siteLock2, Frame: 2, Addr: addrMu, Size: 1})
	r.event(event.Event{G: 2, Kind: event.Load, Site: siteLoad2, Frame: 2, Addr: addrTot, Size: 8, Before: value(100)})
	raced := r.event(event.Event{G: 2, Kind: event.Store, Site: siteStore2, Frame: 2, Addr: addrTot, Size: 8, Before: value(100), After: value(150)})
	r.event(event.Event{G: 2, Kind: event.Unlock, Site: siteUnlock2, Frame: 2, Addr: addrMu, Size: 1})
	r.event(event.Event{G: 2, Kind: event.Send, Site: siteSend, Frame: 2, Addr: addrCh, Size: 1, Arg: 1})
	r.event(event.Event{G: 2, Kind: event.WaitGroupAdd, Site: siteDone, Frame: 2, Addr: addrWg, Size: 1, Arg: ^uint64(0)})
	r.event(event.Event{G: 2, Kind: event.Return, Frame: 2})
	r.event(event.Event{G: 2, Kind: event.End})
	racing := r.event(event.Event{G: 1, Kind: event.Store, Site: siteStore, Frame: 1, Addr: addrTot, Size: 8, Before: value(150), After: value(70)})
	r.event(event.Event{G: 1, Kind: event.Recv, Site: siteRecv, Frame: 1, Addr: addrCh, Size: 1})
	r.event(event.Event{G: 1, Kind: event.Lock, Site: siteLock, Frame: 1, Addr: addrMu, Size: 1})
	r.event(event.Event{G: 1, Kind: event.Unlock, Site: siteUnlock, Frame: 1, Addr: addrMu, Size: 1})
	r.event(event.Event{G: 1, Kind: event.WaitGroupWait, Site: siteWait, Frame: 1, Addr: addrWg, Size: 1})
	r.event(event.Event{G: 1, Kind: event.Fail, Frame: 1})
	r.event(event.Event{G: 1, Kind: event.End})
	if err := w.SetSites(sites(source)); err != nil {
		t.Fatal(err)
	}
	outcome := trace.Outcome{Result: event.Failed, Failures: []trace.Failure{
		{Kind: event.FailureTest, Message: "TestBank: <b>total</b> is 70, want 120", Point: trace.Point{G: 1, Stack: []trace.Call{{Function: "example.com/bank.(*Bank).Run", File: source, Line: 18}}}},
		{Kind: event.FailureRace, Message: "a data race", Point: trace.Point{Op: event.Store, G: 1, Seq: racing, Site: siteStore, Addr: addrTot},
			Others: []trace.Point{{Op: event.Store, G: 2, Seq: raced, Site: siteStore2, Addr: addrTot}}},
	}}
	if err := w.Close(outcome); err != nil {
		t.Fatal(err)
	}
	return file
}

// preemption is the schedule of the run: goroutine 1 has counted the WaitGroup up, started the
// other one, done its rounds and loaded once.
func preemption(rounds int) string {
	return sched.Schedule{Switches: []sched.Switch{{G: 1, N: uint64(3 + 4*rounds), To: 2, Preempt: true}}}.String()
}
