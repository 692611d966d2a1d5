package finding

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// tolerated is a finding about a variable, seen once.
func tolerated(variable string, waited time.Duration) Finding {
	return Finding{
		Kind: Violation, Guard: Guard{Name: variable}, Explanation: "it was changed",
		Accesses: []Access{{Op: Write, Target: variable}}, History: Once(Tolerated, waited, time.Unix(1, 0)),
	}
}

func TestFeedGroupsCountsAndTells(t *testing.T) {
	var feed Feed
	var logged bytes.Buffer
	feed.SetLogger(slog.New(slog.NewTextHandler(&logged, nil)))
	feed.Source = "test"
	feed.Attributes = func(f Finding, seen History) []any {
		return []any{"target", f.Accesses[0].Target, "waited", seen.Waited}
	}
	var told []Finding
	feed.Subscribe(func(f Finding) { told = append(told, f) })
	feed.Add(tolerated("x", time.Second), tolerated("y", 0))
	feed.Add(tolerated("x", time.Minute))
	if len(told) > 0 || logged.Len() > 0 {
		t.Error("something was told before it was delivered")
	}
	feed.Deliver()
	feed.Deliver()
	if len(told) != 3 || told[0].Count != 1 || told[2].Count != 2 || told[2].Guard.Name != "x" {
		t.Errorf("the subscriber was told %+v", told)
	}
	lines := strings.Split(strings.TrimSpace(logged.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `msg="test: it was changed" finding=`) || !strings.HasSuffix(lines[0], "guard=x outcome=tolerated target=x waited=1s") {
		t.Errorf("the log has\n%s", logged.String())
	}
	if all := feed.Findings(); len(all) != 2 || all[0].Count != 2 || feed.Dropped() != 0 {
		t.Errorf("the findings are %+v", all)
	}
	if got := feed.Tally(); got != (Tally{Tolerated: 3}) {
		t.Errorf("the outcomes are %+v", got)
	}
}

func TestFeedWithoutAttributesOrOutcome(t *testing.T) {
	var feed Feed
	var logged bytes.Buffer
	feed.SetLogger(slog.New(slog.NewTextHandler(&logged, nil)))
	feed.Add(Finding{Kind: Panic, Explanation: "boom", Accesses: []Access{{Op: Step}}})
	feed.Deliver()
	if got := logged.String(); !strings.Contains(got, `outcome=""`) {
		t.Errorf("the log has %s", got)
	}
	if feed.Tally() != (Tally{}) {
		t.Errorf("the outcomes are %+v", feed.Tally())
	}
}

func TestDeliverSoonTellsEverythingInOrderOnOneGoroutine(t *testing.T) {
	var feed Feed
	feed.SetLogger(slog.New(slog.DiscardHandler))
	const each, goroutines = 100, 4
	var told []uint64 // by one goroutine at a time, or the race detector finds it
	done := make(chan struct{})
	feed.Subscribe(func(f Finding) {
		if told = append(told, f.Count); len(told) == each*goroutines {
			close(done)
		}
	})
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				feed.Add(tolerated("x", 0))
				feed.DeliverSoon()
			}
		})
	}
	wg.Wait()
	<-done
	for i, count := range told {
		if count != uint64(i+1) {
			t.Fatalf("the %dth was told as the %dth", i+1, count)
		}
	}
}

func TestSubscriberMayAddToTheFeed(t *testing.T) {
	var feed Feed
	feed.SetLogger(slog.New(slog.DiscardHandler))
	done := make(chan struct{})
	feed.Subscribe(func(f Finding) {
		if f.Guard.Name == "x" {
			feed.Add(tolerated("y", 0))
			feed.DeliverSoon()
			return
		}
		close(done)
	})
	feed.Add(tolerated("x", 0))
	feed.DeliverSoon()
	<-done
}

// A recorder has each finding when Add returns, before anything is delivered.
func TestRecorderGetsFindingsAtOnce(t *testing.T) {
	var feed Feed
	var recorded []uint64
	feed.SetRecorder(func(f Finding) { recorded = append(recorded, f.Count) })
	feed.Add(tolerated("x", 0), tolerated("x", 0))
	if len(recorded) != 2 || recorded[0] != 1 || recorded[1] != 2 {
		t.Errorf("the counts recorded are %v, want 1 and 2", recorded)
	}
	feed.SetRecorder(nil)
	feed.Add(tolerated("x", 0))
	if len(recorded) != 2 {
		t.Error("a recorder that was taken away is called")
	}
}
