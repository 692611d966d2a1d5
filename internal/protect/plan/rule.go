package plan

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/load"
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
	Kind    RuleKind
	Pattern string
}

// A RuleKind says what a rule is about.
type RuleKind string

const (
	OfLock     RuleKind = "lock"
	OfVariable RuleKind = "var"
	OfPackage  RuleKind = "package"
	OfFunction RuleKind = "func"
)

var ruleKinds = []RuleKind{OfLock, OfVariable, OfPackage, OfFunction}

// ParseRule reads a rule.
func ParseRule(text string) (Rule, error) {
	kind, pattern, ok := strings.Cut(text, ":")
	r := Rule{RuleKind(kind), pattern}
	if !ok || pattern == "" || !slices.Contains(ruleKinds, r.Kind) {
		return r, fmt.Errorf("%q is no rule: write lock:NAME, var:NAME, package:PATH or func:NAME", text)
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return r, fmt.Errorf("the pattern of %q: %w", text, err)
	}
	return r, nil
}

// ParseRules reads rules, each of which may be several with commas between them.
func ParseRules(texts []string) ([]Rule, error) {
	var all []Rule
	var wrong []error
	for _, list := range texts {
		for text := range strings.SplitSeq(list, ",") {
			r, err := ParseRule(strings.TrimSpace(text))
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

// leftOut returns why something that has these names, as things of a kind go, is not to be
// protected; "" if it is. Rules of one kind widen what -only leaves, those of different kinds
// narrow it.
func (o *Options) leftOut(kind RuleKind, names ...string) string {
	for _, r := range o.Skip {
		if r.Kind == kind && r.matches(names...) {
			return "-skip " + r.String() + " leaves it out"
		}
	}
	asked := false
	for _, r := range o.Only {
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

// declarationLeftOut returns why the sections of a declaration are not to be protected.
func (u *unit) declarationLeftOut(d ast.Decl) string {
	why := u.leftOut(OfPackage, u.pkg.PkgPath)
	names := []string{u.pkg.Name} // a literal that a variable begins with
	if fn, ok := d.(*ast.FuncDecl); ok {
		name := strings.NewReplacer("(*", "", ")", "").Replace(load.FuncName(fn))
		names = []string{name, u.pkg.Name + "." + name}
	}
	return cmp.Or(why, u.leftOut(OfFunction, names...))
}

// datumLeftOut returns why a variable is not to be protected.
func (p *planner) datumLeftOut(lock, datum string) string {
	return cmp.Or(p.leftOut(OfLock, lock), p.leftOut(OfVariable, datum))
}
