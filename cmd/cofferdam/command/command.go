// Package command is what a subcommand of cofferdam is: its name, its flags, its help and its
// work, and all that the subcommands have in common on the command line.
//
//	command.go    a subcommand, how its arguments are taken apart and its work is begun
//	usage.go      what help says of it
//	exit.go       exit codes
//	interrupt.go  what a signal does, and a closed pipe
//	settings.go   flags that the module's settings have
//
// A subcommand is declared in two steps, its flags and then its work:
//
//	c := command.New("version", "", "print the version")
//	full := c.Flags.Bool("m", false, "print the versions of modules too")
//	c.Work = func(ctx context.Context, inv *command.Invocation) error { ... *full ... }
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/console"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/settings"
)

// A Command is a subcommand.
type Command struct {
	Name     string
	operands string // what follows the flags in the usage line, such as [packages]
	Short    string // a line for the list of subcommands
	Long     string // what help says above the flags: what the subcommand does
	Notes    string // and below them: examples, exit codes
	Flags    *flag.FlagSet
	// builds says that the command builds programs, which takes long enough to tell about.
	builds bool
	// RunsProgram says that arguments after -- or -args are for the program that the command runs.
	RunsProgram bool
	// Declined are flags that a user may expect the command to have, with the reason why it has not.
	Declined map[string]string
	// Parse takes the arguments apart; nil means parseArguments.
	Parse func(c *Command, args []string) (*Arguments, error)
	Work  func(ctx context.Context, inv *Invocation) error
	// IgnoresSettings says that the module's settings mean nothing to the command.
	IgnoresSettings bool
	// All are all commands; the module's settings have tables for them.
	All []*Command
	// fromSettings are the flags that the module's settings have set.
	fromSettings map[string]bool
}

// New returns a command with the flags that every command has.
func New(name, operands, short string) *Command {
	c := &Command{Name: name, operands: operands, Short: short, Flags: flag.NewFlagSet(name, flag.ContinueOnError)}
	c.Flags.String("C", "", "change to `dir` before doing anything else")
	return c
}

// BuildsPrograms adds what all commands have that build programs, and returns the command.
func (c *Command) BuildsPrograms() *Command {
	c.builds = true
	c.Flags.Bool("q", false, "do not show progress")
	return c
}

// An Invocation is one use of a command.
type Invocation struct {
	Arguments
	// Stdout and Stderr are what the command writes to. They make way for the status, or
	// the status for them.
	Stdout, Stderr io.Writer
	// Inherited are the streams of the process, for a program that is run in its place.
	Inherited Streams
	// Environment is that of the process, likewise.
	Environment []string
	// Color says what stdout can show.
	Color   console.Stream
	Status  *console.Status // what is going on; nil if that is not to be told
	Signals *Signals
	Dir     string // what -C says
	// Settings are the module's, of which the command's flags are set already.
	Settings *settings.File
}

// Streams are the three that a process has.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Arguments are those of a command without its flags.
type Arguments struct {
	Operands []string
	// Program are those for the program that the command runs: the ones after -- or -args, and
	// flags of libraries.
	Program []string
}

// Start takes the arguments apart and does the work.
func (c *Command) Start(std Streams, args []string) error {
	parse := c.Parse
	if parse == nil {
		parse = parseArguments
	}
	taken, err := parse(c, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err := io.WriteString(std.Stdout, c.Help())
		return err
	case err != nil:
		return err
	}
	inv := &Invocation{Arguments: *taken, Inherited: std, Color: console.Detect(std.Stdout, os.Getenv), Dir: c.value("C")}
	if inv.Dir != "" {
		if err := os.Chdir(inv.Dir); err != nil {
			return fmt.Errorf("-C: %w", err)
		}
	}
	if inv.Settings, err = c.takeSettings(); err != nil {
		return err
	}
	if c.builds && c.value("q") != "true" {
		inv.Status = console.NewStatus(std.Stderr, console.Detect(std.Stderr, os.Getenv), "cofferdam: ")
		defer inv.Status.Close()
	}
	ctx, signals, stop := watchSignals(context.Background(), inv.Status.Writer(std.Stderr))
	defer stop()
	inv.Signals = signals
	inv.Environment = os.Environ()
	if c.builds {
		remove, err := keepGoTemporary()
		if err != nil {
			return err
		}
		defer remove()
	}
	inv.Stdout = inv.Status.Writer(&pipeWriter{std.Stdout, signals.cancel})
	inv.Stderr = inv.Status.Writer(std.Stderr)
	err = c.Work(ctx, inv)
	inv.Status.Close()
	return ended(context.Cause(ctx), err)
}

// keepGoTemporary has the go command put its temporary files into a directory of ours,
// unless the user wants them elsewhere: a go command that is interrupted while it lists
// packages, or killed, does not remove them itself.
func keepGoTemporary() (remove func(), err error) {
	const variable = "GOTMPDIR"
	if os.Getenv(variable) != "" {
		return func() {}, nil
	}
	dir, err := scratch.Dir()
	if err != nil {
		return nil, err
	}
	if err := os.Setenv(variable, dir); err != nil {
		return nil, errors.Join(err, scratch.Remove(dir))
	}
	return func() {
		os.Unsetenv(variable)
		scratch.Remove(dir)
	}, nil
}

