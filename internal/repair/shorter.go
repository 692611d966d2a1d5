package repair

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A test that does something two hundred times has runs that are too long for all of their
// schedules to be tried, and nearly always fails in two or three rounds as well:
//
//	for i := range 200 {               for i := range 3 {
//		wg.Go(func() { s.Add(i) })         wg.Go(func() { s.Add(i) })
//	}                                  }
//	wg.Wait()                          wg.Wait()
//	if s.count != 200 {                if s.count != 3 {
//
// So where a proof is sampled, the test is tried with fewer rounds. If the program as it was
// passes that one by the default schedule and fails it, by another, in the way that is to be fixed,
// the fix has to stand it as well; and a person is told, because it is the better test.

// A ShorterTest is the failing test with fewer rounds.
type ShorterTest struct {
	// File has From in the lines named, where To shows the same failure.
	File  string `json:"file"`
	Lines []int  `json:"lines"`
	From  int    `json:"from"`
	To    int    `json:"to"`
	// Steps are those of the failing run, and ShorterSteps those of the shorter one.
	Steps        uint64 `json:"steps"`
	ShorterSteps uint64 `json:"shorter_steps"`
	// Strength is what the fix has stood with it; nil if there is none.
	Strength *Strength `json:"strength,omitempty"`

	name string // of the file, with its directory
	text []byte // of the file
}

func (s *ShorterTest) String() string {
	var lines []string
	for _, l := range s.Lines {
		lines = append(lines, strconv.Itoa(l))
	}
	text := fmt.Sprintf("with %d in the place of %d (%s:%s), the test fails in the same way in a run of %d steps, and not of %d", s.To, s.From, s.File, strings.Join(lines, ","), s.ShorterSteps, s.Steps)
	if s.Strength != nil {
		text += fmt.Sprintf("; with the fix, that one is proven too (%s)", s.Strength)
	}
	return text
}

const (
	// fewRounds are what is tried in the place of a number of rounds, of manyRounds at least.
	manyRounds = 8
	// shorterWithin is how long the failure is looked for in a shorter test.
	shorterWithin = 5 * time.Second
)

var fewRounds = []int{2, 3}

// shorter is the failing test with fewer rounds, if there is one that shows the same failure. It is
// looked for once.
func (f *fixer) shorter(ctx context.Context) (*ShorterTest, error) {
	if f.shortened != nil || f.triedShorter || !f.config.Tests {
		return f.shortened, nil
	}
	f.triedShorter = true
	f.detail("looking for a shorter test that fails in the same way")
	begin := time.Now()
	defer func() { f.until = f.until.Add(time.Since(begin)) }()
	for _, s := range f.result.run.fewerRounds(f.target) {
		config, err := f.changedConfig(nil, f.result.run)
		if err != nil {
			return nil, err
		}
		fails, err := f.failsAlike(ctx, config, s)
		if err != nil || fails {
			f.shortened = s
			return s, err
		}
	}
	return nil, nil
}

// fewerRounds are the test with fewer rounds of the loop that has most of them, the fewest first.
// All numbers of the test that are the same stand for the rounds, as in what it expects.
func (r *failedRun) fewerRounds(target string) []*ShorterTest {
	name, _, _ := strings.Cut(target, "/")
	for _, file := range r.code.Files() {
		if !strings.HasSuffix(file.Name, "_test.go") {
			continue
		}
		for _, d := range file.Syntax.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Name.Name != name || decl.Recv != nil || decl.Body == nil {
				continue
			}
			rounds := mostRounds(decl.Body)
			if rounds < manyRounds {
				return nil
			}
			var all []*ShorterTest
			for _, n := range fewRounds {
				if s := r.withRounds(file, decl.Body, rounds, n); s != nil {
					all = append(all, s)
				}
			}
			return all
		}
	}
	return nil
}

// withRounds is the test with another number in the place of one; nil if it cannot be written.
func (r *failedRun) withRounds(file *source.File, body ast.Node, from, to int) *ShorterTest {
	s := &ShorterTest{File: filepath.Base(file.Name), From: from, To: to, Steps: r.reader.Outcome.Steps, name: file.Name}
	edits := file.EditInPlace()
	ast.Inspect(body, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && number(e) == from {
			edits.Replace(e, strconv.Itoa(to))
			if line := file.Line(e.Pos()); !slices.Contains(s.Lines, line) {
				s.Lines = append(s.Lines, line)
			}
		}
		return true
	})
	var err error
	if s.text, err = edits.Bytes(); err != nil {
		return nil
	}
	return s
}

