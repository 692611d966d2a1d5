package protect

import (
	"path/filepath"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/overlay"
)

// addEnds adds what package watch needs to know of the end of a program: files in packages of
// the standard library, because only these may import the one that has exit hooks, and see which
// part of the program wants a signal.
func addEnds(o *overlay.Overlay) {
	o.Text[o.Std("cofferdamrt/protect/watch/exit.go")] = exitText
	o.Text[o.Std("cofferdamrt/protect/watch/alone_unix.go")] = aloneText
	o.Text[o.Std("os/signal/cofferdam.go")] = signalText
}

// exitText has the runtime call package watch when the program exits. The hook that was
// added last runs first.
const exitText = `package watch

import "internal/runtime/exithook"

func init() {
	atExit = func(always, success func()) {
		exithook.Add(exithook.Hook{F: success})
		exithook.Add(exithook.Hook{F: always, RunOnFailure: true})
	}
}
`

const aloneText = `//go:build unix

package watch

import "os/signal"

func init() { onlyOurs = signal.CofferdamOnly }
`

// signalText adds a question to package os/signal that it does not answer otherwise.
const signalText = `package signal

import "os"

// CofferdamOnly reports whether a signal is for nobody but a channel.
func CofferdamOnly(c chan<- os.Signal, s os.Signal) bool {
	number := signum(s)
	handlers.Lock()
	defer handlers.Unlock()
	for other, h := range handlers.m {
		if other != c && h.want(number) {
			return false
		}
	}
	return true
}
`

const (
	cofferdamPath = "github.com/cofferdam-go/cofferdam/"
	monitorPath   = cofferdamPath + "monitor"
)

// addMonitored has package monitor show what a protected program finds, if the program imports
// that package: it knows packages isolate and tolerate of the module, and not those that were
// laid over the standard library.
func addMonitored(o *overlay.Overlay, p *packages.Package) {
	if len(p.GoFiles) > 0 {
		o.Add(p, filepath.Join(filepath.Dir(p.GoFiles[0]), "cofferdam_protected.go"), monitoredText)
	}
}

const monitoredText = `package monitor

import (
	"bytes"

	rtfinding "cofferdamrt/finding"
	rtisolate "cofferdamrt/isolate"
	rttolerate "cofferdamrt/tolerate"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/isolate"
)

func init() {
	sources = append(sources, func() []finding.Finding {
		var text bytes.Buffer
		others, _ := rtfinding.Published()
		_ = rtfinding.WriteJSON(&text, append(append(rtisolate.Findings(), rttolerate.Findings()...), others...)) // to memory
		all, _ := finding.ReadJSON(&text) // what was written there
		return all
	})
	statistics = append(statistics, func(s *stats) {
		s.addIsolate(isolate.Stats(rtisolate.ReadStats()))
		_, dropped := rtfinding.Published()
		s.dropped += rttolerate.ReadStats().OtherFindings + dropped
	})
}
`
