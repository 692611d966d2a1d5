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
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Program is the source of a program with a run of it that failed.
type Program struct {
	lifted  *gossa.Program
	fset    *token.FileSet
	reader  *trace.Reader
	trace   *gossa.Trace
	files   map[string]*file // by name
	funcs   map[*types.Func]*ast.FuncDecl
	overlay map[string][]byte
	locks   map[uint64]types.Object // what was locked at an address
}

// A file is one source file.
type file struct {
	name   string
	source []byte
	syntax *ast.File
	pkg    *packages.Package
}

// Load loads the program that a trace was recorded from.
func Load(config instrument.Config, r *trace.Reader) (*Program, error) {
	pkgs, err := load.Packages(load.Config{
		Dir: config.Dir, Patterns: patterns(config, r), Tests: config.Tests, Flags: config.Flags, Env: config.Env, Overlay: config.Overlay,
	})
	if err != nil {
		return nil, err
	}
	pkgs = withTests(pkgs)
	prog, built := load.SSA(pkgs)
	p := &Program{
		fset: prog.Fset, reader: r, trace: gossa.NewTrace(r), overlay: config.Overlay,
		files: map[string]*file{}, funcs: map[*types.Func]*ast.FuncDecl{},
	}
	var syntax []*ast.File
	for _, k := range pkgs {
		for _, f := range k.Syntax {
			syntax = append(syntax, f)
			if err := p.addFile(f, k); err != nil {
				return nil, err
			}
		}
	}
	if p.lifted, err = gossa.Lift(prog, built, syntax); err != nil {
		return nil, err
	}
	p.lifted.Bind(r.Sites())
	p.locks = p.lockObjects()
	return p, nil
}

// patterns are the packages whose source matters: all that are the program's own.
func patterns(config instrument.Config, r *trace.Reader) []string {
	all := append([]string(nil), config.Patterns...)
	for _, path := range r.Header.Own {
		if path = strings.TrimSuffix(path, "_test"); !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

func (p *Program) addFile(f *ast.File, k *packages.Package) error {
	name := p.fset.PositionFor(f.Pos(), false).Filename
	source, ok := p.overlay[name]
	if !ok {
		var err error
		if source, err = os.ReadFile(name); err != nil {
			return fmt.Errorf("reading the program: %w", err)
		}
	}
	p.files[name] = &file{name: name, source: source, syntax: f, pkg: k}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if o, ok := k.TypesInfo.Defs[fn.Name].(*types.Func); ok {
				p.funcs[o] = fn
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

// analyse runs the engine on the failures of the run until one gives fixes.
func (p *Program) analyse() (*sli.Analysis, error) {
	var best *sli.Analysis
	var lost error
	for _, f := range p.lifted.Failures(p.trace, p.reader.Outcome) {
		a, err := sli.Analyse(p.lifted.Program, p.trace, f, sli.Options{})
		switch {
		case err != nil:
			lost = err
			continue
		case best == nil:
			best = a
		}
		if len(a.Fixes) > 0 {
			if len(best.Fixes) > 0 {
				best.Fixes = append(best.Fixes, a.Fixes...)
			} else {
				best = a
			}
		}
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
		if f := p.files[site.File]; f != nil {
			if o := lockedAt(p.fset, f, site.Line); o != nil {
				all[e.Addr] = o
			}
		}
	}
	return all
}

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
