package repair

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
	"github.com/cofferdam-go/cofferdam/internal/repair/uncovered"
)

// A section has more in it than what the run raced on, and what else it accesses may be accessed
// elsewhere without the lock:
//
//	func (p *Pool) Get() *Conn {         the run raced on p.conns
//		p.mu.Lock()
//		defer p.mu.Unlock()
//		...
//		c.busy = true
//	}
//	func (p *Pool) Put(c *Conn) {
//		c.busy = false                   not covered, and no other lock is for it
//	}
//
// Such data is half guarded. That is seen in the changed program, so a candidate with it becomes a
// larger one, whose lock guards that data as well. What cannot be covered then is listed.

// maxEnlarged is how many times a candidate becomes a larger one.
const maxEnlarged = 3

// A changedProgram is the program with a candidate.
type changedProgram struct {
	code     *cover.Code
	packages []*packages.Package
	held     *lockset.Analysis
}

// locksHeld is what lockset makes of the changed program.
func (p *changedProgram) locksHeld() *lockset.Analysis {
	if p.held == nil {
		prog, _ := load.SSA(p.packages)
		p.held = locksHeld(prog, p.packages)
	}
	return p.held
}

// forUncovered is the changed program for what it leaves uncovered.
func (p *changedProgram) forUncovered() *uncovered.Program {
	return &uncovered.Program{Code: p.code, Held: p.locksHeld()}
}

// changedBy reads the program with a candidate. An error says why it does not compile.
func (f *fixer) changedBy(c *Candidate) (*changedProgram, error) {
	if c.changed != nil {
		return c.changed, nil
	}
	config, err := f.changedConfig(c.Patch, c.run)
	if err != nil {
		return nil, err
	}
	code, pkgs, err := f.sources.read(config, &c.run.reader.Header)
	if err != nil {
		return nil, err
	}
	c.changed = &changedProgram{code: code, packages: pkgs}
	return c.changed, nil
}

// enlarge returns the candidate whose lock also guards what it would guard by half; nil if there is
// nothing of the kind, or nothing that can be covered.
func (f *fixer) enlarge(c *Candidate) (*Candidate, error) {
	if c.enlarged || c.regions == nil || f.opts.Minimal {
		return nil, nil
	}
	c.enlarged = true
	var largest *Candidate
	for range maxEnlarged {
		changed, err := f.changedBy(c)
		if err != nil {
			return largest, nil // the proof says of it that it does not compile
		}
		data := c.Patch.Guarded(c.lock)
		alone := wholePatch{patch: c.Patch, uncoverable: c.uncoverable, apart: c.apart}
		w := c.run.withMore(alone, c.regions, data, namesOf(changed.code, c.halfGuarded(changed)...), c.lock, c.base)
		if w.patch == nil || w.patch.Key() == c.Patch.Key() {
			break
		}
		next := *c
		next.Patch, next.uncoverable, next.apart, next.changed = w.patch, w.uncoverable, w.apart, nil
		c, largest = &next, &next
	}
	return largest, nil
}

// halfGuarded are the variables that the lock of a candidate guards by half in the changed program,
// and that it did not touch before, or that a changed function uses; those that it is to guard are judged
// by themselves.
func (c *Candidate) halfGuarded(changed *changedProgram) []whole.HalfGuarded {
	lock := changed.code.LockOf(c.lock)
	if lock == nil {
		return nil
	}
	data := changed.code.Variables(c.Patch.Guarded(c.lock))
	var before []dataname.Name
	if c.lock.Exists() {
		before = namesOf(c.run.code, whole.Half(c.run.locksHeld(), c.lock.Object())...)
	}
	return slices.DeleteFunc(whole.Half(changed.locksHeld(), lock), func(h whole.HalfGuarded) bool {
		names := namesOf(changed.code, h)
		return len(names) == 0 || slices.Contains(before, names[0]) && !c.changesUserOf(changed, h.Variable) ||
			slices.ContainsFunc(data, func(d *types.Var) bool { return d.Pos() == h.Variable.Pos() })
	})
}

// changesUserOf reports whether a candidate changes a function that accesses a variable.
func (c *Candidate) changesUserOf(changed *changedProgram, variable *types.Var) bool {
	for _, v := range changed.locksHeld().Variables {
		if v.Object.Pos() == variable.Pos() {
			return slices.ContainsFunc(v.Sites, func(s *lockset.Site) bool { return c.touches(changed, s.Func) })
		}
	}
	return false
}

// namesOf are the names of half guarded fields and variables of packages.
func namesOf(code *cover.Code, all ...whole.HalfGuarded) []dataname.Name {
	d := new(cover.Data)
	for _, h := range all {
		switch v := h.Variable; {
		case v.IsField():
			if owner := code.OwnerOf(v); owner != nil {
				d.AddField(owner, v)
			}
		case v.Parent() == v.Pkg().Scope():
			d.AddGlobal(v)
		}
	}
	return d.Names(code)
}

// companionsLeft tells of companions of the lock's data that the candidate does not guard either. Of a
// lock that the program had before, those count which the changed functions use without any.
func (c *Candidate) companionsLeft(fix *uncovered.Fix, changed *changedProgram, halves []whole.HalfGuarded) []uncovered.Access {
	left := changed.code.Variables(c.run.companions(c.Patch.Guarded(c.lock), c.lock, c.base))
	left = slices.DeleteFunc(left, func(v *types.Var) bool {
		return slices.ContainsFunc(halves, func(h whole.HalfGuarded) bool { return h.Variable.Pos() == v.Pos() })
	})
	var only func(*ssa.Function) bool
	if c.isOwn() {
		only = func(fn *ssa.Function) bool { return c.touches(changed, fn) }
	}
	return fix.Companions(left, only)
}

// isOwn reports whether the lock is one that the program had before any fix: what else it may be
// there for is not the fix's to say.
func (c *Candidate) isOwn() bool { return c.lock.Exists() && !c.Patch.Added(c.lock) }

// touches reports whether a candidate changes a function, which is one of the changed program.
func (c *Candidate) touches(changed *changedProgram, fn *ssa.Function) bool {
	return uncovered.Touches(changed.code, c.Patch.Before, fn)
}
