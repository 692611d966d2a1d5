package lanes_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/report/lanes"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// TestLinksAndLocksOfRandomRuns holds what is found in one pass against what follows from looking
// at all events before each: locks held, the release that a lock follows, and the send that a
// receive belongs to.
func TestLinksAndLocksOfRandomRuns(t *testing.T) {
	for seed := range uint64(4) {
		events := randomRun(rand.New(rand.NewPCG(seed, 1)), lanes.ChunkSteps+300)
		file := filepath.Join(t.TempDir(), "random.trace")
		w, err := trace.Create(file, trace.Header{Package: "p", Schedule: "default"})
		if err != nil {
			t.Fatal(err)
		}
		var sites []trace.Site
		for addr := uint64(0); addr < 3; addr++ {
			sites = append(sites, trace.Site{ID: uint32(addr) + 1, Package: "p", File: "p.go", Line: 1, Function: "f", Expr: fmt.Sprintf("m%d.Lock()", addr)})
		}
		for i := range events {
			if err := w.Event(&events[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.SetSites(sites); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(trace.Outcome{}); err != nil {
			t.Fatal(err)
		}
		all, links := steps(t, read(t, file))
		for i := range events {
			fields := strings.Split(all[i], "|")
			if got, want := fields[5], strings.Join(held(events, i), ","); got != want {
				t.Fatalf("seed %d: step %d holds %q, want %q", seed, i, got, want)
			}
		}
		slices.Sort(links)
		want := expectedLinks(events)
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Compact(links)); diff != "" {
			t.Fatalf("seed %d: links (-want +got):\n%s", seed, diff)
		}
	}
}

const (
	locksAt    = 0x1000 // three locks
	channelsAt = 0x2000 // two channels
)

// randomRun is a run of four goroutines that could have been.
func randomRun(r *rand.Rand, n int) []event.Event {
	var all []event.Event
	holder, queued := map[uint64]uint32{}, map[uint64]int{}
	for len(all) < n {
		e := event.Event{Seq: uint64(len(all) + 1), G: uint32(1 + r.IntN(4))}
		switch which := r.IntN(5); {
		case which < 3:
			e.Addr, e.Site, e.Kind = locksAt+uint64(which), uint32(which+1), event.Lock
			if g, taken := holder[e.Addr]; taken {
				e.G, e.Kind = g, event.Unlock
				delete(holder, e.Addr)
			} else {
				holder[e.Addr] = e.G
			}
		default:
			e.Addr, e.Kind = channelsAt+uint64(which), event.Send
			if queued[e.Addr] > 0 && r.IntN(2) == 0 {
				e.Kind = event.Recv
				queued[e.Addr]--
			} else {
				queued[e.Addr]++
			}
		}
		all = append(all, e)
	}
	return all
}

// held are the locks of a step's goroutine, in the order in which they were taken; one that the
// step releases is none of them, nor is one that it takes.
func held(events []event.Event, at int) []string {
	var all []uint64
	for i := range at + 1 {
		switch e := &events[i]; {
		case e.G != events[at].G:
		case e.Kind == event.Lock && i < at:
			all = append(all, e.Addr)
		case e.Kind == event.Unlock:
			all = slices.DeleteFunc(all, func(addr uint64) bool { return addr == e.Addr })
		}
	}
	var names []string
	for _, addr := range all {
		names = append(names, fmt.Sprintf("m%d", addr-locksAt))
	}
	return names
}

// expectedLinks are found by looking back from each step.
func expectedLinks(events []event.Event) []string {
	var all []string
	link := func(from, to, kind int) {
		if events[from].G != events[to].G {
			all = append(all, fmt.Sprintf("%d->%d:%d", from, to, kind))
		}
	}
	for i := range events {
		switch events[i].Kind {
		case event.Lock:
			for j := i - 1; j >= 0; j-- {
				if events[j].Addr == events[i].Addr {
					link(j, i, 1)
					break
				}
			}
		case event.Recv:
			nth := 0
			for j := range i {
				if events[j].Addr == events[i].Addr && events[j].Kind == event.Recv {
					nth++
				}
			}
			for j := range i {
				if events[j].Addr != events[i].Addr || events[j].Kind != event.Send {
					continue
				}
				if nth == 0 {
					link(j, i, 2)
					break
				}
				nth--
			}
		}
	}
	return all
}
