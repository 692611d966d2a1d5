package explore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/instrument/hooks"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Build is what one call of the go command made: some programs with one table of
// sites.
type Build struct {
	*instrument.Program
	Programs []*Program
	// Environment is what the programs see; nil means what this process sees.
	Environment []string
	// Limits are what the programs may take of the machine.
	Limits Limits

	config    instrument.Config
	args      []string
	sitesFile string
	today     int64 // see Options.Day
}

// A Program is an instrumented program, ready to run.
type Program struct {
	build *Build
	instrument.Binary
}

// New instruments and builds what the configuration says. The programs are run with the
// arguments, which are flags such as -test.short for tests.
func New(ctx context.Context, c instrument.Config, args ...string) (*Build, error) {
	p, err := instrument.Build(ctx, c)
	if err != nil {
		return nil, err
	}
	b := &Build{Program: p, config: c, args: args, today: Today()}
	for _, bin := range p.Binaries {
		b.Programs = append(b.Programs, &Program{build: b, Binary: bin})
	}
	table := wire.Table{Sites: p.Sites, Calls: p.LibraryCalls}
	// Beside the binaries, so that it is removed with them.
	b.sitesFile = filepath.Join(filepath.Dir(p.Binaries[0].Path), "sites")
	if err := os.WriteFile(b.sitesFile, table.Encode(), 0o600); err != nil {
		return nil, fmt.Errorf("writing the sites of the program: %w", err)
	}
	return b, nil
}

// Today is the day that a program sees unless it is told another one, see Options.Day.
func Today() int64 { return time.Now().UTC().Truncate(24 * time.Hour).Unix() }

// unseen reports whether there are packages of which not every access is seen, so that a round of a
// loop may have changed something though nothing was seen of it.
func (b *Build) unseen() bool {
	return slices.ContainsFunc(b.Packages, func(p instrument.Package) bool { return p.Mode != hooks.Memory && !p.Std })
}

// own are the packages of the program itself.
func (b *Build) own() []string {
	var all []string
	for _, p := range b.Packages {
		if p.Mode == hooks.Memory && !p.Std && !slices.Contains(all, p.Path) {
			all = append(all, p.Path)
		}
	}
	return all
}

// header says in a trace what it is of.
func (p *Program) header(target, schedule string, o *Options) *trace.Header {
	return &trace.Header{
		Program:    p.Hash,
		Inputs:     p.Inputs,
		Image:      image(p.Path),
		Go:         p.Go,
		GOOS:       runtime.GOOS,
		GOARCH:     runtime.GOARCH,
		Package:    p.Package,
		Files:      p.files(),
		Test:       target,
		Args:       p.build.args,
		BuildFlags: p.build.config.Flags,
		Schedule:   schedule,
		Own:        p.build.own(),
		Seed:       o.Seed,
		Day:        p.day(o),
		Strategy:   string(o.Strategy),
		Options: trace.Options{
			Tests: p.build.config.Tests, Deps: p.build.config.Deps,
			Leaks: o.Leaks, Races: o.Races, WarmUp: o.warmUp, Steps: o.steps(), Stall: int64(o.stall()),
		},
	}
}

// day is the one that the program sees. It stays the same when a search goes on past midnight.
func (p *Program) day(o *Options) int64 {
	if o.Day != 0 {
		return o.Day
	}
	return p.build.today
}

// files are those that the package was given by, if it was.
func (p *Program) files() []string {
	if p.Package != load.Files {
		return nil
	}
	return p.build.config.Patterns
}

// Patterns say to the go command which package the program is of.
func (p *Program) Patterns() []string {
	if files := p.files(); files != nil {
		return files
	}
	return []string{p.Package}
}

// Again returns what to build, and the options to run it with, for a trace to be
// replayed.
func Again(dir string, h *trace.Header) (instrument.Config, *Options) {
	patterns := h.Files
	if len(patterns) == 0 {
		patterns = []string{h.Package}
	}
	run := &h.Options
	stall := time.Duration(run.Stall)
	if stall == 0 {
		stall = NoStall
	}
	return instrument.Config{Dir: dir, Patterns: patterns, Flags: h.BuildFlags, Tests: run.Tests, Deps: run.Deps},
		&Options{Seed: h.Seed, Day: h.Day, Strategy: sched.Method(h.Strategy), Steps: run.Steps, Leaks: run.Leaks, Races: run.Races, Stall: stall, warmUp: run.WarmUp}
}
