package main

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
)

// A command is a subcommand.
type command struct {
	name     string
	operands string // what follows the flags in the usage line, such as [packages]
	short    string // a line for the list of subcommands
	long     string // what help says above the flags: what the subcommand does
	notes    string // and below them: examples, exit codes
	flags    *flag.FlagSet
	// builds says that the command builds programs, which takes long enough to tell about.
	builds bool
	// runsProgram says that arguments after -- or -args are for the program that the command runs.
	runsProgram bool
	// parse takes the arguments apart; nil means parseArguments.
	parse func(c *command, args []string) (*arguments, error)
	work  func(ctx context.Context, inv *invocation) error
}

// newCommand returns a command with the flags that every command has.
func newCommand(name, operands, short string) *command {
	c := &command{name: name, operands: operands, short: short, flags: flag.NewFlagSet(name, flag.ContinueOnError)}
	c.flags.String("C", "", "change to `dir` before doing anything else")
	return c
}

// buildsPrograms adds what all commands have that build programs, and returns the command.
func (c *command) buildsPrograms() *command {
	c.builds = true
	c.flags.Bool("q", false, "do not tell what is going on")
	return c
}

// An invocation is one use of a command.
type invocation struct {
	arguments
	// stdout and stderr are what the command writes to. They make way for the status, or
	// the status for them.
	stdout, stderr io.Writer
	// inherited are the streams of the process, for a program that is run in its place.
	inherited streams
	// environment is that of the process, likewise.
	environment []string
	// color says what stdout can show.
	color   console.Stream
	status  *console.Status // what is going on; nil if that is not to be told
	signals *signals
	dir     string // what -C says
}

// streams are the three that a process has.
type streams struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// arguments are those of a command without its flags.
type arguments struct {
	operands []string
	// program are those for the program that the command runs: the ones after -- or -args, and
	// flags of libraries.
	program []string
}

// dispatch finds the subcommand that the arguments name, and has it do its work.
func dispatch(args []string, std streams) error {
	all := commands()
	if len(args) == 0 {
		fmt.Fprint(std.stderr, overview(all))
		return &exitCode{code: exitError}
	}
	name, args := args[0], args[1:]
	if name == "help" || isHelp(name) {
		return help(all, std.stdout, args)
	}
	names := []string{"help"}
	for _, c := range all {
		if c.name == name {
			return c.start(std, args)
		}
		names = append(names, c.name)
	}
	return fmt.Errorf("there is no command %q%s; see cofferdam help", name, console.Nearest("", name, names))
}

