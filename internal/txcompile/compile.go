package txcompile

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/overlay"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/listing"
)

// A Config says what to compile.
type Config struct {
	// Dir is where the go command runs; empty means the current directory.
	Dir string
	// Patterns are packages, or the files of one.
	Patterns []string
	// Tests asks for the tests of the packages.
	Tests bool
	// Flags are those that decide what the packages are made of, such as -tags=x.
	Flags []string
	// Strict refuses transactions that do something that cannot be undone.
	Strict bool
	// Progress is told what Prepare does at present; it may be nil.
	Progress func(text string)
}

// A Build is what the go command needs to build a program with compiled transactions.
type Build struct {
	Report
	// Flags are those that the go command needs.
	Flags []string
	dir   string
}

// A Report says what was compiled.
type Report struct {
	Transactions int // calls of stm.Atomic
	Functions    int // that transactions call, and that are there once more for them
	Effects      []Effect
}

// String says what was compiled, and which transactions will not run beside others.
func (r Report) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "cofferdam: compiled %s and %s\n", plural(r.Transactions, "transaction"), plural(r.Functions, "function"))
	if len(r.Effects) > 0 {
		out.WriteString("cofferdam: from these places on a transaction runs alone, because it could not start again:\n")
		for _, e := range r.Effects {
			fmt.Fprintf(&out, "  %s\n", e)
		}
	}
	return out.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Close removes what is on disk.
func (b *Build) Close() error { return scratch.Remove(b.dir) }

// A StrictError says that transactions do what cannot be undone, and must not.
type StrictError struct{ Effects []Effect }

func (e *StrictError) Error() string {
	var lines []string
	for _, effect := range e.Effects {
		lines = append(lines, effect.String()+", which cannot be undone")
	}
	return "-stm=strict: transactions must be able to start again:\n\t" + strings.Join(lines, "\n\t")
}

// Prepare compiles the transactions of packages, and of their own dependencies, and writes
// the result to a directory of its own.
func Prepare(c Config) (*Build, error) {
	env, err := gotool.New(c.Dir, nil).Environment()
	if err != nil {
		return nil, err
	}
	c.tell("loading packages")
	l, err := listing.New(load.Config{Dir: c.Dir, Patterns: c.Patterns, Tests: c.Tests, Flags: c.Flags})
	if err != nil {
		return nil, err
	}
	if err := l.CheckVendor(); err != nil {
		return nil, err
	}
	texts, report, err := c.compile(l)
	if err != nil {
		return nil, err
	}
	if c.Strict && len(report.Effects) > 0 {
		return nil, &StrictError{report.Effects}
	}
	o := overlay.New(env)
	for _, t := range texts {
		o.Add(t.pkg, t.name, t.text)
	}
	b := &Build{Report: *report}
	if b.dir, err = scratch.Dir(); err != nil {
		return nil, err
	}
	if b.Flags, err = o.Write(b.dir, c.Flags); err != nil {
		scratch.Remove(b.dir)
		return nil, err
	}
	if c.Tests {
		b.Flags = append(b.Flags, "-vet=off") // it does not see overlays
	}
	return b, nil
}

func (c *Config) tell(text string) {
	if c.Progress != nil {
		c.Progress(text)
	}
}

// A fileText is a file with its new text.
type fileText struct {
	pkg  *packages.Package
	name string
	text string
}

// compile returns the new texts of a program. Other modules are read if transactions call
// them: most programs do not need that, and it takes a while.
func (c Config) compile(l *listing.Listing) ([]fileText, *Report, error) {
	for others := false; ; others = true {
		pkgs, err := l.Read(others)
		if err != nil {
			return nil, nil, err
		}
		c.tell("compiling transactions")
		p, err := planned(pkgs, l)
		if err != nil {
			return nil, nil, err
		}
		if others || len(l.Others) == 0 || !p.reach.Calls(l.Others) {
			return p.texts(), p.report(), nil
		}
		c.tell("loading packages of other modules")
	}
}

// planned reads packages, and decides what becomes of them.
func planned(pkgs []*packages.Package, l *listing.Listing) (*program, error) {
	p, err := newProgram(pkgs, l.Exposed(pkgs))
	if err != nil {
		return nil, err
	}
	p.left = l.Left
	if p.plan(); p.transactions == 0 {
		return nil, errors.New("no transaction to compile: there is no call of stm.Atomic in the packages and what they import of the module")
	}
	return p, nil
}

func (p *program) report() *Report {
	r := &Report{Transactions: p.transactions, Effects: p.sortedEffects()}
	for _, f := range p.functions {
		if f.cloned {
			r.Functions++
		}
	}
	return r
}

// texts are the new texts of packages that begin or run transactions.
func (p *program) texts() (texts []fileText) {
	for _, f := range p.Files() {
		if text := p.text(f); text != "" {
			texts = append(texts, fileText{f.Package, f.Name, text})
		}
	}
	return texts
}
