package explore

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// SplitSelection takes a pattern of -run or -skip apart as package testing does: at bars into
// alternatives, each of which selects for itself, and these at slashes into one regexp for
// tests, one for their subtests, and so on. Bars and slashes in brackets and parentheses are
// part of a regexp.
//
//	TestA|TestSuite/Test[AB]/big   ->   {TestA}, {TestSuite, Test[AB], big}
func SplitSelection(pattern string) (alternatives [][]string) {
	var elements []string
	brackets, parentheses, begin := 0, 0, 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '[':
			brackets++
		case c == ']':
			brackets = max(brackets-1, 0) // an unmatched ']' is legal
		case c == '(' && brackets == 0:
			parentheses++
		case c == ')' && brackets == 0:
			parentheses--
		case c == '\\':
			i++
		case (c == '/' || c == '|') && brackets == 0 && parentheses == 0:
			elements = append(elements, pattern[begin:i])
			begin = i + 1
			if c == '|' {
				alternatives, elements = append(alternatives, elements), nil
			}
		}
	}
	return append(alternatives, append(elements, pattern[begin:]))
}

// Selection is the pattern by which go test runs a target and nothing else: its tests, and in
// them the subtests that the program's arguments select.
func Selection(target string, args []string) string {
	names := wire.Tests(target)
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	tests := "^" + names[0] + "$"
	if len(names) > 1 {
		tests = "^(" + strings.Join(names, "|") + ")$"
	}
	var all []string
	for _, elements := range SplitSelection(argument(args, "run")) {
		first, err := regexp.Compile(elements[0])
		if err != nil || !slices.ContainsFunc(wire.Tests(target), first.MatchString) {
			continue
		}
		all = append(all, strings.Join(append([]string{tests}, elements[1:]...), "/"))
	}
	if len(all) == 0 {
		return tests
	}
	return strings.Join(slices.Compact(all), "|")
}

// Circumstances are the arguments of a test binary without those that say which tests to run,
// how often, and for how long.
func Circumstances(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		return slices.ContainsFunc([]string{"run", "count", "timeout"}, func(name string) bool {
			return strings.HasPrefix(arg, "-test."+name+"=")
		})
	})
}

// argument is the value of a flag of package testing in the arguments of a program.
func argument(args []string, name string) (value string) {
	for _, arg := range args {
		if v, ok := strings.CutPrefix(arg, "-test."+name+"="); ok {
			value = v
		}
	}
	return value
}
