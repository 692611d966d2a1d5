package wicket

import (
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/goroutine"
	"github.com/cofferdam-go/cofferdam/internal/protect/watch"
)

var feed = finding.Feed{Source: "isolate", Attributes: finding.DelayAttributes}

func init() {
	feed.SetLogger(slog.New(slog.DiscardHandler))
	finding.Publish(&feed)
	watch.Also(watch.Source{
		Findings: feed.Findings,
		Configure: func(l *slog.Logger, record func(finding.Finding)) {
			feed.SetLogger(l)
			feed.SetRecorder(record)
		},
		Weakness: weakness,
	})
}

// weakness says what is wrong with the guards of this process.
func weakness() string {
	if raceBuild {
		return "the fields of objects are not isolated in a -race build: the race detector would take what isolates them for synchronisation"
	}
	if n := unticketed.Load(); n > 0 {
		return fmt.Sprintf("%d sections did not isolate the nodes that they used, because too many were running at a time", n)
	}
	if n := overtaken.Load(); n > 0 {
		return fmt.Sprintf("%d times a section read a node that a section of another lock was reading, which was not isolated any more", n)
	}
	return ""
}

// maxStack is the number of return addresses that a finding has.
const maxStack = 30

func callers() []uintptr {
	pcs := make([]uintptr, maxStack)
	return pcs[:runtime.Callers(2, pcs)]
}

// tell tells of an access that has waited, when it has been made.
func (w *wait) tell() {
	if w.outcome == noWait || w.outcome == permitted {
		return
	}
	name, lock, file, line := w.names.CofferdamNames()
	access := finding.Access{Op: finding.Read, Goroutine: goroutine.ID(), Target: name, Stack: withoutThis(w.stack)[w.made:]}
	if w.write {
		access.Op = finding.Write
	}
	section := finding.Access{Op: finding.Lock, Goroutine: w.holder, Stack: withoutThis([]uintptr{w.site, 0})}
	one := finding.Finding{
		Kind:        finding.Violation,
		Guard:       finding.Guard{Name: lock, Site: finding.Frame{File: file, Line: line}},
		Accesses:    []finding.Access{access, section},
		Explanation: w.outcome.explain(),
		History:     finding.Once(w.outcome.told(), time.Since(w.since), time.Now()),
	}
	feed.Add(one)
	feed.DeliverSoon()
}

func (o outcome) told() finding.Outcome {
	if o == delayed {
		return finding.Delayed
	}
	return finding.Surrendered
}

func (o outcome) explain() string {
	switch o {
	case delayed:
		return "an access without the lock fell into a section; it waited for the end of the section"
	case surrenderedLenient:
		return "an access without the lock was let into a section, because the section runs code that may be waiting for it"
	default:
		return "an access without the lock was let into a section, because the section did not end within the longest wait"
	}
}

// inside is how functions of this package begin: in a protected program it has another path.
var inside = reflect.TypeFor[Guard]().PkgPath() + "."

// withoutThis returns frames without those of this package that come first. Functions that others are inlined into
// are frames only of addresses that another one follows.
func withoutThis(pcs []uintptr) []finding.Frame {
	frames := finding.Frames(pcs)
	for len(frames) > 1 && strings.HasPrefix(frames[0].Function, inside) {
		frames = frames[1:]
	}
	return frames
}