// start takes the arguments apart and does the work.
func (c *command) start(std streams, args []string) error {
	parse := c.parse
	if parse == nil {
		parse = parseArguments
	}
	taken, err := parse(c, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err := io.WriteString(std.stdout, c.help())
		return err
	case err != nil:
		return err
	}
	inv := &invocation{arguments: *taken, inherited: std, color: console.Detect(std.stdout, os.Getenv), dir: c.value("C")}
	if inv.dir != "" {
		if err := os.Chdir(inv.dir); err != nil {
			return fmt.Errorf("-C: %w", err)
		}
	}
	if c.builds && c.value("q") != "true" {
		inv.status = console.NewStatus(std.stderr, console.Detect(std.stderr, os.Getenv), "cofferdam: ")
		defer inv.status.Close()
	}
	ctx, signals, stop := watchSignals(context.Background(), inv.status.Writer(std.stderr))
	defer stop()
	inv.signals = signals
	inv.environment = os.Environ()
	if c.builds {
		remove, err := keepGoTemporary()
		if err != nil {
			return err
		}
		defer remove()
	}
	inv.stdout = inv.status.Writer(&pipeWriter{std.stdout, signals.cancel})
	inv.stderr = inv.status.Writer(std.stderr)
	err = c.work(ctx, inv)
	inv.status.Close()
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
func (c *command) value(name string) string { return c.flags.Lookup(name).Value.String() }

// errorf returns an error about how the command was called.
func (c *command) errorf(format string, args ...any) error {
	return fmt.Errorf("%w; see cofferdam %s -help", fmt.Errorf(format, args...), c.name)
}

// isHelp reports whether an argument asks for help.
func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// parseArguments takes arguments apart. Flags and operands come in any order, as they do
// for go test: cofferdam fix ./pkg -run TestX. What follows -- is no flag.
func parseArguments(c *command, args []string) (*arguments, error) {
	taken := &arguments{}
	for len(args) > 0 {
		switch arg := args[0]; {
		case (arg == "--" || arg == "-args" || arg == "--args") && c.runsProgram:
			taken.program = append(taken.program, args[1:]...)
			return taken, nil
		case arg == "--":
			taken.operands = append(taken.operands, args[1:]...)
			return taken, nil
		case !isFlag(arg):
			taken.operands, args = append(taken.operands, arg), args[1:]
		case c.runsProgram && isLibraryFlag(arg):
			n := 1
			if _, _, hasValue := splitFlag(arg); !hasValue && len(args) > 1 && !isFlag(args[1]) {
				n = 2 // as the go command takes flags that it does not know
			}
			taken.program, args = append(taken.program, args[:n]...), args[n:]
		default:
			n, err := c.setFlag(args)
			if err != nil {
				return nil, err
			}
			args = args[n:]
		}
	}
	return taken, nil
}

// isFlag reports whether an argument is a flag; a lone dash, which often stands for
// standard input, is none.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// isLibraryFlag reports whether a flag is that of a library which the tests use, such as
// -testify.m, or of package testing itself, such as -test.v: go test hands them on.
func isLibraryFlag(arg string) bool {
	name, _, _ := splitFlag(arg)
	library, _, dotted := strings.Cut(name, ".")
	return dotted && library != ""
}

// splitFlag takes a flag apart. One dash and two are the same.
func splitFlag(arg string) (name, value string, hasValue bool) {
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
}

// setFlag sets the flag that the arguments begin with, and returns how many of them it
// takes, with its value.
func (c *command) setFlag(args []string) (n int, err error) {
	name, value, hasValue := splitFlag(args[0])
	f := c.flags.Lookup(name)
	n = 1
	switch {
	case isHelp(args[0]):
		return 0, flag.ErrHelp
	case f == nil:
		return 0, c.unknownFlag(name)
	case hasValue:
	case takesNoValue(f):
		value = "true"
	case len(args) == 1:
		return 0, c.errorf("-%s needs a value", name)
	default:
		n, value = 2, args[1]
	}
	if err := c.flags.Set(f.Name, value); err != nil {
		if want := wanted(f); want != "" {
			err = errors.New(want)
		}
		return 0, c.errorf("-%s %s: %w", name, value, err)
	}
	return n, nil
}

func (c *command) flagNames() []string {
	var names []string
	c.flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
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

// exclusive returns an error if more than one of some flags are given.
func (c *command) exclusive(names ...string) error {
	var given []string
	for _, name := range names {
		if c.given(name) {
			given = append(given, "-"+name)
		}
	}
	if len(given) > 1 {
		return c.errorf("%s do not go together: give one of them", strings.Join(given, " and "))
	}
	return nil
}

// given reports whether a flag has another value than its default.
func (c *command) given(name string) bool {
	f := c.flags.Lookup(name)
	return f.Value.String() != f.DefValue
}

// named reports whether a flag was named, be it with its default.
func (c *command) named(name string) (named bool) {
	c.flags.Visit(func(f *flag.Flag) { named = named || f.Name == name })
	return named
}

// excludes returns an error if one flag is given together with one of some others.
func (c *command) excludes(name string, others ...string) error {
	for _, other := range others {
		if err := c.exclusive(name, other); err != nil {
			return err
		}
	}
	return nil
}
