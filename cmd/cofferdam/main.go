// Cofferdam keeps concurrent programs correct while part of them is racy, and helps
// to mend them. See cofferdam help.
//
// Each subcommand is a [command] in a file of its own: its flags, its help and its work
// on the command line; what it does beyond that is in internal packages.
//
//	main.go       the list of subcommands, exit codes
//	command.go    what a subcommand is, and how its arguments are taken apart
//	help.go       help, package topics what it says about matters beside the subcommands
//	version.go    version
//	search.go     what explore and fix have in common, testflags.go the flags of go test among it
//	explore.go    explore, exploration.go the turns that tests take,
//	              allfailures.go what -all tells, tracefiles.go the files that it writes
//	replay.go     replay
//	binary.go     explore and replay of programs without source
//	fix.go        fix, fixing.go the failing tests one after the other, fixreport.go what it prints,
//	              fixwrite.go what it writes
//	fixbinary.go  fix of programs without source
//	guards.go     guards, guardsreport.go what it prints
//	trace.go      trace, tracefilter.go its flags that choose events
//	protect.go    run, build and test; asked_unix.go, asked_other.go the signal that asks for findings
//	transactions.go  the same with -stm
//	goargs.go     the arguments of the go command
//	interrupt.go  what a signal does, and a closed pipe
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() { os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})) }

// Exit codes that all subcommands share; see package topics.
const (
	exitFound = 1
	exitError = 2
	// exitPartly is that nothing was found, but not everything was seen, and that is to count.
	exitPartly = 3
)

// An exitCode ends the program with a code, and with a message if err is not nil.
// Any other error ends it with exitError.
type exitCode struct {
	code int
	err  error
}

func (e *exitCode) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitCode) Unwrap() error { return e.err }

// commands returns the subcommands in the order in which help lists them. They are made
// anew for each call because their flags keep the values that were given.
func commands() []*command {
	return []*command{
		newExploreCommand(),
		newReplayCommand(),
		newTraceCommand(),
		newFixCommand(),
		newGuardsCommand(),
		newRunCommand(),
		newBuildCommand(),
		newTestCommand(),
		newVersionCommand(),
	}
}

// run is the program; it returns its exit code.
func run(args []string, std streams) int {
	err := dispatch(args, std)
	if err == nil {
		return 0
	}
	exit := &exitCode{exitError, err}
	errors.As(err, &exit)
	if exit.err != nil {
		fmt.Fprintf(std.stderr, "cofferdam: %v\n", exit.err)
	}
	return exit.code
}
