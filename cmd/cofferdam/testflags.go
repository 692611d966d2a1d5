package main

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
)

// testFlags are the flags of go test that decide which tests run and what they see. They
// are handed to the test binary, whose package testing takes them as it always does: that
// is how -run A/sub selects what go test would select.
type testFlags struct {
	run, skip       string
	short           bool
	count, parallel int
	cpu             string
	timeout         time.Duration
}

// testFlagNames are the names of testFlags. None of them makes sense for a main program.
var testFlagNames = []string{"run", "skip", "short", "count", "parallel", "cpu", "timeout"}

// goTestTimeout is how long tests may take by default; see (*testing.T).Deadline.
const goTestTimeout = 10 * time.Minute

func (f *testFlags) declare(fl *flag.FlagSet) {
	fl.StringVar(&f.run, "run", "", "explore the tests whose names match this `regexp`; after a slash, the subtests to run in them")
	fl.StringVar(&f.skip, "skip", "", "leave out the tests and subtests whose names match this `regexp`")
	fl.BoolVar(&f.short, "short", false, "tell the tests to be short, as go test does: testing.Short is true")
	fl.IntVar(&f.count, "count", 1, "run a test this many times one after the other, in each schedule")
	fl.IntVar(&f.parallel, "parallel", 4, "let at most this many tests that call t.Parallel run at the same time")
	fl.StringVar(&f.cpu, "cpu", "", "the values of GOMAXPROCS that a test is run with one after the other, as a `list` such as 1,4 (default 4, on any machine)")
	fl.DurationVar(&f.timeout, "timeout", goTestTimeout, "the deadline that tests see, on their own clock; how long to look is -budget")
}

// check refuses values that package testing would refuse, or take for something else, once
// everything is built.
func (f *testFlags) check() error {
	switch {
	case f.count < 1:
		return fmt.Errorf("-count %d: give 1 or more", f.count)
	case f.parallel < 1:
		return fmt.Errorf("-parallel %d: give 1 or more", f.parallel)
	case f.timeout < 0:
		return fmt.Errorf("-timeout %v: give 0, for none, or more", f.timeout)
	}
	for _, n := range strings.Split(f.cpu, ",") {
		if procs, err := strconv.Atoi(strings.TrimSpace(n)); f.cpu != "" && (err != nil || procs < 1) {
			return fmt.Errorf("-cpu %s: give whole numbers, 1 or more, with commas between them", f.cpu)
		}
	}
	return errors.Join(checkSelection("run", f.run), checkSelection("skip", f.skip))
}

// checkSelection refuses a pattern that package testing would refuse.
func checkSelection(name, pattern string) error {
	for _, elements := range explore.SplitSelection(pattern) {
		for _, element := range elements {
			if _, err := regexp.Compile(element); err != nil {
				return fmt.Errorf("-%s %s: %w", name, pattern, err)
			}
		}
	}
	return nil
}

// arguments are those of the test binary. What is as by default is left out, so that a trace
// tells what was not.
func (f *testFlags) arguments() []string {
	var args []string
	add := func(given bool, name string, value any) {
		if given {
			args = append(args, fmt.Sprintf("-test.%s=%v", name, value))
		}
	}
	add(f.run != "", "run", f.run)
	add(f.skip != "", "skip", f.skip)
	add(f.short, "short", true)
	add(f.count != 1, "count", f.count)
	add(f.parallel != 4, "parallel", f.parallel)
	add(f.cpu != "", "cpu", f.cpu)
	add(f.timeout != goTestTimeout, "timeout", f.timeout)
	return args
}

// declined are flags of go test that explore and fix do without, with the reason.
var declined = map[string]string{
	"race":             "data races are looked for anyway",
	"bench":            noBenchmarks,
	"benchmem":         noBenchmarks,
	"benchtime":        noBenchmarks,
	"fuzz":             noFuzzing,
	"fuzztime":         noFuzzing,
	"fuzzminimizetime": noFuzzing,
	"cover":            noCoverage,
	"covermode":        noCoverage,
	"coverpkg":         noCoverage,
	"coverprofile":     noCoverage,
	"vet":              "rewritten sources are not vetted",
	"shuffle":          "each test is explored by itself, and parallel ones in every order",
}

const (
	noBenchmarks = "benchmarks are not explored"
	noFuzzing    = "fuzz tests are explored with their seeds"
	noCoverage   = "the go command ignores rewritten sources when it measures coverage"
)
