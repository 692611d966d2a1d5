package repair

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// maxFixes is how many of the engine's fixes are turned into candidates.
const maxFixes = 8

// candidates are the changes that may fix a failure, the best first: by how many of the
// run's data races they leave, which would take further rounds; by the engine's cost; by
// how well the lock fits the program; and those that change test code last. After two
// rounds that were not enough, those come first that hold the lock throughout methods.
func (p *Program) candidates(a *sli.Analysis, base *Patch, rounds int) []*Candidate {
	var first, good, inTests, failed []*Candidate
	regionsOf := map[*sli.Fix][]*Region{}
	left := map[*sli.Fix]int{}
	fixes := slices.Clone(a.Fixes)
	if f, regions := p.stacks(); len(fixes) == 0 && f != nil {
		fixes = append(fixes, f)
		regionsOf[f] = regions
	}
	for _, f := range fixes {
		if regionsOf[f] == nil {
			regionsOf[f] = p.regions(f)
		}
		left[f] = p.racesLeft(regionsOf[f])
	}
	slices.SortStableFunc(fixes, func(a, b *sli.Fix) int { return left[a] - left[b] })
	for i, f := range fixes {
		if i == maxFixes {
			break
		}
		regions := regionsOf[f]
		if len(regions) == 0 {
			failed = append(failed, &Candidate{Fix: f, Lock: "a lock", Why: "its sections are not in the program's own source"})
			continue
		}
		tests := slices.ContainsFunc(regions, func(r *Region) bool { return r.test })
		unfit := "" // why the first of the program's own locks is not it
		for _, l := range p.locksFor(f, regions) {
			c := &Candidate{Fix: f, Lock: l.words, Reason: l.reason}
			switch {
			case l.object == nil && unfit != "":
				c.Reason = unfit
			case l.object != nil && base.added(l):
				c.Reason = "the first sections have it"
			}
			patch, err := p.write(regions, l, base)
			if errors.Is(err, errCovered) {
				// They exclude each other as it is: another lock would change nothing.
				c.Why = err.Error()
				failed = append(failed, c)
				break
			}
			switch {
			case err != nil:
				c.Why = err.Error()
				failed = append(failed, c)
				if l.object != nil && unfit == "" {
					unfit = l.words + " does not fit: " + c.Why
				}
			case tests:
				c.Patch = patch
				inTests = append(inTests, c)
			default:
				c.Patch = patch
				good = append(good, c)
			}
			if c := p.throughout(f, regions, l, base); c != nil && rounds > 1 {
				first = append(first, c)
			} else if c != nil {
				good = append(good, c)
			}
		}
	}
	return slices.Concat(first, good, inTests, failed)
}

// throughout is a candidate that holds a lock which an earlier round added from start to
// end of the methods that the regions are in; nil if they are in anything else.
func (p *Program) throughout(f *sli.Fix, regions []*Region, l *lock, base *Patch) *Candidate {
	if !base.added(l) || receiver(regions) == nil || receiver(regions) != l.owner {
		return nil
	}
	var whole []*Region
	for _, r := range regions {
		if r.test {
			return nil
		}
		c := *r
		c.list, c.from, c.to = r.body.List, 0, len(r.body.List)-1
		whole = append(whole, &c)
	}
	patch, err := p.write(whole, l, base)
	if err != nil {
		return nil
	}
	return &Candidate{Fix: f, Lock: l.words, Reason: "parts of the methods were not enough, so they hold it throughout", Patch: patch}
}

// racesLeft counts the data races of the run of which an access is in no region.
func (p *Program) racesLeft(regions []*Region) int {
	covered := func(at *trace.Point) bool {
		site, ok := p.reader.Site(at.Site)
		if !ok {
			return false
		}
		return slices.ContainsFunc(regions, func(r *Region) bool {
			from, to := p.fset.PositionFor(r.first().Pos(), false), p.fset.PositionFor(r.last().End(), false)
			return site.File == from.Filename && from.Line <= site.Line && site.Line <= to.Line
		})
	}
	n := 0
	for i := range p.reader.Outcome.Failures {
		f := &p.reader.Outcome.Failures[i]
		if f.Kind == event.FailureRace && len(f.Others) == 1 && !(covered(&f.Point) && covered(&f.Others[0])) {
			n++
		}
	}
	return n
}

