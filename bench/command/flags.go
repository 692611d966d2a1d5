package command

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Rounds declares the flag -runs.
func Rounds(flags *flag.FlagSet, runs *int, usual string) {
	flags.IntVar(runs, "runs", 0, "`rounds` of each case, after one that warms up ("+usual+")")
}

// CheckRounds gives the flag -runs its default, and refuses less than one.
func CheckRounds(runs *int, usual int) error {
	switch {
	case *runs < 0:
		return fmt.Errorf("-runs %d: there must be at least one", *runs)
	case *runs == 0:
		*runs = usual
	}
	return nil
}

// Pattern declares a flag for a regular expression, which matches everything unless it
// is given.
func Pattern(flags *flag.FlagSet, name, usage string) *regexp.Regexp {
	pattern := new(regexp.Regexp)
	flags.TextVar(pattern, name, regexp.MustCompile(""), usage)
	return pattern
}

// AtLeastOne refuses a number that is to count something and does not.
func AtLeastOne(name string, n int) error {
	if n <= 0 {
		return fmt.Errorf("-%s %d: there must be at least one", name, n)
	}
	return nil
}

// SomeTime refuses a time in which nothing can be done.
func SomeTime(name string, d time.Duration) error {
	if d <= 0 {
		return fmt.Errorf("-%s %v: there must be some time", name, d)
	}
	return nil
}

// A Choice is a flag that takes some of several names, separated by commas.
type Choice struct {
	names, chosen []string
	given         bool
}

// NewChoice declares the flag. All names are chosen unless it is given.
func NewChoice(flags *flag.FlagSet, name string, names []string) *Choice {
	c := &Choice{names: names, chosen: names}
	flags.Var(c, name, "run only these `names`, separated by commas: "+strings.Join(names, ", "))
	return c
}

// Chosen is a choice of these names, without a flag.
func Chosen(names ...string) *Choice { return &Choice{names: names, chosen: names} }

// Has reports whether a name was chosen.
func (c *Choice) Has(name string) bool { return slices.Contains(c.chosen, name) }

// Given reports whether the flag was.
func (c *Choice) Given() bool { return c.given }

// Set chooses, for package flag.
func (c *Choice) Set(text string) error {
	c.given = true
	c.chosen = strings.Split(text, ",")
	for _, name := range c.chosen {
		if !slices.Contains(c.names, name) {
			return fmt.Errorf("there is no %q; there are %s", name, strings.Join(c.names, ", "))
		}
	}
	return nil
}

func (c *Choice) String() string { return "" }
