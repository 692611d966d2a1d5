// Package watch is what a protected program links beside packages tolerate and aside: it
// tells at the start what is protected, when something is found that is new, and at the end,
// and when it is asked by a signal, all that was found. Protected programs have it as
// cofferdamrt/protect/watch.
//
// A program that was started by cofferdam itself leaves the telling to it, and only
// writes its findings to a directory that the environment names, so that what a
// program found is known even if it crashed.
//
// # However a program ends
//
//	main returns, os.Exit, log.Fatal     an exit hook of the runtime
//	main panics                          a deferred call in main
//	SIGTERM, SIGINT, SIGHUP              a handler, if the program has none of its own; then the
//	                                     program dies of the signal, as it would have
//	another goroutine panics, SIGKILL,   nothing can run. What was new has been told in one line when
//	a fatal error of the runtime         it was found, and the file has its line since then
//
// Exit hooks, and whether a program handles a signal, are known to the standard library alone.
// What asks it stands in a file that only protected programs have: package protect adds it,
// and it sets atExit and onlyOurs.
//
//	watch.go        what is watched, and the beginning
//	tell.go         what is told, and when
//	signal_unix.go  signals that ask, and those that end a program; signal_other.go has none
package watch

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/tolerate"
)

// Directory is the environment variable that names the directory to write to.
const Directory = "COFFERDAM_FINDINGS"

// A Config is what was decided when the program was built.
type Config struct {
	Summary  string // for the start
	Findings string // a file for findings
	Limit    int64  // of bytes of that file and those that it was renamed to; 0 is none
	Baseline string // findings that are known, as a finding.Baseline writes them
	Log      bool   // new findings go to slog.Default
	Strict   bool   // a program with findings that are not known fails
}

// A Source is where findings come from.
type Source struct {
	Findings func() []finding.Finding
	// Configure sets where the source logs what is new, and what records all.
	Configure func(*slog.Logger, func(finding.Finding))
	// Start starts a goroutine without which nothing is recorded until Findings is called;
	// nil if none is needed.
	Start func()
	// Weakness says what about protection was found missing at run time, "" if
	// there is nothing.
	Weakness func() string
	told     string
}

// sources are where findings come from. It is complete when main begins.
var sources = []Source{{
	Findings: tolerate.Findings,
	Configure: func(l *slog.Logger, record func(finding.Finding)) {
		tolerate.Configure(tolerate.Config{Logger: l, Record: record})
	},
	Weakness: func() string { return "" },
}}

// Also adds a source.
func Also(s Source) { sources = append(sources, s) }

// Findings returns those of all sources.
func Findings() []finding.Finding {
	var all []finding.Finding
	for _, s := range sources {
		all = append(all, s.Findings()...)
	}
	return all
}

// watcher is what there is to do. It does not change after the beginning.
var watcher struct {
	Config
	quiet    bool // cofferdam tells
	journal  *finding.Journal
	baseline *finding.Baseline
}

// atExit has functions called when the program exits: always, then, if it succeeds, the
// other.
var atExit func(always, success func())

// Start begins, and returns what to call when main ends. It is for package main.
func Start(c Config) (end func()) {
	begin(c)
	if !watcher.quiet {
		fmt.Fprint(os.Stderr, c.Summary)
		onSignals()
	}
	weaknesses()
	for _, s := range sources {
		if s.Start != nil {
			s.Start()
		}
	}
	return func() { Tell() }
}

// Test begins in a test binary, and returns what to call when it ends. It starts no
// goroutine, because tests look for what is left running.
func Test() (end func()) {
	begin(Config{})
	return func() { Tell() }
}

func begin(c Config) {
	watcher.Config = c
	path, limit := c.Findings, c.Limit
	if dir := os.Getenv(Directory); dir != "" {
		watcher.quiet = true
		path, limit = filepath.Join(dir, fmt.Sprintf("%d.json", os.Getpid())), 0
	}
	if path != "" {
		j := &finding.Journal{Path: path, Limit: limit}
		if err := j.Open(); complain(err) == nil {
			watcher.journal = j
		}
	}
	baseline, err := finding.ReadBaseline(strings.NewReader(c.Baseline))
	if err != nil {
		panic("watch: " + err.Error()) // cofferdam wrote it
	}
	watcher.baseline = baseline
	logger := slog.New(slog.DiscardHandler)
	if c.Log && !watcher.quiet {
		logger = nil
	}
	for _, s := range sources {
		s.Configure(logger, record)
	}
	if atExit != nil {
		atExit(func() { Tell() }, failIfStrict)
	}
}

// complain prints an error, and returns it.
func complain(err error) error {
	if err != nil {
		fmt.Fprintln(os.Stderr, "cofferdam:", err)
	}
	return err
}
