package repair

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
)

// A run shows some of the accesses to the data of a lock, and a fix that covers those alone
// breaks as soon as another method runs. So a fix is made whole: all accesses to the data
// that its lock is to guard, in all packages at hand, are covered with it, those together
// that depend on each other.
//
//	func (c *counter) add() {      the run raced here: covered by the engine's section
//		c.n++
//	}
//	func (c *counter) reset() {    never called by the test: covered with it
//		c.n = 0
//	}

// An Uncovered access is one to the data of a fix's lock that may be made without the lock.
type Uncovered struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Func string `json:"function"`
	Data string `json:"data"`
	// Write says that it writes.
	Write bool `json:"write"`
	// Why is why it is not covered.
	Why string `json:"why"`
}

func (u *Uncovered) String() string {
	verb := "read"
	if u.Write {
		verb = "write"
	}
	return fmt.Sprintf("%s of %s in %s (%s:%d): %s", verb, u.Data, u.Func, filepath.Base(u.File), u.Line, u.Why)
}

// locksHeld analyses which locks the program holds at its accesses.
func locksHeld(prog *ssa.Program, pkgs []*packages.Package) *lockset.Analysis {
	none := func(*ssa.Function) ([]*locks.Place, bool) { return nil, false }
	return lockset.Analyse(prog, pkgs, lockset.Places(pkgs), none)
}

// locksHeld is what lockset makes of the program of the run.
func (r *failedRun) locksHeld() *lockset.Analysis {
	if r.analysisOfLocks == nil {
		r.analysisOfLocks = locksHeld(r.ssa, r.packages)
	}
	return r.analysisOfLocks
}

// A sibling is a group of accesses that a fix covers although no section of the engine has
// them.
type sibling struct {
	group *whole.Group
	// whole is the region of all of it; parts are regions of what must stay together, for
	// when the whole cannot be covered.
	whole *cover.Region
	parts []*cover.Region
}

// siblings are the groups of accesses to data that a lock does not cover.
func (r *failedRun) siblings(data []cover.DataName, l *cover.Lock) []sibling {
	// Updates over calls come first: what they call then needs no section of its own.
	var overCalls, all []sibling
	for _, g := range whole.Broken(r.locksHeld(), r.code.Variables(data), l.Object()) {
		if !isOpen(g) && !leaves(g) || r.inTest(g.Func) {
			continue
		}
		s := sibling{group: g, whole: r.groupRegion(g)}
		if s.whole == nil {
			continue
		}
		for _, part := range g.Parts {
			if region := r.groupRegion(part); region != nil && (isOpen(part) || leaves(part)) {
				s.parts = append(s.parts, region)
			}
		}
		if g.OverCalls() {
			overCalls = append(overCalls, s)
		} else {
			all = append(all, s)
		}
	}
	return slices.Concat(overCalls, all)
}

// isOpen reports whether a member of a group may be made without the lock.
func isOpen(g *whole.Group) bool {
	return slices.ContainsFunc(g.Members, func(m *whole.Member) bool { return m.Open })
}

// leaves reports whether a member of a group hands a reference to users of the package.
func leaves(g *whole.Group) bool {
	return slices.ContainsFunc(g.Members, func(m *whole.Member) bool { return m.Leaves })
}

// inTest reports whether a function is in test code, where sections are a last resort.
func (r *failedRun) inTest(fn *ssa.Function) bool {
	return isTestFile(r.code.Fset.Position(fn.Pos()).Filename)
}

func isTestFile(name string) bool { return strings.HasSuffix(name, "_test.go") }

// groupRegion is the region of a group, nil if it is not in the source.
func (r *failedRun) groupRegion(g *whole.Group) *cover.Region {
	fn := g.Func
	if origin := fn.Origin(); origin != nil {
		fn = origin
	}
	if fn.Syntax() == nil {
		return nil
	}
	var nodes []ast.Node
	add := func(pos token.Pos) {
		if pos.IsValid() {
			if e := r.code.AccessAt(pos); e != nil {
				nodes = append(nodes, e)
			}
		}
	}
	var copied []ast.Expr
	for _, m := range g.Members {
		add(m.At)
		add(m.Instr.Pos())
		if e := r.code.AccessAt(m.At); m.Leaves && e != nil {
			copied = append(copied, e)
		}
	}
	region := r.code.Region(fn.Syntax(), nodes)
	if region == nil {
		return nil
	}
	region.Copied = copied
	region.Write = g.Writes()
	region.Update = g.Writes() && len(g.Members) > 1
	region.Elements = slices.ContainsFunc(g.Members, func(m *whole.Member) bool { return !isLoad(m.Instr) })
	return region
}

// isLoad reports whether an instruction loads a variable, and not what the variable refers
// to.
func isLoad(i ssa.Instruction) bool {
	load, ok := i.(*ssa.UnOp)
	if !ok {
		return false
	}
	_, element := load.X.(*ssa.IndexAddr)
	return !element
}

// A wholePatch is a patch that covers the siblings of a derivation too. What of them cannot be
// covered is left out: uncoverable says why, by the function. The patch is nil if there are no
// siblings to add.
type wholePatch struct {
	patch       *cover.Patch
	uncoverable map[string]string
}

