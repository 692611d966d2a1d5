// Package watch is what a protected program links beside packages tolerate and aside:
// it tells at the start what is protected, and at the end, and when it is asked by a
// signal, what was found. Protected programs have it as cofferdamrt/protect/watch.
//
// A program that was started by cofferdam itself leaves the telling to it, and only
// writes its findings to a directory that the environment names, so that what a
// program found is known even if it crashed.
//
// signal_unix.go and signal_other.go say which signal asks.
package watch

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/tolerate"
)

// Directory is the environment variable that names the directory to write to.
const Directory = "COFFERDAM_FINDINGS"

// A Config is what was decided when the program was built.
type Config struct {
	Summary  string // for the start
	Findings string // a file for findings
	Strict   bool   // a program with findings fails
}

// A Source is where findings come from.
type Source struct {
	Findings  func() []finding.Finding
	OnFinding func(func(finding.Finding))
	// Starts says that OnFinding starts a goroutine.
	Starts bool
	// Weakness says what about protection was found missing at run time, "" if
	// there is nothing.
	Weakness func() string
	told     string
}

// sources are where findings come from. It is complete when main begins.
var sources = []Source{{Findings: tolerate.Findings, OnFinding: tolerate.OnFinding, Weakness: func() string { return "" }}}

// Also adds a source.
func Also(s Source) { sources = append(sources, s) }

// findings returns those of all sources.
func findings() []finding.Finding {
	var all []finding.Finding
	for _, s := range sources {
		all = append(all, s.Findings()...)
	}
	return all
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

var watcher struct {
	config Config
	quiet  bool

	mu    sync.Mutex // held to write
	file  string
	ended bool // nothing is written any more
}

// Start begins, and returns what to call when the program ends. It is for package
// main.
func Start(c Config) (end func()) {
	begin(c)
	if !watcher.quiet {
		fmt.Fprint(os.Stderr, c.Summary)
	}
	weaknesses()
	subscribe(true)
	onSignal(func() { _ = finding.WriteText(os.Stderr, findings()) })
	return func() {
		if Exit(0) == 0 {
			return
		}
		// Only here does it matter whether the program returns or panics: to look
		// changes what a panic prints.
		if cause := recover(); cause != nil {
			panic(cause)
		}
		os.Exit(1)
	}
}

// Test begins in a test binary, and returns what to call when it ends. It starts no
// goroutine, because tests look for what is left running.
func Test() (end func()) {
	begin(Config{})
	return func() { Exit(0) }
}

func begin(c Config) {
	dir := os.Getenv(Directory)
	watcher.mu.Lock()
	watcher.config, watcher.file, watcher.quiet, watcher.ended = c, c.Findings, dir != "", false
	if dir != "" {
		watcher.file = filepath.Join(dir, fmt.Sprintf("%d.json", os.Getpid()))
	}
	watcher.mu.Unlock()
	if dir != "" {
		write(false)
	}
	tolerate.Configure(tolerate.Config{Logger: slog.New(slog.DiscardHandler)})
	subscribe(false)
}

// subscribe has new findings written, those of the sources that start a goroutine for it or
// those of the sources that do not.
func subscribe(starts bool) {
	if watcher.file == "" {
		return
	}
	for _, s := range sources {
		if s.Starts == starts {
			s.OnFinding(func(f finding.Finding) {
				if n := f.History.Count; n&(n-1) == 0 { // more and more rarely
					write(false)
				}
			})
		}
	}
}

// write writes all findings. The program may end in the middle of it, so the file is
// exchanged as a whole.
func write(last bool) {
	watcher.mu.Lock()
	defer watcher.mu.Unlock()
	if watcher.ended {
		return
	}
	watcher.ended = last
	f, err := os.Create(watcher.file + ".new")
	if err == nil {
		err = errors.Join(finding.WriteJSON(f, findings()), f.Close())
	}
	if err == nil {
		err = os.Rename(f.Name(), watcher.file)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "cofferdam: writing findings: %v\n", err)
	}
}

// Exit tells what was found. It returns the code to exit with.
func Exit(code int) int {
	all := findings()
	weaknesses()
	if watcher.file != "" {
		write(true)
	}
	if watcher.quiet || len(all) == 0 {
		return code
	}
	_ = finding.WriteText(os.Stderr, all)
	if code == 0 && watcher.config.Strict {
		return 1
	}
	return code
}
