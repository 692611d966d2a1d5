package instrument

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/instrument/hooks"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/overlay"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Config says what to build.
type Config struct {
	// Dir is where the go command runs; empty means the current directory.
	Dir string
	// Patterns are the packages to build.
	Patterns []string
	// Tests asks for test binaries instead of programs.
	Tests bool
	// Flags are build flags to pass on, such as -tags=x and -race.
	Flags []string
	// Env is the environment of the go command; nil means the process's own.
	Env []string
	// Deps are patterns of the packages of dependencies that are in memory mode too; see
	// Matches.
	Deps []string
	// Overlay has other contents for some files of the program.
	Overlay map[string][]byte
	// Debug, if it is not nil, is for a debugger. It makes no difference to what programs do, and
	// none to their Hash and Inputs.
	Debug *Debug
	// Progress is told what Build does at present; it may be nil.
	Progress func(text string)
}

// Debug says how programs are built that a debugger is going to look into: with what debuggers
// read.
type Debug struct {
	// Compiling are flags of the compiler for the packages in memory mode, such as -N.
	Compiling string
}

// A Program is what Build made.
type Program struct {
	// Binaries are the programs, one for each main package or package with tests.
	Binaries []Binary
	// Sites are in the order of their numbers. OwnSites is the first number that is not the
	// standard library's.
	Sites    []trace.Site
	OwnSites uint32
	// LibraryCalls are the calls of the standard library in other packages that have hooks.
	LibraryCalls []trace.LibraryCall
	// Packages are those that the programs consist of, with how each was built.
	Packages []Package
	// Missed are the constructs that were left alone in packages that were not.
	Missed []hooks.Missed
	// Broken are the packages that have no binary because something of theirs does not build.
	Broken []Broken
	dir    string
}

// A Broken package does not build.
type Broken struct {
	Package string
	Err     error
}

// A Binary is an executable.
type Binary struct {
	Package string // its import path
	Dir     string // the package's directory, where go test would run it
	Path    string
	// Hash identifies the program: its sources and those of what it imports, the hooks'
	// and the version of Go. It does not depend on what else is built.
	Hash string
	// Inputs identifies what went into the program beside sources: hooks, the version of Go,
	// flags.
	Inputs string
	Go     string // the version
	// Parallel are the tests that call t.Parallel, in the order of their names.
	Parallel []string
}

// A Package tells how a package was built.
type Package struct {
	Path string
	Mode hooks.Mode
	Why  string // the reason, where the mode is not the one that others like it have
	Std  bool   // it is of the standard library

	flagsOf string // the path that the go command knows its flags by
}

// Close removes what Build put on disk.
func (p *Program) Close() error { return scratch.Remove(p.dir) }

// A builder is one call of Build.
type builder struct {
	Config
	tool *gotool.Tool
	env  *gotool.Environment
	dir  string
	over *overlay.Overlay
	prog *Program
	hash hash.Hash // of what all binaries have in common
	// early are packages written in versions of Go in which hooks cannot be called.
	// Rewritten, they are compiled as a later one.
	early []string
	marks map[string]bool // the packages whose binaries contain a mark
	// untyped are the packages that could not be rewritten, by path, with the reason.
	untyped  map[string]error
	parallel *parallelism
	// matched are the patterns of Deps, by number, that name a package.
	matched map[int]bool
}

