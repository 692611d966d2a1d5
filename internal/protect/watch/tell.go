package watch

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// record writes a finding when it is found, and tells what is new in one line. Each is written
// by one call, so that there is nothing to lose in what comes next.
func record(f finding.Finding) {
	if watcher.journal != nil {
		_ = complain(watcher.journal.Note(f))
	}
	if watcher.quiet || watcher.Log || f.Count > 1 || watcher.baseline.Known(&f) {
		return
	}
	fmt.Fprintln(os.Stderr, "cofferdam:", f.Headline())
}

var (
	telling sync.Mutex // held to tell
	told    bool       // the program has ended
)

// Tell tells what was found, once, when the program ends. It returns what is new.
func Tell() []finding.Finding {
	telling.Lock()
	defer telling.Unlock()
	if told {
		return nil
	}
	told = true
	return tellAll()
}

// tellAll writes all that was found, and prints what is new.
func tellAll() []finding.Finding {
	all := Findings()
	weaknesses()
	if watcher.journal != nil {
		_ = complain(watcher.journal.Flush(all))
	}
	fresh := watcher.baseline.New(all)
	if watcher.quiet {
		return fresh
	}
	var text bytes.Buffer
	_ = finding.WriteText(&text, fresh) // to memory
	if known := len(all) - len(fresh); known > 0 {
		fmt.Fprintf(&text, "cofferdam: %s\n", finding.Suppressed(known))
	}
	_, _ = os.Stderr.Write(text.Bytes()) // there is nowhere to say that it failed
	return fresh
}

// failIfStrict ends a program that would succeed although it must not. The exit hooks of the
// runtime may not call os.Exit.
func failIfStrict() {
	if watcher.Strict && !watcher.quiet && len(watcher.baseline.New(Findings())) > 0 {
		syscall.Exit(1)
	}
}

// weaknesses prints what is missing and was not yet said.
func weaknesses() {
	for i := range sources {
		s := &sources[i]
		if w := s.Weakness(); w != s.told {
			s.told = w
			fmt.Fprintln(os.Stderr, "cofferdam:", w)
		}
	}
}
