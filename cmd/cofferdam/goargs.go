package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/console"
	"github.com/cofferdam-go/cofferdam/internal/protect/rule"
)

// goArguments are what run, build and test pass on to the go command.
type goArguments struct {
	// pass are flags, packages and what follows them, in their order and without the flags
	// that are Cofferdam's own.
	pass []string
	// patterns are the packages, or the files of one.
	patterns []string
	// load are the flags that decide what packages are made of.
	load []string
	// race says that they ask for the race detector.
	race bool
	// listEnded says that the list of packages has ended: arguments that are no flags are
	// the test's.
	listEnded bool
}

// The flags of go build, which go run and go test have too, and those that go test has
// beside them; by whether they need a value.
var (
	goBuildAlone = []string{"a", "n", "race", "msan", "asan", "v", "work", "x", "linkshared", "modcacherw", "trimpath", "buildvcs", "json", "cover"}
	goBuildValue = []string{
		"p", "asmflags", "buildmode", "compiler", "gccgoflags", "gcflags", "installsuffix", "ldflags", "mod", "modfile",
		"overlay", "pgo", "pkgdir", "tags", "toolexec", "covermode", "coverpkg", "o", "exec",
	}
	goTestAlone = []string{"c", "benchmem", "short", "failfast", "fullpath", "artifacts"}
	goTestValue = []string{
		"bench", "benchtime", "blockprofile", "blockprofilerate", "count", "coverprofile", "cpu", "cpuprofile", "fuzz", "fuzztime",
		"fuzzminimizetime", "list", "memprofile", "memprofilerate", "mutexprofile", "mutexprofilefraction", "outputdir",
		"parallel", "run", "shuffle", "skip", "timeout", "trace", "vet",
	}
)

// loading are the flags that decide what packages are made of.
var loading = []string{"tags", "mod", "modfile", "modcacherw", "compiler"}

// parseGo takes the arguments of run, build and test apart, as the go command does: flags
// end at the first argument that is none, and what follows the package of go run is the
// program's. Go test looks for flags behind the packages too, and hands flags that it
// does not know to the test.
func (g *goArguments) parseGo(c *command.Command, args []string) error {
	for len(args) > 0 {
		switch arg := args[0]; {
		case c.Name == "test" && (arg == "--" || arg == "-args" || arg == "--args" || !command.IsFlag(arg) && g.listEnded):
			g.pass = append(g.pass, args...) // all for the test
			return nil
		case arg == "--":
			return g.operands(c, args[1:])
		case !command.IsFlag(arg) && c.Name == "test":
			for len(args) > 0 && !command.IsFlag(args[0]) {
				g.patterns, g.pass, args = append(g.patterns, args[0]), append(g.pass, args[0]), args[1:]
			}
			g.listEnded = true
		case !command.IsFlag(arg):
			return g.operands(c, args)
		default:
			n, err := g.flag(c, args)
			if err != nil {
				return err
			}
			args = args[n:]
		}
	}
	return g.operands(c, nil)
}

// operands takes the arguments behind the flags of go run and go build.
func (g *goArguments) operands(c *command.Command, args []string) error {
	g.pass = append(g.pass, args...)
	switch {
	case c.Name == "run" && len(args) == 0:
		return c.Errorf("no package to run")
	case c.Name == "run":
		n := 1
		for n < len(args) && strings.HasSuffix(args[0], ".go") && strings.HasSuffix(args[n], ".go") {
			n++
		}
		args = args[:n]
	}
	for _, a := range args {
		if command.IsFlag(a) {
			return c.Errorf("%s follows the packages: flags come before them", a)
		}
	}
	g.patterns = append(g.patterns, args...)
	return nil
}

// flag takes the flag that the arguments begin with, which is Cofferdam's own or one of
// the go command, and returns how many of them it takes.
func (g *goArguments) flag(c *command.Command, args []string) (n int, err error) {
	name, value, hasValue := command.SplitFlag(args[0])
	if command.IsHelp(args[0]) || c.Flags.Lookup(name) != nil && !skipsTests(c, args) {
		return c.SetFlag(args)
	}
	n = 1
	switch kind := goFlag(c.Name, name); {
	case kind == unknownFlag && c.Name == "test":
		// The flag is the test's. The go command takes the next argument for its value,
		// unless that is a flag too, and never for a package.
		g.listEnded = true
		if !hasValue && len(args) > 1 && !command.IsFlag(args[1]) {
			n = 2
		}
	case kind == unknownFlag:
		return 0, c.Errorf("neither cofferdam %s nor go %[1]s has a flag -%s%s", c.Name, name, console.Nearest("-", name, append(c.FlagNames(), goFlagNames(c.Name)...)))
	case kind == flagWithValue && !hasValue:
		if n = 2; len(args) < n {
			return 0, c.Errorf("-%s needs a value", name)
		}
	}
	switch {
	case strings.HasPrefix(name, "cover"):
		return 0, fmt.Errorf("-%s: the go command ignores rewritten sources when it measures coverage: leave it out", name)
	case name == "overlay":
		return 0, errors.New("-overlay: the program is protected by an overlay already: leave it out")
	case name == "vet":
		return n, nil // there is no vetting of rewritten sources
	case name == "race":
		on, err := strconv.ParseBool(value)
		g.race = on || err != nil // it has no value
	case slices.Contains(loading, name):
		g.load = append(g.load, strings.Join(args[:n], "="))
	}
	g.pass = append(g.pass, args[:n]...)
	return n, nil
}

// skipsTests reports whether the arguments begin with the flag -skip of go test, which has the
// name of one of Cofferdam's own: what is no rule is a regular expression for tests.
func skipsTests(c *command.Command, args []string) bool {
	name, value, hasValue := command.SplitFlag(args[0])
	if c.Name != "test" || name != "skip" {
		return false
	}
	if !hasValue && len(args) > 1 {
		value = args[1]
	}
	_, err := rule.ParseList([]string{value})
	return err != nil
}

// A goFlagKind says how the go command takes a flag.
type goFlagKind int

const (
	unknownFlag goFlagKind = iota
	flagAlone
	flagWithValue
)

// goFlag says how go run, build or test takes a flag.
func goFlag(verb, name string) goFlagKind {
	isTest := verb == "test"
	if isTest {
		name = strings.TrimPrefix(name, "test.")
	}
	switch {
	case name == "o" && verb == "run", name == "exec" && verb == "build":
		return unknownFlag
	case slices.Contains(goBuildAlone, name), isTest && slices.Contains(goTestAlone, name):
		return flagAlone
	case slices.Contains(goBuildValue, name), isTest && slices.Contains(goTestValue, name), strings.HasPrefix(name, "cover"):
		return flagWithValue
	}
	return unknownFlag
}

// goFlagNames are the flags of go run or go build.
func goFlagNames(verb string) []string {
	var names []string
	for _, name := range slices.Concat(goBuildAlone, goBuildValue) {
		if goFlag(verb, name) != unknownFlag {
			names = append(names, name)
		}
	}
	return names
}