// mostRounds is the greatest number that bounds a loop; 0 if there is none.
func mostRounds(body ast.Node) int {
	most := 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			most = max(most, number(n.X))
		case *ast.ForStmt:
			if c, ok := n.Cond.(*ast.BinaryExpr); ok && (c.Op == token.LSS || c.Op == token.LEQ || c.Op == token.NEQ) {
				most = max(most, number(c.Y))
			}
		case *ast.ValueSpec: // const rounds = 200
			for _, v := range n.Values {
				most = max(most, number(v))
			}
		}
		return true
	})
	return most
}

// number is the number that an expression spells, 0 if it spells none.
func number(e ast.Expr) int {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.INT {
		if n, err := strconv.ParseInt(lit.Value, 0, 32); err == nil {
			return int(n)
		}
	}
	return 0
}

// withText is a configuration with the shorter test in the place of the test.
func (s *ShorterTest) withText(config instrument.Config) instrument.Config {
	config.Overlay = maps.Clone(config.Overlay)
	config.Overlay[s.name] = s.text
	return config
}

// failsAlike reports whether the program as it was passes a shorter test by the default schedule,
// and fails it by another in the way that is to be fixed.
func (f *fixer) failsAlike(ctx context.Context, config instrument.Config, s *ShorterTest) (bool, error) {
	build, err := explore.New(ctx, s.withText(config), f.args...)
	if err != nil {
		return false, context.Cause(ctx) // a number that was no number of rounds
	}
	defer build.Close()
	program := f.programOf(build)
	o := f.opts.Explore
	o.Races = false
	const unswitched = "default"
	done, err := program.Record(ctx, f.target, unswitched, &o, "")
	if err != nil || done.Outcome.Worst() != nil {
		return false, context.Cause(ctx)
	}
	o.Races = f.result.Failure.Kind == event.FailureRace // else one would hide what is looked for
	o.Budget, o.Trace = shorterWithin, filepath.Join(f.opts.Temp, "shorter.trace")
	res, err := program.Explore(ctx, f.target, &o)
	if err != nil || res.Failure == nil || res.Death != nil {
		return false, context.Cause(ctx)
	}
	r, err := trace.Open(o.Trace)
	if err != nil {
		return false, err
	}
	defer r.Close()
	s.ShorterSteps = r.Outcome.Steps
	return s.ShorterSteps < s.Steps && explore.SameFailure(f.result.run.reader, r), nil
}

// proveShorter has a candidate stand the shorter test, too, if there is one.
func (f *fixer) proveShorter(ctx context.Context, c *Candidate) (err error) {
	s, err := f.shorter(ctx)
	if s == nil || err != nil || c.Patch.Files[s.name] != nil {
		return err
	}
	f.detail("trying all schedules of the shorter test")
	build, err := explore.New(ctx, s.withText(c.config), f.args...)
	if err != nil {
		return context.Cause(ctx)
	}
	defer build.Close()
	o := *f.opts
	o.Explore.Trace, o.Explore.Progress = filepath.Join(f.opts.Temp, fmt.Sprintf("shorter%d.trace", f.tried)), f.searching
	t, err := Try(ctx, f.programOf(build), f.target, &o, s.ShorterSteps, f.until)
	switch {
	case err != nil:
		return err
	case t.Result.Failure != nil:
		c.Why = fmt.Sprintf("with %d in the place of %d (%s:%d), a schedule of the test still leads to %s", s.To, s.From, s.File, s.Lines[0], t.Result.Failure)
		c.stillFails = t.Result.Failure.Kind == f.result.Failure.Kind
		r, err := trace.Open(o.Explore.Trace)
		if err != nil {
			return err
		}
		defer r.Close()
		c.Broken = newFailingRun(r, c.lineBefore)
		return nil
	}
	stood := *s
	stood.Strength = &t.Strength
	c.Proof.Shorter = &stood
	return nil
}
