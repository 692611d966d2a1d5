package repair

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/lift/gossa"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/overlay"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A failedRun is a recorded run that failed, with the source and the lifted form of the
// program that it was a run of.
type failedRun struct {
	code   *cover.Code
	copies *overlay.Copies // nil if dependencies are left alone
	lifted *gossa.Program
	reader *trace.Reader
	trace  *gossa.Trace
	// lockAt are the fields and variables that declare the locks at addresses.
	lockAt map[uint64]*types.Var
	// analysisOfLocks is what lockset makes of the program, once it was asked for.
	analysisOfLocks *lockset.Analysis
	// inferredGuards says which lock guards what, once it was asked for.
	inferredGuards *guard.Guards
	// callsOfFrame are the calls of the program's own code that stacks have, by their last frame.
	callsOfFrame map[uint32][]trace.Frame
	// declined are mistakes that no change was written for, and why.
	declined []string
	minimal  bool // a fix covers what the run showed and nothing else
	packages []*packages.Package
	ssa      *ssa.Program
	// missed are the sites of accesses that the lifted program has no instruction for.
	missed []trace.Site
}

// newFailedRun loads the program that a trace was recorded from.
func newFailedRun(config instrument.Config, sources *sourceReader, reader *trace.Reader) (*failedRun, error) {
	copies := sources.copies
	code, pkgs, err := sources.read(config, &reader.Header)
	if err != nil {
		return nil, err
	}
	prog, built := load.SSA(pkgs)
	r := &failedRun{code: code, copies: copies, reader: reader, trace: gossa.NewTrace(reader), packages: pkgs, ssa: prog}
	var syntax []*ast.File
	for _, k := range pkgs {
		syntax = append(syntax, k.Syntax...)
	}
	if r.lifted, err = gossa.Lift(prog, built, syntax); err != nil {
		return nil, err
	}
	r.missed = r.lifted.Bind(r.trace)
	r.lockAt = r.locksTaken()
	return r, nil
}

// A sourceReader reads the source of a program, as it is and with candidates.
type sourceReader struct {
	copies *overlay.Copies // nil if dependencies are left alone
	// base is the program as it was read first, by flags and in an environment; nil before.
	base       *load.Base
	flags, env []string
	// texts are the files of the program as it was read first, by name.
	texts map[string][]byte
}

// read reads the source of the program that a trace is of.
func (s *sourceReader) read(config instrument.Config, h *trace.Header) (*cover.Code, []*packages.Package, error) {
	pkgs, err := s.load(config, h)
	if err != nil {
		return nil, nil, err
	}
	pkgs = withTests(pkgs)
	p, err := source.Read(pkgs, config.Overlay)
	if err != nil {
		return nil, nil, err
	}
	code := cover.NewCode(p)
	code.Original = s.copies.Original
	s.noteOriginalLines(code)
	return code, pkgs, nil
}

// noteOriginalLines has the files of a program know the lines that they have in the program as it was read
// first: what is told to people is told in these.
func (s *sourceReader) noteOriginalLines(code *cover.Code) {
	first := s.texts == nil
	if first {
		s.texts = make(map[string][]byte)
	}
	for _, f := range code.Files() {
		name := code.OriginalName(f)
		switch before, known := s.texts[name]; {
		case first:
			s.texts[name] = f.Text
		case known && !bytes.Equal(before, f.Text):
			f.Before = source.NewLines(before, f.Text)
		}
	}
}

// load loads the packages, from those that were loaded first if only files of these are changed.
func (s *sourceReader) load(config instrument.Config, h *trace.Header) ([]*packages.Package, error) {
	if s.base != nil && slices.Equal(s.flags, config.Flags) && slices.Equal(s.env, config.Env) {
		pkgs, err := s.base.With(config.Overlay)
		if !errors.Is(err, load.ErrOtherFiles) {
			return pkgs, err
		}
	}
	all := load.Config{
		Dir: config.Dir, Patterns: patterns(config, h), Tests: config.Tests, TestsOf: h.Package,
		Flags: config.Flags, Env: config.Env, Overlay: config.Overlay,
	}
	pkgs, err := load.Packages(all)
	if err == nil && s.base == nil {
		s.base, s.flags, s.env = load.NewBase(all, pkgs), config.Flags, config.Env
	}
	return pkgs, err
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

// errLate is why the analysis of a run was not brought to its end.
var errLate = errors.New("the time is over")

// analyse runs the engine on all failures of the run. The first that has fixes is what the
// report is about; those of the others, most of them races, are alternatives, and so is
// one fix for all of them together. At a time the analysis ends: with what there is by then
// or, if there is nothing, with errLate.
func (r *failedRun) analyse(ctx context.Context, until time.Time) (*sli.Analysis, error) {
	options := sli.Options{Actor: "goroutine", AroundLoops: true, Interrupted: func() error {
		if ctx.Err() == nil && time.Now().After(until) {
			return errLate
		}
		return context.Cause(ctx)
	}}
	r.trace.Interrupted = options.Interrupted
	var best *sli.Analysis
	var lost error
	var firsts []*sli.Fix
	run := sli.NewRun(r.lifted.Program, r.trace, options)
	for _, f := range r.lifted.Failures(r.trace, r.reader.Outcome) {
		a, err := run.Analyse(f) // both, if it was interrupted
		if err != nil {
			lost = err
		}
		switch {
		case a == nil:
		case best == nil, len(best.Fixes) == 0 && len(a.Fixes) > 0:
			best = a
		default:
			best.Fixes = append(best.Fixes, a.Fixes...)
		}
		if a != nil && len(a.Fixes) > 0 {
			firsts = append(firsts, a.Fixes[0])
		}
		if options.Interrupted() != nil {
			break
		}
	}
	if len(firsts) > 1 {
		best.Fixes = append(best.Fixes, sli.Merge(options, firsts...))
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(lost, errLate) && len(firsts) == 0:
		return nil, lost
	case best != nil:
		return best, nil
	case r.trace.Err() != nil:
		return nil, r.trace.Err()
	case lost == nil:
		lost = errors.New("the failure is none that the analysis can begin from")
	}
	return &sli.Analysis{Reasons: []string{lost.Error()}}, nil
}

// locksTaken finds the fields and variables whose locks are at the addresses that were
// locked, by the calls that locked them.
func (r *failedRun) locksTaken() map[uint64]*types.Var {
	all := map[uint64]*types.Var{}
	c := r.reader.Cursor(trace.Filter{Kinds: []event.Kind{event.Lock, event.RLock}})
	for c.Next() {
		e := c.Event()
		if all[e.Addr] != nil {
			continue
		}
		site, ok := r.reader.Site(e.Site)
		if !ok {
			continue
		}
		if f := r.code.File(r.copies.AtRun(site.File)); f != nil {
			if lock := r.code.LockTakenAt(f, site.Line); lock != nil {
				all[e.Addr] = lock
			}
		}
	}
	return all
}