// value is that of a flag.
func (c *Command) value(name string) string { return c.Flags.Lookup(name).Value.String() }

// Errorf returns an error about how the command was called.
func (c *Command) Errorf(format string, args ...any) error {
	return fmt.Errorf("%w; see cofferdam %s -help", fmt.Errorf(format, args...), c.Name)
}

// IsHelp reports whether an argument asks for help.
func IsHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// parseArguments takes arguments apart. Flags and operands come in any order, as they do
// for go test: cofferdam fix ./pkg -run TestX. What follows -- is no flag.
func parseArguments(c *Command, args []string) (*Arguments, error) {
	taken := &Arguments{}
	for len(args) > 0 {
		switch arg := args[0]; {
		case (arg == "--" || arg == "-args" || arg == "--args") && c.RunsProgram:
			taken.Program = append(taken.Program, args[1:]...)
			return taken, nil
		case arg == "--":
			taken.Operands = append(taken.Operands, args[1:]...)
			return taken, nil
		case !IsFlag(arg):
			taken.Operands, args = append(taken.Operands, arg), args[1:]
		case c.RunsProgram && isLibraryFlag(arg):
			n := 1
			if _, _, hasValue := SplitFlag(arg); !hasValue && len(args) > 1 && !IsFlag(args[1]) {
				n = 2 // as the go command takes flags that it does not know
			}
			taken.Program, args = append(taken.Program, args[:n]...), args[n:]
		default:
			n, err := c.SetFlag(args)
			if err != nil {
				return nil, err
			}
			args = args[n:]
		}
	}
	return taken, nil
}

// IsFlag reports whether an argument is a flag; a lone dash, which often stands for
// standard input, is none.
func IsFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// isLibraryFlag reports whether a flag is that of a library which the tests use, such as
// -testify.m, or of package testing itself, such as -test.v: go test hands them on.
func isLibraryFlag(arg string) bool {
	name, _, _ := SplitFlag(arg)
	library, _, dotted := strings.Cut(name, ".")
	return dotted && library != ""
}

// SplitFlag takes a flag apart. One dash and two are the same.
func SplitFlag(arg string) (name, value string, hasValue bool) {
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
}

// SetFlag sets the flag that the arguments begin with, and returns how many of them it
// takes, with its value.
func (c *Command) SetFlag(args []string) (n int, err error) {
	name, value, hasValue := SplitFlag(args[0])
	f := c.Flags.Lookup(name)
	n = 1
	switch {
	case IsHelp(args[0]):
		return 0, flag.ErrHelp
	case f == nil:
		return 0, c.unknownFlag(name)
	case hasValue:
	case takesNoValue(f):
		value = "true"
	case len(args) == 1:
		return 0, c.Errorf("-%s needs a value", name)
	default:
		n, value = 2, args[1]
	}
	if err := c.Flags.Set(f.Name, value); err != nil {
		if want := wanted(f); want != "" {
			err = errors.New(want)
		}
		return 0, c.Errorf("-%s %s: %w", name, value, err)
	}
	return n, nil
}

// unknownFlag is the error about a flag that the command does not have.
func (c *Command) unknownFlag(name string) error {
	if reason := c.Declined[name]; reason != "" {
		return c.Errorf("-%s: leave it out: %s", name, reason)
	}
	hint := console.Nearest("-", name, c.FlagNames())
	if c.RunsProgram && hint == "" {
		hint = "; flags for the tests or the program themselves follow -args"
	}
	return c.Errorf("there is no flag -%s%s", name, hint)
}

func (c *Command) FlagNames() []string {
	var names []string
	c.Flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// takesNoValue reports whether a flag can be given without a value.
func takesNoValue(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// wanted says what the value of a flag must be; "" if the flag's own error does.
func wanted(f *flag.Flag) string {
	getter, ok := f.Value.(flag.Getter)
	if !ok {
		return ""
	}
	switch getter.Get().(type) {
	case bool:
		return "give true or false"
	case int:
		return "give a whole number"
	case uint64:
		return "give a whole number, 0 or more"
	case float64:
		return "give a number"
	case time.Duration:
		return "give a time with its unit, such as 30s or 2m"
	}
	return ""
}

// Exclusive returns an error if more than one of some flags are given.
func (c *Command) Exclusive(names ...string) error {
	var given []string
	for _, name := range names {
		if c.given(name) {
			given = append(given, "-"+name)
		}
	}
	if len(given) > 1 {
		return c.Errorf("%s do not go together: give one of them", strings.Join(given, " and "))
	}
	return nil
}

// given reports whether a flag has another value than its default.
func (c *Command) given(name string) bool {
	f := c.Flags.Lookup(name)
	return f.Value.String() != f.DefValue
}

// Named reports whether a flag was named, be it with its default.
func (c *Command) Named(name string) (named bool) {
	c.Flags.Visit(func(f *flag.Flag) { named = named || f.Name == name })
	return named && !c.fromSettings[name]
}

// Excludes returns an error if one flag is given together with one of some others.
func (c *Command) Excludes(name string, others ...string) error {
	for _, other := range others {
		if err := c.Exclusive(name, other); err != nil {
			return err
		}
	}
	return nil
}