// writeWhole writes the regions of a derivation with those of its siblings, for data and what
// an earlier patch has the lock guard.
func (r *failedRun) writeWhole(regions []*cover.Region, data []cover.DataName, l *cover.Lock, base *cover.Patch) (w wholePatch) {
	accepted := regions
	try := func(more ...*cover.Region) error {
		all := slices.Concat(accepted, more)
		p, err := r.code.Write(all, l, data, base)
		if err == nil {
			accepted, w.patch = all, p
		}
		return err
	}
	siblings := r.siblings(slices.Concat(data, base.Guarded(l)), l)
	var together []*cover.Region
	for _, s := range siblings {
		together = append(together, s.whole)
	}
	if len(together) == 0 || try(together...) == nil {
		return w
	}
	w.uncoverable = make(map[string]string)
	for _, s := range siblings {
		if try(s.whole) == nil {
			continue
		}
		for _, part := range s.parts {
			if err := try(part); err != nil {
				w.uncoverable[functionName(s.group.Func)] = err.Error()
			}
		}
	}
	return w
}

// judgeWhole notes of a candidate what its lock does not cover in the changed program, and
// says why it is none if the change takes an update apart.
func (f *fixer) judgeWhole(c *Candidate, changed *changedProgram) (why string) {
	if c.lock == nil {
		return ""
	}
	after := changed.code
	lock := after.LockOf(c.lock)
	data := after.Variables(c.Patch.Guarded(c.lock))
	if lock == nil || len(data) == 0 {
		return ""
	}
	before := make(map[string]bool) // functions that took updates apart as it was
	if c.lock.Exists() {
		for _, g := range whole.Broken(c.run.locksHeld(), c.run.code.Variables(c.Patch.Guarded(c.lock)), c.lock.Object()) {
			if len(g.Split) > 0 {
				before[g.Func.String()] = true
			}
		}
	}
	shown := make(map[string]bool) // functions that the failing run shows
	for _, s := range c.Derivation.Sections {
		if fn := c.run.lifted.Function(s.Func); fn != nil {
			shown[functionName(fn)] = true
		}
	}
	held := changed.locksHeld()
	if !c.lock.Exists() || c.Patch.Added(c.lock) {
		if why := besideAnother(held, data, lock); why != "" {
			return why
		}
	}
	for _, g := range whole.Broken(held, data, lock) {
		if isTestFile(after.Fset.Position(g.Members[0].At).Filename) {
			continue
		}
		if len(g.Split) > 0 {
			if store := g.Split[0]; shown[functionName(g.Func)] && !before[g.Func.String()] {
				return fmt.Sprintf("it would take the update of %s in %s (%s) apart: the lock is released between the load and the store that depends on it",
					store.Variable.Name(), functionName(g.Func), place(after.Fset, store.At))
			}
			if before[g.Func.String()] {
				continue
			}
		}
		c.Uncovered = append(c.Uncovered, c.uncovered(after.Fset, g)...)
	}
	c.Uncovered = append(c.Uncovered, c.uncoveredBeside(changed)...)
	c.WholeUpdates = true
	return ""
}

// besideAnother says why a new lock does not guard its data: another lock of the program does, in a
// place that does not take the new one. The two would not keep each other out.
func besideAnother(a *lockset.Analysis, data []*types.Var, lock *types.Var) (why string) {
	lock = a.Places.Canonical(lock)
	for _, v := range a.Variables {
		if !slices.ContainsFunc(data, func(d *types.Var) bool { return d.Pos() == v.Object.Pos() }) {
			continue
		}
		for _, s := range v.Sites {
			if isTestFile(s.At.Filename) {
				continue
			}
			for _, o := range s.Observations {
				others := slices.ContainsFunc(o.Held, func(r lockset.Relation) bool { return a.Places.Variable(r.Lock) == lock }) ||
					slices.Contains(o.OfUnknownObject, lock) || o.Unnamed || !v.Conflicts(o)
				if others || len(o.Held) == 0 {
					continue
				}
				return fmt.Sprintf("%s is guarded by %s in %s (%s:%d), which does not take the new lock", v.Object.Name(),
					a.Places.Variable(o.Held[0].Lock).Name(), functionName(s.Func), filepath.Base(s.At.Filename), s.At.Line)
			}
		}
	}
	return ""
}

// uncovered are the members of a group that may be made without the lock, each line once.
func (c *Candidate) uncovered(fset *token.FileSet, g *whole.Group) []Uncovered {
	why := c.uncoverable[functionName(g.Func)]
	if why == "" {
		why = "it is not among what the failing run shows"
	}
	var all []Uncovered
	for _, m := range g.Members {
		at := fset.Position(m.At)
		split := slices.Contains(g.Split, m)
		if !m.Open && !split && !m.Leaves {
			continue
		}
		why := why
		switch {
		case m.Leaves && !m.Open:
			why = "it is returned to code without the lock, and changed in place; " + why
		case split:
			why = "the lock is released between the load and this store, which depends on it; " + why
		}
		if n := len(all); n > 0 && all[n-1].Line == at.Line && all[n-1].Data == m.Variable.Name() {
			all[n-1].Write = all[n-1].Write || m.Kind == lockset.Write
			continue
		}
		all = append(all, Uncovered{File: at.Filename, Line: at.Line, Func: functionName(g.Func), Data: m.Variable.Name(), Write: m.Kind == lockset.Write, Why: why})
	}
	return all
}

func functionName(fn *ssa.Function) string {
	fn = lockset.Outermost(fn)
	if fn.Pkg != nil {
		return fn.RelString(fn.Pkg.Pkg)
	}
	return fn.Name()
}

func place(fset *token.FileSet, pos token.Pos) string {
	at := fset.Position(pos)
	return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
}