// Build rewrites the packages and builds them. A context that ends ends the go command.
func Build(ctx context.Context, c Config) (_ *Program, err error) {
	b := &builder{Config: c, tool: gotool.New(c.Dir, c.Env), marks: make(map[string]bool), untyped: make(map[string]error), prog: new(Program), matched: make(map[int]bool)}
	b.hash = sha256.New()
	if b.env, err = b.tool.Environment(); err != nil {
		return nil, err
	}
	b.over = overlay.New(b.env)
	for _, f := range append(strings.Fields(b.env.GOFLAGS), c.Flags...) {
		if strings.HasPrefix(strings.TrimLeft(f, "-"), "cover") {
			return nil, fmt.Errorf("leave out %s: the go command then reads the original files, without hooks", f)
		}
	}
	b.tell("loading packages")
	roots, broken, err := load.ListBuilding(load.Config{Dir: c.Dir, Patterns: c.Patterns, Tests: c.Tests, Flags: withoutRace(c.Flags), Env: c.Env, Overlay: c.Overlay})
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, p := range broken {
		b.prog.Broken = append(b.prog.Broken, Broken{p.Path, p.Err})
	}
	if b.dir, err = scratch.Dir(); err != nil {
		return nil, err
	}
	b.prog.dir = b.dir
	defer func() {
		if err != nil {
			scratch.Remove(b.dir)
		}
	}()
	fmt.Fprintln(b.hash, b.env.GOVERSION, b.env.GOOS, b.env.GOARCH, c.Tests, c.Flags, c.Deps)
	if err := b.addHooks(); err != nil {
		return nil, err
	}
	b.tell("rewriting packages")
	if err := b.rewrite(roots); err != nil {
		return nil, err
	}
	for i, pattern := range c.Deps {
		if !b.matched[i] && pattern != AllDeps {
			return nil, fmt.Errorf("-deps=%s: the program has no dependency of that name", pattern)
		}
	}
	targets, err := b.targets(roots)
	if err != nil {
		return nil, errors.Join(err, b.broken())
	}
	b.addDriver(targets)
	flags, err := b.over.Write(b.dir, c.Flags)
	if err != nil {
		return nil, err
	}
	for i, t := range targets {
		switch err := b.compile(ctx, t, i, flags, roots); {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			b.prog.Broken = append(b.prog.Broken, Broken{b.path(t), err})
		}
	}
	if len(b.prog.Binaries) == 0 {
		return nil, b.broken()
	}
	return b.prog, nil
}

// broken is the error that some packages do not build; nil if all do.
func (b *builder) broken() error {
	var all []error
	for _, p := range b.prog.Broken {
		all = append(all, p.Err)
	}
	return errors.Join(all...)
}

// path is the import path of the package that a target is of.
func (b *builder) path(target *packages.Package) string {
	if b.Tests {
		return target.ForTest
	}
	return target.PkgPath
}

// tell says what goes on.
func (b *builder) tell(text string) {
	if b.Progress != nil {
		b.Progress(text)
	}
}

// withoutRace drops -race: what is listed needs to be compiled for its types only.
func withoutRace(flags []string) []string {
	return slices.DeleteFunc(slices.Clone(flags), func(f string) bool {
		f = strings.TrimPrefix(f, "-")
		return strings.HasPrefix(f, "-race") || f == "race" || strings.HasPrefix(f, "race=")
	})
}