// stacks is a fix for races whose accesses are not in the program itself but in a library
// that it calls: the calls are the sections. Their regions come with it.
func (p *Program) stacks() (*sli.Fix, []*Region) {
	var all []*Region
	for i := range p.reader.Outcome.Failures {
		f := &p.reader.Outcome.Failures[i]
		if f.Kind != event.FailureRace {
			continue
		}
		for _, at := range append([]trace.Point{f.Point}, f.Others...) {
			r := p.ownCall(&at)
			if r == nil {
				return nil, nil
			}
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	all = merge(all)
	return &sli.Fix{Cost: 11 * len(all)}, all
}

// ownCall is the statement of the program that an access is made from.
func (p *Program) ownCall(at *trace.Point) *Region {
	for _, c := range at.Stack {
		f := p.files[c.File]
		if f == nil {
			continue
		}
		var found ast.Node
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && found == nil {
				from, to := p.fset.PositionFor(call.Pos(), false).Line, p.fset.PositionFor(call.End(), false).Line
				if from <= c.Line && c.Line <= to && to-from < 2 {
					found = call
				}
			}
			return true
		})
		if found == nil {
			return nil
		}
		r := p.region(innermostFunc(f, found), []ast.Node{found})
		if r != nil {
			r.write = true
			r.test = strings.HasSuffix(f.name, "_test.go")
		}
		return r
	}
	return nil
}

var errCovered = errors.New("the lock covers all of the sections already")

// write makes the patch of a fix with a lock.
func (p *Program) write(regions []*Region, l *lock, base *Patch) (*Patch, error) {
	work := make([]*Region, 0, len(regions))
	for _, r := range regions {
		c := *r
		c.nodes, c.data = slices.Clone(r.nodes), slices.Clone(r.data)
		more, err := p.settle(&c, l, 0)
		if err != nil {
			return nil, err
		}
		work = append(work, more...)
	}
	if l.object == nil {
		for _, r := range work {
			p.outward(r)
		}
	}
	work = merge(work)
	if l.object != nil {
		// Two regions may touch the same section.
		for _, r := range work {
			r.from, r.to = extent(r, lockStmts(r, l))
		}
		work = merge(work)
	}
	work = p.outermost(work)
	e := newEdits(p.fset)
	changed := false
	for _, r := range work {
		done, err := p.absorb(e, r, l)
		if err != nil {
			return nil, err
		}
		if done {
			continue
		}
		if err := p.nested(r, work, l); err != nil {
			return nil, err
		}
		changed = true
		if err := p.cover(e, r, l); err != nil {
			return nil, err
		}
	}
	if !changed {
		return nil, errCovered
	}
	if l.declare != nil {
		if err := l.declare(e); err != nil {
			return nil, err
		}
	}
	patch, err := e.patch(base)
	if err == nil && l.declare != nil {
		patch.Locks = append(patch.Locks, l.words)
	}
	return patch, err
}

// outermost drops the regions of functions that are called from other regions alone: the
// lock is held there already.
func (p *Program) outermost(regions []*Region) []*Region {
	within := func(c, r *Region) bool {
		return c.fn == r.fn && r.first().Pos() <= c.first().Pos() && c.last().End() <= r.last().End()
	}
	for i, r := range regions {
		calls, static := p.callsOf(r.fn)
		if !static || len(calls) == 0 {
			continue
		}
		inside := true
		for _, c := range calls {
			inside = inside && slices.ContainsFunc(regions, func(o *Region) bool { return o.fn != r.fn && within(c, o) })
		}
		if inside {
			return p.outermost(slices.Delete(slices.Clone(regions), i, i+1))
		}
	}
	return regions
}

// outward makes a region cover the whole of a section of another lock that it lies in: a
// new lock is taken first everywhere, so that the two have one order.
func (p *Program) outward(r *Region) {
	for k := r.from - 1; k >= 0; k-- {
		op, deferred := lockStmt(r.info(), r.list[k])
		if op == nil || deferred {
			continue
		}
		if !op.takes {
			return // released before
		}
		to := len(r.list) - 1
		for i := r.to + 1; i < len(r.list); i++ {
			if u, deferred := lockStmt(r.info(), r.list[i]); u != nil && !deferred && !u.takes && u.object == op.object {
				to = i
				break
			}
		}
		r.from, r.to = k, to
	}
}

// maxLift is how many calls up a section may move.
const maxLift = 4

