// Package rule has the rules of -only and -skip, by which a person chooses what is protected: by the names of locks,
// variables, packages and functions. rule.go is all of it.
package rule

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Rule chooses sections, or variables in them, by a name of a kind:
//
//	lock:Account.mu               the sections of a lock, as the table calls it
//	var:Account.balance           a variable, as the table calls it
//	package:example.com/app/...   all sections of a package, or of those below it
//	func:Transfer, func:Bank.*    those of a function, or of a type's methods
//
// A * stands for any text.
type Rule struct {
	Kind    Kind
	Pattern string
}

// A Kind says what a rule is about.
type Kind string

const (
	OfLock     Kind = "lock"
	OfVariable Kind = "var"
	OfPackage  Kind = "package"
	OfFunction Kind = "func"
)

var kinds = []Kind{OfLock, OfVariable, OfPackage, OfFunction}

// Parse reads a rule.
func Parse(text string) (Rule, error) {
	kind, pattern, ok := strings.Cut(text, ":")
	r := Rule{Kind(kind), pattern}
	if !ok || pattern == "" || !slices.Contains(kinds, r.Kind) {
		return r, fmt.Errorf("%q is no rule: write lock:NAME, var:NAME, package:PATH or func:NAME", text)
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return r, fmt.Errorf("the pattern of %q: %w", text, err)
	}
	return r, nil
}

// ParseList reads rules, each of which may be several with commas between them.
func ParseList(texts []string) ([]Rule, error) {
	var all []Rule
	var wrong []error
	for _, list := range texts {
		for text := range strings.SplitSeq(list, ",") {
			r, err := Parse(strings.TrimSpace(text))
			all, wrong = append(all, r), append(wrong, err)
		}
	}
	return all, errors.Join(wrong...)
}

func (r Rule) String() string { return string(r.Kind) + ":" + r.Pattern }

// matches reports whether a rule is about one of the names.
func (r Rule) matches(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if above, ok := strings.CutSuffix(r.Pattern, "/..."); ok && r.Kind == OfPackage {
			return name == above || strings.HasPrefix(name, above+"/")
		}
		// A * is to match a / as well.
		ok, _ := path.Match(strings.ReplaceAll(r.Pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
		return ok
	})
}

// LeftOut returns why something that has these names, as things of a kind go, is not to be
// protected; "" if it is. Rules of one kind widen what -only leaves, those of different kinds
// narrow it.
func LeftOut(only, skip []Rule, kind Kind, names ...string) string {
	for _, r := range skip {
		if r.Kind == kind && r.matches(names...) {
			return "-skip " + r.String() + " leaves it out"
		}
	}
	asked := false
	for _, r := range only {
		if r.Kind == kind {
			if r.matches(names...) {
				return ""
			}
			asked = true
		}
	}
	if asked {
		return "-only names others"
	}
	return ""
}
