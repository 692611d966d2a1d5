package repair_test

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// TestMissedAccessesAreToldInOneLine: by place, the first few, and only if there are any.
func TestMissedAccessesAreToldInOneLine(t *testing.T) {
	site := trace.Site{File: "/home/meter.go", Line: 7, Kind: event.Store, Expr: "m.count"}
	r := &repair.Result{}
	if note := r.MissedNote(); note != "" {
		t.Errorf("nothing was missed, and told is %q", note)
	}
	r.Missed = []trace.Site{site}
	if got, want := r.MissedNote(), "the analysis has no code for store of m.count at meter.go:7"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Missed = []trace.Site{site, site, site, site, site, site}
	if got, want := r.MissedNote(), "the analysis has no code for store of m.count at meter.go:7, store of m.count at meter.go:7, store of m.count at meter.go:7, store of m.count at meter.go:7, 2 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
