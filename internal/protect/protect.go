package protect

import (
	"fmt"
	"go/version"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/protect/write"
)

// A Mode is how data is protected; see package plan.
type Mode = plan.Mode

// The modes, as the command's flags name them.
const (
	Auto     = plan.Auto
	Isolate  = plan.Isolate
	Tolerate = plan.Tolerate
	Exact    = plan.Exact
	Detect   = plan.Detect
)

// Modes are all of them.
var Modes = plan.Modes

// A Program is a program with its plan and the texts that come of it.
type Program struct {
	*plan.Plan
	// Files have new texts.
	Files map[string]write.Text
	// Old are packages that are written in versions of Go that cannot call the
	// hooks, and have to be compiled as a later one.
	Old []string
}

// Known is packages with what is known of them whatever becomes of them: which locks guard what,
// and what their code does. That takes most of the time, and any number of plans can be made of it:
// of one program in several modes, or again without functions that did not build.
type Known struct {
	packages []*packages.Package
	guards   *guard.Guards
	facts    *facts.Facts
}

// Analyse gathers what is known of packages that load.Packages returned.
func Analyse(pkgs []*packages.Package) *Known {
	guards := guard.Infer(pkgs)
	return &Known{pkgs, guards, facts.Gather(pkgs, guards.Program)}
}

// Rewrite protects the packages: it plans, and writes.
func (k *Known) Rewrite(c Config) (*Program, error) {
	if c.Mode == Isolate && c.Unprotected != "" {
		return nil, fmt.Errorf("nothing can be isolated: %s; use -protect=tolerate", c.Unprotected)
	}
	o := plan.Options{Mode: c.Mode, Maps: c.Maps, Least: c.Least, Unprotected: c.Unprotected, Tests: c.Tests, Alone: c.alone, Only: c.Only, Skip: c.Skip}
	planned, err := plan.Make(k.packages, k.facts, k.guards, o)
	if err != nil {
		return nil, err
	}
	files, err := write.Files(planned, c.Watching)
	if err != nil {
		return nil, err
	}
	return &Program{Plan: planned, Files: files, Old: oldPackages(planned, files)}, nil
}

// hooksLanguage is the version of Go that calls of the hooks are written in. Loops mean
// something else only in later ones.
const hooksLanguage = "go1.21"

// oldPackages returns the packages with new texts that are written in an older version.
func oldPackages(p *plan.Plan, files map[string]write.Text) []string {
	var old []string
	for _, pkg := range p.Packages {
		changed := false
		for _, f := range pkg.Files {
			_, ok := files[f.Name]
			changed = changed || ok
		}
		if v := language(pkg.Package); changed && v != "" && version.Compare(v, hooksLanguage) < 0 {
			old = append(old, pkg.PkgPath)
		}
	}
	return old
}

// language is the version of Go that a package is written in.
func language(p *packages.Package) string {
	switch m := p.Module; {
	case m == nil:
		return ""
	case m.GoVersion == "":
		return "go1.16" // what the go command assumes
	default:
		return "go" + m.GoVersion
	}
}
