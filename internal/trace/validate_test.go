package trace

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

func TestARunMakesSense(t *testing.T) {
	file, _ := record(t, 6, 30_000)
	if problems, err := Validate(read(t, file)); err != nil || len(problems) != 0 {
		t.Errorf("problems %v, error %v", problems, err)
	}
}

func TestWhatNoRunCanDoIsFound(t *testing.T) {
	const lock = 0x1000
	for _, c := range []struct {
		wants  string // "" if it is in order
		events []event.Event
	}{
		{"", []event.Event{{G: 1, Kind: event.Go, Arg: 2}, {G: 2, Kind: event.Start}, {G: 2, Kind: event.End}, {G: 1, Kind: event.End}}},
		{"", []event.Event{{G: 1, Kind: event.End}, {Kind: event.TimerFire, Addr: 8, Arg: 2}, {G: 1, Kind: event.Go, Addr: 8, Arg: 2}, {G: 2, Kind: event.Start}}},
		{"goroutine 2 starts, and nobody created it", []event.Event{{G: 2, Kind: event.Start}}},
		{"goroutine 2 is created a second time", []event.Event{{G: 1, Kind: event.Go, Site: 1, Arg: 2}, {G: 1, Kind: event.Go, Site: 1, Arg: 2}}},
		{"goroutine 2 starts a second time", []event.Event{{G: 1, Kind: event.Go, Arg: 2}, {G: 2, Kind: event.Start}, {G: 2, Kind: event.Start}}},
		{"goroutine 1 starts after its end", []event.Event{{G: 1, Kind: event.End}, {G: 1, Kind: event.Start}}},
		{"load by goroutine 2, which has not started", []event.Event{{G: 1, Kind: event.Go, Arg: 2}, {G: 2, Kind: event.Load}}},
		{"load by goroutine 1, which has ended", []event.Event{{G: 1, Kind: event.End}, {G: 1, Kind: event.Load}}},
		{"", []event.Event{{G: 1, Kind: event.Call, Frame: 5}, {G: 1, Kind: event.Call, Frame: 7, Arg: 5}, {G: 1, Kind: event.Load, Frame: 7}}},
		{"it is in frame 5, which is not defined", []event.Event{{G: 1, Kind: event.Load, Frame: 5}}},
		{"caller 5, which is not defined", []event.Event{{G: 1, Kind: event.Call, Frame: 6, Arg: 5}}},
		{"", []event.Event{{G: 1, Kind: event.Lock, Addr: lock}, {G: 1, Kind: event.TryLock, Addr: lock}, {G: 1, Kind: event.Unlock, Addr: lock}, {G: 1, Kind: event.TryLock, Addr: lock, Arg: 1}}},
		{"is taken while it is held", []event.Event{{G: 1, Kind: event.Lock, Addr: lock}, {G: 1, Kind: event.TryLock, Addr: lock, Arg: 1}}},
		{"is given back while it is not held", []event.Event{{G: 1, Kind: event.Unlock, Addr: lock}}},
		{"", []event.Event{{G: 1, Kind: event.RLock, Addr: lock}, {G: 1, Kind: event.TryRLock, Addr: lock, Arg: 1}, {G: 1, Kind: event.RUnlock, Addr: lock}, {G: 1, Kind: event.RUnlock, Addr: lock}, {G: 1, Kind: event.Lock, Addr: lock}}},
		{"is taken for reading while it is held", []event.Event{{G: 1, Kind: event.Lock, Addr: lock}, {G: 1, Kind: event.RLock, Addr: lock}}},
		{"is taken while it is held", []event.Event{{G: 1, Kind: event.RLock, Addr: lock}, {G: 1, Kind: event.Lock, Addr: lock}}},
		{"given back by a reader while none holds it", []event.Event{{G: 1, Kind: event.RUnlock, Addr: lock}}},
		{"", []event.Event{{G: 1, Kind: event.Outside}, {G: 1, Kind: event.Unlock, Addr: lock}}},
	} {
		for i := range c.events {
			c.events[i].Seq = uint64(i + 1)
		}
		problems, err := Validate(write(t, testHeader, c.events))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.wants == "":
			if len(problems) != 0 {
				t.Errorf("%v: problems %v", c.events, problems)
			}
		case len(problems) != 1 || !strings.Contains(problems[0].String(), c.wants):
			t.Errorf("problems %v, want one: %s", problems, c.wants)
		}
	}
}
