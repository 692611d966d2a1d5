package explore

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Manifest is what has to be known of a Program, beside its binary and its sites, to run it on
// another machine.
type Manifest struct {
	Package, Hash, Inputs, Go string
	GOOS, GOARCH              string
	Parallel                  []string `json:",omitempty"`
	Tests                     bool     `json:",omitempty"`
	Args                      []string `json:",omitempty"`
	Flags                     []string `json:",omitempty"`
	Deps                      []string `json:",omitempty"`
	Patterns                  []string `json:",omitempty"`
	// Packages are those that are not of the standard library.
	Packages []instrument.Package `json:",omitempty"`
	OwnSites uint32               `json:",omitempty"`
}

// Manifest returns what other machines have to know of the program.
func (p *Program) Manifest() *Manifest {
	c := &p.build.config
	return &Manifest{
		Package: p.Package, Hash: p.Hash, Inputs: p.Inputs, Go: p.Go, GOOS: runtime.GOOS, GOARCH: runtime.GOARCH,
		Parallel: p.Parallel, Tests: c.Tests, Args: p.build.args, Flags: c.Flags, Deps: c.Deps, Patterns: c.Patterns,
		Packages: slices.DeleteFunc(slices.Clone(p.build.Packages), func(p instrument.Package) bool { return p.Std }),
		OwnSites: p.build.OwnSites,
	}
}

// SitesFile is the file with the program's sites, for [Open].
func (p *Program) SitesFile() string { return p.build.sitesFile }

// Sites are the places of the program's hooks, in the order of their numbers.
func (p *Program) Sites() []trace.Site { return p.build.Sites }

// Place is a program's place on a machine.
type Place struct {
	Binary, Sites string // files
	Dir           string // where it runs
	// Environment is what it sees; nil means what this process sees.
	Environment []string
	Limits      Limits
}

// Open returns a program that was built elsewhere.
func Open(m *Manifest, at Place) (*Program, error) {
	if m.GOOS != runtime.GOOS || m.GOARCH != runtime.GOARCH {
		return nil, fmt.Errorf("%s was built for %s/%s, and this is %s/%s", m.Package, m.GOOS, m.GOARCH, runtime.GOOS, runtime.GOARCH)
	}
	text, err := os.ReadFile(at.Sites)
	if err != nil {
		return nil, fmt.Errorf("opening a program that was built elsewhere: %w", err)
	}
	table, err := wire.DecodeTable(text)
	if err != nil {
		return nil, fmt.Errorf("opening a program that was built elsewhere: %w", err)
	}
	b := &Build{
		Program:     &instrument.Program{Sites: table.Sites, LibraryCalls: table.Calls, OwnSites: m.OwnSites, Packages: m.Packages},
		config:      instrument.Config{Dir: at.Dir, Patterns: m.Patterns, Tests: m.Tests, Flags: m.Flags, Deps: m.Deps},
		args:        m.Args,
		today:       Today(),
		sitesFile:   at.Sites,
		Environment: at.Environment,
		Limits:      at.Limits,
	}
	bin := instrument.Binary{Package: m.Package, Dir: at.Dir, Path: at.Binary, Hash: m.Hash, Inputs: m.Inputs, Go: m.Go, Parallel: m.Parallel}
	b.Programs = []*Program{{build: b, Binary: bin}}
	return b.Programs[0], nil
}
