// Check runs everything that must pass before a change lands:
//
//	go run ./internal/check              all steps
//	go run ./internal/check vet test     these steps
//	go run ./internal/check -slowest 20  the slowest tests are told, too
//
// It builds, type-checks for other platforms, checks the formatting, vets, runs staticcheck, the tests, and the tests
// under the race detector, of this module and of bench. The first step that fails ends
// it. It needs Go, a C compiler for the race detector, and Chromium for the tests of reports; where
// one of these two is missing, it says what was not checked.
//
// steps.go has the steps, platforms.go that of the other platforms, browser.go looks for a browser, debugger.go
// tests what a debugger is needed for, install.go installs the command from a tag, golangci.go builds
// golangci-lint with the plugin, tests.go makes lines for people of what go test says.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := &check{stdout: stdout, stderr: stderr}
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: go run ./internal/check [flags] [step ...]\n\nSteps, in their order: %s\n\n", strings.Join(stepNames(), " "))
		flags.PrintDefaults()
	}
	flags.IntVar(&c.slowest, "slowest", 0, "tell so many of the slowest `tests`")
	flags.DurationVar(&c.timeout, "timeout", 20*time.Minute, "how long the tests of a package may take until one of them is taken to hang, on a machine however busy")
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2
	}
	chosen, err := choose(flags.Args())
	if err != nil {
		fmt.Fprintln(stderr, "check:", err)
		return 2
	}
	begun := time.Now()
	for _, s := range chosen {
		start := time.Now()
		fmt.Fprintf(stdout, "== %s: %s\n", s.name, s.about)
		if err := s.run(ctx, c); err != nil {
			fmt.Fprintf(stderr, "check: %s failed after %.1fs: %v\n", s.name, time.Since(start).Seconds(), err)
			return 1
		}
		fmt.Fprintf(stdout, "== %s: ok, %.1fs\n", s.name, time.Since(start).Seconds())
	}
	fmt.Fprintf(stdout, "== all: ok, %.1fs\n", time.Since(begun).Seconds())
	return 0
}

// choose returns the steps of these names, in the order of the steps; all but those that have to
// be named if there is no name.
func choose(names []string) ([]step, error) {
	for _, name := range names {
		if !slices.Contains(stepNames(), name) {
			return nil, fmt.Errorf("there is no step %q; there are %s", name, strings.Join(stepNames(), ", "))
		}
	}
	var chosen []step
	for _, s := range steps {
		if len(names) == 0 && !s.byName || slices.Contains(names, s.name) {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}

func stepNames() []string {
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}
