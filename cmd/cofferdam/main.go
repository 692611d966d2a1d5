// Cofferdam keeps concurrent programs correct while part of them is racy, and helps
// to mend them. See cofferdam help.
//
// Each subcommand is a [command.Command] in a file of its own: its flags, its help and its work
// on the command line; what it does beyond that is in internal packages.
//
//	main.go       the list of subcommands, and which one the arguments name
//	help.go       help, package topics what it says about matters beside the subcommands
//	search.go     what explore and fix have in common, testflags.go the flags of go test among it
//	explore.go    explore, exploration.go the turns that tests take,
//	              allfailures.go what -all tells, tracefiles.go the files that it writes
//	replay.go     replay, which package debugging does for a debugger
//	binary.go     explore and replay of programs without source
//	fix.go        fix, fixing.go the failing tests one after the other, fixstalls.go those that fail
//	              when the machine stalls, fixreport.go what it prints, fixwrite.go what it writes
//	fixbinary.go  fix of programs without source
//	campaign.go   campaign, which is in package campaigns with findings and worker
//	report.go     report
//	protect.go    run, build and test; protectfindings.go what becomes of findings, asked_unix.go,
//	              asked_other.go the signal that asks for them
//	transactions.go  the same with -stm
//	marked.go     test -explore: the tests that package explore marks
//	goargs.go     the arguments of the go command
//
// guards is package guarding, trace package tracing, vet package vetting, version package versions, man and completion
// package manual; package publication has the forms in which other tools take what commands find.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/campaigns"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/guarding"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/manual"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/tracing"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/versions"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/vetting"
	"github.com/cofferdam-go/cofferdam/internal/console"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
)

func main() {
	if vetting.IsTool(os.Args[1:]) {
		vetting.Tool()
	}
	code := run(os.Args[1:], command.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	_ = scratch.RemoveAll() // what goroutines of a command that was interrupted have not removed yet
	os.Exit(code)
}

// commands returns the subcommands in the order in which help lists them. They are made
// anew for each call because their flags keep the values that were given.
func commands() []*command.Command {
	return []*command.Command{
		newExploreCommand(),
		newReplayCommand(),
		tracing.NewCommand(),
		newReportCommand(),
		newFixCommand(),
		guarding.NewCommand(),
		vetting.NewCommand(),
		newCampaignCommand(),
		campaigns.NewFindings(replayCommand),
		campaigns.NewWorker(),
		newRunCommand(),
		newBuildCommand(),
		newTestCommand(),
		manual.NewManCommand(commands),
		manual.NewCompletionCommand(commands),
		versions.NewCommand(),
	}
}

// run is the program; it returns its exit code.
func run(args []string, std command.Streams) int {
	err := dispatch(args, std)
	if err == nil {
		return 0
	}
	exit := &command.Exit{Code: command.ExitError, Err: err}
	errors.As(err, &exit)
	if exit.Err != nil {
		fmt.Fprintf(std.Stderr, "cofferdam: %v\n", exit.Err)
	}
	return exit.Code
}

// dispatch finds the subcommand that the arguments name, and has it do its work.
func dispatch(args []string, std command.Streams) error {
	all := commands()
	if len(args) == 0 {
		fmt.Fprint(std.Stderr, overview(all))
		return &command.Exit{Code: command.ExitError}
	}
	name, args := args[0], args[1:]
	if name == "help" || command.IsHelp(name) {
		return help(all, std.Stdout, args)
	}
	names := []string{"help"}
	for _, c := range all {
		if c.Name == name {
			c.All = all
			return c.Start(std, args)
		}
		names = append(names, c.Name)
	}
	return fmt.Errorf("there is no command %q%s; see cofferdam help", name, console.Nearest("", name, names))
}
