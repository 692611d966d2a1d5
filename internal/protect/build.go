package protect

import (
	"fmt"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/overlay"
	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/protect/rule"
	"github.com/cofferdam-go/cofferdam/internal/protect/write"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Config says what to protect.
type Config struct {
	// Dir is where the go command runs; empty means the current directory.
	Dir string
	// Patterns are packages, or the files of one.
	Patterns []string
	// Tests asks for the tests of the packages.
	Tests bool
	// Deps asks for dependencies outside the main module too.
	Deps bool
	// Flags are those that decide what the packages are made of, such as -tags=x.
	Flags []string
	// Race says that the program is built with -race.
	Race bool
	// Mode is how data is protected.
	Mode Mode
	// Maps asks for copies of the entries of maps.
	Maps bool
	// Least is the confidence that a guard must have.
	Least float64
	// Only and Skip choose what is protected, of all that could be.
	Only, Skip []rule.Rule
	// Unprotected is why pages cannot be protected where the program will run, ""
	// if they can.
	Unprotected string
	// Progress is told what Prepare does at present; it may be nil.
	Progress func(text string)
	// Watching is what the program does with its findings.
	Watching write.Watching

	// alone are places in functions that do not build when they are rewritten.
	alone []plan.Alone
	// monitor is package monitor, if the program imports it.
	monitor *packages.Package
}

// A Build is what the go command needs to build a protected program.
type Build struct {
	*Program
	// Flags are those that the go command needs; Overlay are those of them that all its
	// subcommands have.
	Flags   []string
	Overlay []string

	compiling []string // those that compiling needs
	race      bool     // it is a build with -race
	overlay   *overlay.Overlay
	dir       string
}

// Close removes what is on disk.
func (b *Build) Close() error { return scratch.Remove(b.dir) }

// Tell writes what is protected, and where sections are interrupted, as far as it is asked
// for.
func (b *Build) Tell(w io.Writer, summary, gaps bool) {
	if summary {
		fmt.Fprint(w, b.Plan)
		if isolates := b.Plan.Mode == Isolate || b.Plan.Mode == Auto; isolates && b.race {
			fmt.Fprintln(w, notWithRace)
		}
	}
	if gaps {
		fmt.Fprint(w, b.GapList())
	}
}

// notWithRace says that the table holds for other builds.
const notWithRace = "cofferdam: this is a -race build: the fields of objects that the table calls isolated are not, " +
	"because the race detector would take what isolates them for synchronisation"

// Prepare rewrites packages, and writes the result to a directory beside them.
func Prepare(c Config) (*Build, error) {
	l, err := Load(c)
	if err != nil {
		return nil, err
	}
	return l.Prepare(c.Mode, c.Maps)
}

// A Loaded is a program of which builds can be made, one for each mode.
type Loaded struct {
	config      Config
	environment *gotool.Environment
	known       *Known
}

// Load loads the packages that a Config is about, and analyses them.
func Load(c Config) (*Loaded, error) {
	env, err := gotool.New(c.Dir, nil).Environment()
	if err != nil {
		return nil, err
	}
	c.Unprotected = unprotected(env)
	c.tell("loading packages")
	pkgs, err := c.load()
	if err != nil {
		return nil, err
	}
	c.tell("analysing packages")
	return &Loaded{c, env, Analyse(pkgs)}, nil
}

// Prepare is the function of that name with another mode than the program was loaded for, and in all
// else the same.
func (l *Loaded) Prepare(mode Mode, maps bool) (*Build, error) {
	c := l.config // what does not build is left alone in this mode only
	c.Mode, c.Maps = mode, maps
	for attempt := 1; ; attempt++ {
		c.tell("rewriting packages")
		b, err := c.prepare(l.environment, l.known)
		if err != nil {
			return nil, err
		}
		c.tell("compiling rewritten packages")
		if err = c.compile(b); err == nil {
			return b, nil
		}
		b.Close()
		complaints := c.complaints(b, err)
		if attempt == maxAttempts || !c.leaveAlone(complaints) {
			return nil, doesNotBuild(complaints, err)
		}
	}
}

// prepare rewrites packages as far as they have built so far.
func (c *Config) prepare(env *gotool.Environment, known *Known) (_ *Build, err error) {
	program, err := known.Rewrite(*c)
	if err != nil {
		return nil, err
	}
	o := overlay.New(env)
	for file, t := range program.Files {
		o.Add(t.Package, file, t.Text)
	}
	if err := addHooks(o); err != nil {
		return nil, err
	}
	if c.monitor != nil {
		addMonitored(o, c.monitor)
	}
	if c.Tests {
		watchTests(o, plan.Variants(known.packages))
	}
	b := &Build{Program: program, overlay: o, race: c.Race}
	if b.dir, err = scratch.Dir(); err != nil {
		return nil, err
	}
	if b.Flags, err = o.Write(b.dir, c.Flags); err != nil {
		scratch.Remove(b.dir)
		return nil, err
	}
	b.Overlay = slices.Clone(b.Flags)
	for _, p := range program.Old {
		b.Flags = append(b.Flags, "-gcflags="+p+"=-lang="+hooksLanguage)
	}
	b.compiling = slices.Clone(b.Flags)
	if c.Tests {
		b.Flags = append(b.Flags, "-vet=off") // it does not see overlays
	}
	return b, nil
}

// tell says what goes on.
func (c *Config) tell(text string) {
	if c.Progress != nil {
		c.Progress(text)
	}
}

// unprotected returns why pages cannot be protected on a platform.
func unprotected(e *gotool.Environment) string {
	if e.GOOS == "linux" && e.GOARCH == "amd64" {
		return ""
	}
	return "there is no fault handler for " + e.GOOS + "/" + e.GOARCH
}

// load returns the packages to rewrite: those of the patterns, and those that they
// import, as far as they are the user's own, or wanted.
func (c *Config) load() ([]*packages.Package, error) {
	roots, err := load.List(load.Config{Dir: c.Dir, Patterns: c.Patterns, Tests: c.Tests, Flags: c.Flags})
	if err != nil {
		return nil, err
	}
	packages.Visit(roots, nil, func(p *packages.Package) {
		if p.PkgPath == monitorPath && p.ForTest == "" {
			c.monitor = p
			c.Watching.Monitor = false // it is linked already
		}
	})
	patterns := slices.Clone(c.Patterns)
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	if strings.HasSuffix(patterns[0], ".go") && !c.Deps {
		// Files cannot be mixed with packages.
		return load.Packages(load.Config{Dir: c.Dir, Patterns: patterns, Tests: c.Tests, Flags: c.Flags})
	}
	var deps []string
	packages.Visit(roots, nil, func(p *packages.Package) {
		switch own := load.Own(p); {
		case isOfCofferdam(p.PkgPath): // what protects is not protected
		case p.Module == nil || p.ForTest != "" || strings.HasSuffix(p.PkgPath, ".test"):
		case own && !slices.Contains(patterns, p.PkgPath):
			patterns = append(patterns, p.PkgPath)
		case !own && c.Deps:
			deps = append(deps, p.PkgPath)
		}
	})
	fset := token.NewFileSet()
	all, err := load.Packages(load.Config{Dir: c.Dir, Patterns: patterns, Tests: c.Tests, Flags: c.Flags, Fset: fset})
	if err != nil || len(deps) == 0 {
		return all, err
	}
	// The tests of dependencies need not build.
	more, err := load.Packages(load.Config{Dir: c.Dir, Patterns: deps, Flags: c.Flags, Fset: fset})
	return append(all, more...), err
}

// isOfCofferdam reports whether programs that use Cofferdam link a package for that. With
// -deps, and for the programs of its own module, it is among the packages to rewrite otherwise.
func isOfCofferdam(path string) bool {
	below, ok := strings.CutPrefix(path, cofferdamPath)
	return ok && slices.ContainsFunc([]string{"isolate", "monitor", "stm", "tolerate", "internal/finding", "internal/goroutine", "internal/interrupt", "internal/page"}, func(linked string) bool {
		return below == linked || strings.HasPrefix(below, linked+"/")
	})
}

// addHooks lays what protected programs link over the standard library.
func addHooks(o *overlay.Overlay) error {
	sources, err := cofferdam.Sources("tolerate", "isolate", "internal/finding", "internal/goroutine", "internal/page", "internal/protect/watch", "internal/protect/aside", "internal/protect/wicket", "monitor")
	if err != nil {
		return err
	}
	for _, s := range sources {
		o.Text[o.Std(s.Name)] = s.Text
	}
	addEnds(o)
	return nil
}

// watchTests has the tests of packages write what they find: a TestMain does it, of
// the program (see package write) or of ours.
func watchTests(o *overlay.Overlay, pkgs []*packages.Package) {
	done := make(map[string]bool) // by the package that is tested
	for _, p := range pkgs {
		done[p.ForTest] = done[p.ForTest] || p.Types.Scope().Lookup("TestMain") != nil
	}
	for _, p := range pkgs {
		if p.ForTest == "" || done[p.ForTest] {
			continue
		}
		for _, f := range p.GoFiles {
			if strings.HasSuffix(f, "_test.go") {
				done[p.ForTest] = true
				o.Text[filepath.Join(filepath.Dir(f), "cofferdam_watch_test.go")] = fmt.Sprintf(testMain, p.Name, source.UnusedPrefix("cofferdam", p.Syntax...))
				break
			}
		}
	}
}

// testMain has names that the package does not use.
const testMain = `package %[1]s

import (
	%[2]swatch "cofferdamrt/protect/watch"
	%[2]sos "os"
	%[2]stesting "testing"
)

func TestMain(m *%[2]stesting.M) {
	defer %[2]swatch.Test()()
	%[2]sos.Exit(m.Run())
}
`
