// Cofferdam keeps concurrent programs correct while part of them is racy, and helps
// to mend them. Each subcommand has its file; see cofferdam help.
//
// It exits with 0 if all is well, with 1 if a subcommand that looks for something
// has found it, and with 2 if it could not do its work.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// An exitError ends the program with a code, and with a message if err is not nil.
// Any other error ends it with code 2.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func init() {
	cobra.AddTemplateFunc("oneDash", func(usages string) string {
		return strings.ReplaceAll(strings.ReplaceAll(usages, "-h, --help", "    --help"), " --", "  -")
	})
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "cofferdam",
		Short:         "Keep concurrent Go programs correct, and mend them",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	// With one dash, as everywhere in the documentation; see longFlags.
	root.SetUsageTemplate(strings.NewReplacer(".FlagUsages", ".FlagUsages | oneDash", " --help", " -help").Replace(root.UsageTemplate()))
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s -help", err, c.CommandPath())
	})
	root.AddCommand(
		newRunCommand(),
		newBuildCommand(),
		newTestCommand(),
	)
	for _, c := range []*cobra.Command{newGuardsCommand(), newTraceCommand(), newExploreCommand(), newFixCommand(), newReplayCommand()} {
		c.Flags().String("C", "", "change to `dir` before doing anything else")
		c.PreRunE = changeDirectory
		root.AddCommand(c)
	}
	return root
}

// changeDirectory does what -C asks for, as the go command does.
func changeDirectory(cmd *cobra.Command, _ []string) error {
	dir := cmd.Flag("C").Value.String()
	if dir == "" {
		return nil
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("-C: %w", err)
	}
	return nil
}

func run(args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(longFlags(root, args))
	err := root.Execute()
	if err == nil {
		return 0
	}
	exit := &exitError{2, err}
	errors.As(err, &exit)
	if exit.err != nil {
		fmt.Fprintf(stderr, "cofferdam: %v\n", exit.err)
	}
	return exit.code
}

// longFlags writes flags as cobra wants them: with -name as the go command has them,
// cobra would take each letter for a flag.
func longFlags(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil {
		return args
	}
	cmd.InitDefaultHelpFlag()
	out := make([]string, 0, len(args))
	for i, a := range args {
		if a == "--" {
			return append(out, args[i:]...)
		}
		// Longer names that nobody knows too, so that the error names them.
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(name, "-") && (len(name) > 1 && unicode.IsLetter(rune(name[0])) || cmd.Flags().Lookup(name) != nil) && !cmd.DisableFlagParsing {
			a = "-" + a
		}
		out = append(out, a)
	}
	return out
}
