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
)

// A command is a subcommand.
type command struct {
	name     string
	operands string // what follows the flags in the usage line, such as [packages]
	short    string // a line for the list of subcommands
	long     string // what help says above the flags: what the subcommand does
	notes    string // and below them: examples, exit codes
	flags    *flag.FlagSet
	// runsProgram says that arguments after -- are for the program that the command runs.
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

// An invocation is one use of a command.
type invocation struct {
	arguments
	stdin          io.Reader
	stdout, stderr io.Writer
	dir            string // what -C says
}

// arguments are those of a command without its flags.
type arguments struct {
	operands []string
	// program are those for the program that the command runs: the ones after --.
	program []string
}

// dispatch finds the subcommand that the arguments name, and has it do its work.
func dispatch(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	all := commands()
	if len(args) == 0 {
		fmt.Fprint(stderr, overview(all))
		return &exitCode{code: exitError}
	}
	name, args := args[0], args[1:]
	if name == "help" || isHelp(name) {
		return help(all, stdout, args)
	}
	for _, c := range all {
		if c.name != name {
			continue
		}
		inv := &invocation{stdin: stdin, stdout: stdout, stderr: stderr}
		return c.start(inv, args)
	}
	names := []string{"help"}
	for _, c := range all {
		names = append(names, c.name)
	}
	return fmt.Errorf("there is no command %q%s; see cofferdam help", name, suggestion("", name, names))
}

// start takes the arguments apart and does the work.
func (c *command) start(inv *invocation, args []string) error {
	parse := c.parse
	if parse == nil {
		parse = parseArguments
	}
	taken, err := parse(c, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err := fmt.Fprint(inv.stdout, c.help())
		return err
	case err != nil:
		return err
	}
	inv.arguments = *taken
	if inv.dir = c.flags.Lookup("C").Value.String(); inv.dir != "" {
		if err := os.Chdir(inv.dir); err != nil {
			return fmt.Errorf("-C: %w", err)
		}
	}
	return c.work(context.Background(), inv)
}

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
		case arg == "--" && c.runsProgram:
			taken.program = args[1:]
			return taken, nil
		case arg == "--":
			taken.operands = append(taken.operands, args[1:]...)
			return taken, nil
		case !isFlag(arg):
			taken.operands, args = append(taken.operands, arg), args[1:]
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
		return 0, c.errorf("there is no flag -%s%s", name, suggestion("-", name, c.flagNames()))
	case hasValue:
	case takesNoValue(f):
		value = "true"
	case len(args) == 1:
		return 0, c.errorf("-%s needs a value", name)
	default:
		n, value = 2, args[1]
	}
	if err := f.Value.Set(value); err != nil {
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
		if f := c.flags.Lookup(name); f.Value.String() != f.DefValue {
			given = append(given, "-"+name)
		}
	}
	if len(given) > 1 {
		return c.errorf("%s do not go together: give one of them", strings.Join(given, " and "))
	}
	return nil
}