// settle finds the regions that stand for one: itself; none, if the lock is held there
// already; or the calls of its function, if it cannot name the lock or is called by some
// with the lock held.
func (p *Program) settle(r *Region, l *lock, depth int) ([]*Region, error) {
	if l.object != nil && p.held(r, l) {
		return nil, nil
	}
	calls, static := p.callsOf(r.fn)
	byHolder := l.object != nil && slices.ContainsFunc(calls, func(c *Region) bool { return p.holds(c, l.object) != nil })
	if p.name(l, r) != "" && !byHolder {
		return []*Region{r}, nil
	}
	if !static || len(calls) == 0 || depth == maxLift {
		return nil, fmt.Errorf("%s cannot be named in %s", l.words, describe(p, r))
	}
	var all []*Region
	for _, c := range calls {
		if l.object != nil {
			if op := p.holds(c, l.object); op != nil && (!op.read || !r.write) {
				continue
			}
		}
		c.write = r.write
		more, err := p.settle(c, l, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// held reports whether every time that was looked at, all accesses of a region held the
// lock, from one taking of it.
func (p *Program) held(r *Region, l *lock) bool {
	if r.section == nil || len(r.section.Accesses) == 0 {
		return false
	}
	for _, x := range r.section.Accesses {
		has := false
		for _, h := range x.Locks {
			if p.locks[h.Lock] == l.object && (!h.Read || !r.write) {
				has = true
			}
		}
		if !has {
			return false
		}
	}
	if len(r.section.Accesses) == 1 {
		return true
	}
	// Several accesses may hold it one after the other: only if nothing in the function
	// takes it were they under one.
	taken := false
	within(r.body.List, func(n ast.Node) {
		if c, ok := n.(*ast.CallExpr); ok {
			if op := lockCall(r.info(), c); op != nil && op.object == l.object {
				taken = true
			}
		}
	})
	return !taken && !p.calleesTake(r, l)
}

// calleesTake reports whether a function that is called in a region takes the lock.
func (p *Program) calleesTake(r *Region, l *lock) bool {
	found := false
	seen := map[*types.Func]bool{}
	var look func(info *types.Info, stmts []ast.Stmt)
	look = func(info *types.Info, stmts []ast.Stmt) {
		atOnce(&ast.BlockStmt{List: stmts}, func(n ast.Node) {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			if op := lockCall(info, c); op != nil && op.object == l.object {
				found = true
			}
			fn, _ := info.Uses[calleeIdent(c)].(*types.Func)
			if fn == nil {
				return
			}
			if d := p.funcs[fn.Origin()]; d != nil && d.Body != nil && !seen[fn.Origin()] {
				seen[fn.Origin()] = true
				if f := p.fileOf(d); f != nil {
					look(f.pkg.TypesInfo, d.Body.List)
				}
			}
		})
	}
	look(r.info(), r.list[r.from:r.to+1])
	return found
}

// callsOf are the statements that call a function, and whether it is used in no other
// way.
func (p *Program) callsOf(fn ast.Node) (calls []*Region, static bool) {
	d, ok := fn.(*ast.FuncDecl)
	if !ok {
		return nil, false
	}
	static = true
	for _, f := range p.files {
		info := f.pkg.TypesInfo
		called := map[*ast.Ident]*ast.CallExpr{}
		elsewhere := map[*ast.CallExpr]bool{} // calls that a statement makes, but not there
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if id := calleeIdent(n); id != nil {
					called[id] = n
				}
			case *ast.GoStmt:
				elsewhere[n.Call] = true
			case *ast.DeferStmt:
				elsewhere[n.Call] = true
			}
			return true
		})
		for id, o := range info.Uses {
			fo, ok := o.(*types.Func)
			if !ok || p.funcs[fo.Origin()] != d || id.Pos() < f.syntax.FileStart || f.syntax.FileEnd <= id.Pos() {
				continue // another function, or another file of the package
			}
			c := called[id]
			if c == nil || elsewhere[c] {
				static = false
				continue
			}
			if r := p.region(innermostFunc(f, c), []ast.Node{c}); r != nil {
				calls = append(calls, r)
			}
		}
	}
	slices.SortFunc(calls, func(a, b *Region) int { return int(a.first().Pos() - b.first().Pos()) })
	return calls, static
}

// innermostFunc is the function that a node is in.
func innermostFunc(f *file, n ast.Node) ast.Node {
	var found ast.Node
	ast.Inspect(f.syntax, func(m ast.Node) bool {
		switch m.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			if m.Pos() <= n.Pos() && n.End() <= m.End() {
				found = m
			}
		}
		return true
	})
	return found
}

// holds is the taking of a mutex that a region's function holds when the region begins,
// as far as its own statements tell; nil if it does not.
func (p *Program) holds(r *Region, object types.Object) *lockOp {
	var held *lockOp
	var walk func(list []ast.Stmt)
	walk = func(list []ast.Stmt) {
		for _, s := range list {
			if s.Pos() >= r.first().Pos() {
				return
			}
			if x, ok := s.(*ast.ExprStmt); ok {
				if c, ok := x.X.(*ast.CallExpr); ok {
					if op := lockCall(r.info(), c); op != nil && op.object == object {
						if held = nil; op.takes {
							held = op
						}
					}
				}
			}
			if s.Pos() <= r.first().Pos() && r.last().End() <= s.End() {
				ast.Inspect(s, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.BlockStmt:
						if n.Pos() <= r.first().Pos() && r.last().End() <= n.End() {
							walk(n.List)
							return false
						}
					case *ast.CaseClause:
						walk(n.Body)
						return false
					case *ast.CommClause:
						walk(n.Body)
						return false
					case *ast.FuncLit:
						return false
					}
					return true
				})
			}
		}
	}
	walk(r.body.List)
	return held
}
