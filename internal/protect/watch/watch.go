// Package watch is what a protected program links beside package tolerate: it tells
// at the start what is protected, and at the end, and when it is asked by a signal,
// what was found. Protected programs have it as cofferdamrt/protect/watch.
//
// A program that was started by cofferdam itself leaves the telling to it, and only
// writes its findings to a directory that the environment names, so that what a
// program found is known even if it crashed.
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
	onSignal(func() { _ = tolerate.WriteText(os.Stderr, tolerate.Findings()) })
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
	if watcher.file != "" {
		tolerate.OnFinding(func(f finding.Finding) {
			if n := f.History.Count; n&(n-1) == 0 { // more and more rarely
				write(false)
			}
		})
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
		err = errors.Join(tolerate.WriteJSON(f, tolerate.Findings()), f.Close())
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
	all := tolerate.Findings()
	if watcher.file != "" {
		write(true)
	}
	if watcher.quiet || len(all) == 0 {
		return code
	}
	_ = tolerate.WriteText(os.Stderr, all)
	if code == 0 && watcher.config.Strict {
		return 1
	}
	return code
}
