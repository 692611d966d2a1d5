package repair

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/lift/gossa"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/overlay"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Program is the source of a program with a run of it that failed.
type Program struct {
	*source
	lifted *gossa.Program
	reader *trace.Reader
	trace  *gossa.Trace
	locks  map[uint64]types.Object // what was locked at an address
}

// A source is the syntax and the types of a program.
type source struct {
	fset    *token.FileSet
	files   map[string]*file // by name
	funcs   map[*types.Func]*ast.FuncDecl
	overlay map[string][]byte
	copies  *overlay.Copies // nil if dependencies are left alone
}

// A file is one source file.
type file struct {
	name string
	// original is its name in the program without changes: another, if it is a copy of a
	// dependency's.
	original string
	source   []byte
	syntax   *ast.File
	pkg      *packages.Package
}

// newProgram loads the program that a trace was recorded from.
func newProgram(config instrument.Config, copies *overlay.Copies, r *trace.Reader) (*Program, error) {
	src, pkgs, err := read(config, copies, &r.Header)
	if err != nil {
		return nil, err
	}
	prog, built := load.SSA(pkgs)
	p := &Program{source: src, reader: r, trace: gossa.NewTrace(r)}
	var syntax []*ast.File
	for _, k := range pkgs {
		syntax = append(syntax, k.Syntax...)
	}
	if p.lifted, err = gossa.Lift(prog, built, syntax); err != nil {
		return nil, err
	}
	p.lifted.Bind(r.Sites())
	p.locks = p.lockObjects()
	return p, nil
}

// read loads the source of the program that a trace is of.
func read(config instrument.Config, copies *overlay.Copies, h *trace.Header) (*source, []*packages.Package, error) {
	pkgs, err := load.Packages(load.Config{
		Dir: config.Dir, Patterns: patterns(config, h), Tests: config.Tests, TestsOf: h.Package,
		Flags: config.Flags, Env: config.Env, Overlay: config.Overlay,
	})
	if err != nil {
		return nil, nil, err
	}
	pkgs = withTests(pkgs)
	src := newSource(nil, config.Overlay)
	src.copies = copies
	for _, k := range pkgs {
		src.fset = k.Fset
		for _, f := range k.Syntax {
			if err := src.addFile(f, k); err != nil {
				return nil, nil, err
			}
		}
	}
	return src, pkgs, nil
}

func newSource(fset *token.FileSet, overlay map[string][]byte) *source {
	return &source{fset: fset, overlay: overlay, files: map[string]*file{}, funcs: map[*types.Func]*ast.FuncDecl{}}
}

// fileOf is the file that a node is in; nil if it is not the program's.
func (s *source) fileOf(n ast.Node) *file {
	return s.files[s.fset.PositionFor(n.Pos(), false).Filename]
}

// byOriginal is the file with a name in the program without changes.
func (s *source) byOriginal(name string) *file {
	for _, f := range s.files {
		if f.original == name {
			return f
		}
	}
	return nil
}

// patterns are the packages whose source matters: all that are the program's own.
func patterns(config instrument.Config, h *trace.Header) []string {
	all := append([]string(nil), config.Patterns...)
	for _, path := range h.Own {
		if path = strings.TrimSuffix(path, "_test"); !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

func (s *source) addFile(f *ast.File, k *packages.Package) error {
	name := s.fset.PositionFor(f.Pos(), false).Filename
	text, ok := s.overlay[name]
	if !ok {
		var err error
		if text, err = os.ReadFile(name); err != nil {
			return fmt.Errorf("reading the program: %w", err)
		}
	}
	s.files[name] = &file{name: name, original: s.copies.Original(name), source: text, syntax: f, pkg: k}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if o, ok := k.TypesInfo.Defs[fn.Name].(*types.Func); ok {
				s.funcs[o] = fn
			}
		}
	}
	return nil
}

// withTests keeps, of a package that is there twice, the one with its tests.
func withTests(pkgs []*packages.Package) []*packages.Package {
	var kept []*packages.Package
	at := map[string]int{}
	for _, p := range pkgs {
		if strings.HasSuffix(p.ID, ".test") {
			continue
		}
		if i, ok := at[p.PkgPath]; ok {
			if p.ForTest != "" {
				kept[i] = p
			}
			continue
		}
		at[p.PkgPath] = len(kept)
		kept = append(kept, p)
	}
	return kept
}

// analyse runs the engine on all failures of the run. The first that has fixes is what the
// report is about; those of the others, most of them races, are alternatives, and so is
// one fix for all of them together.
func (p *Program) analyse() (*sli.Analysis, error) {
	var best *sli.Analysis
	var lost error
	var firsts []*sli.Fix
	for _, f := range p.lifted.Failures(p.trace, p.reader.Outcome) {
		a, err := sli.Analyse(p.lifted.Program, p.trace, f, sli.Options{})
		switch {
		case err != nil:
			lost = err
			continue
		case best == nil:
			best = a
		}
		if len(a.Fixes) == 0 {
			continue
		}
		firsts = append(firsts, a.Fixes[0])
		if len(best.Fixes) > 0 {
			best.Fixes = append(best.Fixes, a.Fixes...)
		} else {
			best = a
		}
	}
	if len(firsts) > 1 {
		best.Fixes = append(best.Fixes, sli.Merge(sli.Options{}, firsts...))
	}
	if err := p.trace.Err(); err != nil {
		return nil, err
	}
	if best == nil && lost == nil {
		lost = errors.New("the failure is none that the analysis can begin from")
	}
	if best == nil {
		best = &sli.Analysis{Reasons: []string{lost.Error()}}
	}
	return best, nil
}

// lockObjects finds the variables or fields behind the addresses that were locked, by
// the calls that locked them.
func (p *Program) lockObjects() map[uint64]types.Object {
	all := map[uint64]types.Object{}
	c := p.reader.Cursor(trace.Filter{Kinds: lockKinds})
	for c.Next() {
		e := c.Event()
		if all[e.Addr] != nil {
			continue
		}
		site, ok := p.reader.Site(e.Site)
		if !ok {
			continue
		}
		if f := p.atRun(site.File); f != nil {
			if o := lockedAt(p.fset, f, site.Line); o != nil {
				all[e.Addr] = o
			}
		}
	}
	return all
}

// atRun is the file that a running program names so.
func (s *source) atRun(name string) *file { return s.files[s.copies.AtRun(name)] }

// lockedAt is the variable or field that a line locks.
func lockedAt(fset *token.FileSet, f *file, line int) types.Object {
	var found types.Object
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || fset.PositionFor(call.Pos(), false).Line != line {
			return true
		}
		if op := lockCall(f.pkg.TypesInfo, call); op != nil && op.takes {
			found = op.object
		}
		return true
	})
	return found
}