// targets returns the packages to build binaries of.
func (b *builder) targets(roots []*packages.Package) ([]*packages.Package, error) {
	var all []*packages.Package
	seen := make(map[string]bool)
	for _, p := range roots {
		switch {
		case b.Tests && p.ForTest != "" && !seen[p.ForTest]:
			// Either the package with its own tests or the one outside it.
			seen[p.ForTest] = true
			all = append(all, p)
		case !b.Tests && p.Name == "main":
			all = append(all, p)
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	if b.Tests {
		return nil, fmt.Errorf("no package of %s has tests%s", strings.Join(b.Patterns, " "), b.program(roots))
	}
	return nil, fmt.Errorf("no package of %s is a program", strings.Join(b.Patterns, " "))
}

// program says how to have a program instead of the tests, if there is one.
func (b *builder) program(roots []*packages.Package) string {
	for _, p := range roots {
		if p.Name == "main" && !strings.HasSuffix(p.ID, ".test") {
			return "; with -main the program itself is meant"
		}
	}
	return ""
}

// driverPackage is what takes orders in a program that has hooks.
const driverPackage = "cofferdamrt/drive"

// addDriver adds a file to each target that links the driver.
func (b *builder) addDriver(targets []*packages.Package) {
	if _, ok := b.over.Text[b.over.Std(driverPackage+"/drive.go")]; !ok && !b.has(driverPackage) {
		return
	}
	for _, p := range targets {
		b.over.Text[b.driver(p)] = "package " + p.Name + "\n\nimport _ \"" + driverPackage + "\"\n"
	}
}

// driver returns the file of a target that links the driver.
func (b *builder) driver(p *packages.Package) string {
	if b.Tests {
		return filepath.Join(dirOf(p), "cofferdam_drive_test.go")
	}
	return filepath.Join(dirOf(p), "cofferdam_drive.go")
}

// has reports whether files are laid over a directory of the standard library.
func (b *builder) has(dir string) bool {
	for f := range b.over.Text {
		if filepath.Dir(f) == b.over.Std(dir) {
			return true
		}
	}
	return false
}

func dirOf(p *packages.Package) string {
	if len(p.GoFiles) > 0 {
		return filepath.Dir(p.GoFiles[0])
	}
	return p.Dir
}

// compile builds one binary, with the flags of the overlay.
func (b *builder) compile(ctx context.Context, p *packages.Package, n int, flags []string, roots []*packages.Package) error {
	path := b.path(p)
	parts := b.parts(roots, p)
	for _, part := range parts {
		if err := b.untyped[part.PkgPath]; err != nil {
			return err
		}
	}
	bin := filepath.Join(b.dir, fmt.Sprintf("program%d", n))
	if b.env.GOOS == "windows" {
		bin += ".exe"
	}
	args := []string{"build"}
	if b.Tests {
		args = []string{"test", "-c", "-vet=off"}
	}
	args = append(args, b.linking()...)
	args = append(args, b.Flags...)
	args = append(args, flags...)
	args = append(args, b.compiling()...)
	args = append(args, "-o", bin)
	if path == load.Files {
		files, err := b.files(p)
		if err != nil {
			return err
		}
		args = append(args, files...)
	} else {
		args = append(args, path)
	}
	b.tell("compiling " + path)
	stop := b.tool.WatchFirstBuild(ctx, driverPackage, slices.Concat(b.Flags, flags), func() {
		b.tell("compiling the standard library, which takes about a minute the first time")
	})
	_, err := b.tool.Output(ctx, args...)
	stop()
	if err != nil {
		return fmt.Errorf("building %s with hooks: %w", path, err)
	}
	binary, err := os.ReadFile(bin)
	if err != nil {
		return err
	}
	if err := b.verify(path, binary); err != nil {
		return err
	}
	hash, err := b.identity(parts)
	if err != nil {
		return err
	}
	var parallel []string
	if b.Tests {
		parallel = b.parallel.tests(parts)
	}
	b.prog.Binaries = append(b.prog.Binaries, Binary{Package: path, Dir: dirOf(p), Path: bin, Hash: hash, Inputs: hex.EncodeToString(b.hash.Sum(nil)[:16]), Go: b.env.GOVERSION, Parallel: parallel})
	return nil
}

// compiling are the flags of the compiler for single packages. Of several for one package the go
// command takes the last.
func (b *builder) compiling() []string {
	var all []string
	if b.Debug != nil && b.Debug.Compiling != "" {
		for _, p := range b.prog.Packages {
			if p.Mode == hooks.Memory && !p.Std {
				all = append(all, "-gcflags="+p.flagsOf+"="+b.Debug.Compiling)
			}
		}
	}
	for _, path := range b.early {
		flags := "-lang=" + later
		if b.Debug != nil {
			flags += " " + b.Debug.Compiling
		}
		all = append(all, "-gcflags="+path+"="+flags)
	}
	return all
}

// flagsOf is the path of the package whose flags the go command compiles a package with: an
// external test gets those of the package that it is a test of, even if that has no files.
func flagsOf(p *packages.Package) string {
	if p.PkgPath == p.ForTest+"_test" {
		return p.ForTest
	}
	return p.PkgPath
}

// linking are the flags that spare the linker what only debuggers read, half of its time. What
// the user says to the linker is said later on the command line, and counts; what the environment
// says would not.
func (b *builder) linking() []string {
	if b.Debug != nil || strings.Contains(b.env.GOFLAGS, "-ldflags") {
		return nil
	}
	return []string{"-ldflags=-w"}
}

// files returns the files of a package that is given by its files, with the one that links
// the driver, as the go command wants them: all in one directory.
func (b *builder) files(p *packages.Package) ([]string, error) {
	dir, err := filepath.Abs(b.Dir)
	if err != nil {
		return nil, fmt.Errorf("building the files %s: %w", strings.Join(b.Patterns, " "), err)
	}
	files := make([]string, len(b.Patterns))
	for i, f := range b.Patterns {
		if files[i] = f; !filepath.IsAbs(f) {
			files[i] = filepath.Join(dir, f)
		}
	}
	if driver := b.driver(p); b.over.Text[driver] != "" {
		files = append(files, driver)
	}
	return files, nil
}

// verify looks for the marks of a package and its tests in a binary. There are
// ways to have the go command ignore an overlay, and it says nothing then.
func (b *builder) verify(path string, binary []byte) error {
	for _, own := range []string{path, path + "_test"} {
		if b.marks[own] && !bytes.Contains(binary, []byte(mark(own))) {
			return fmt.Errorf("%s was built without hooks: the go command has ignored the overlay", own)
		}
	}
	return nil
}
