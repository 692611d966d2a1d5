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
	// operation is the region of all that the function does with the data, nil if that may take
	// long; whole is the region of the group; parts are regions of what must stay together, for
	// when the whole cannot be covered.
	operation, whole *cover.Region
	parts            []*cover.Region
}

// best is the region to begin with.
func (s *sibling) best() *cover.Region {
	if s.operation != nil {
		return s.operation
	}
	return s.whole
}

// siblings are the groups of accesses to data that a lock does not cover.
func (r *failedRun) siblings(data []cover.DataName, l *cover.Lock) []sibling {
	// Updates over calls come first: what they call then needs no section of its own. What else
	// belongs together over calls comes last: the functions that are called are to have sections,
	// or they are open to their other callers.
	var updates, all, overCalls []sibling
	for _, g := range whole.Broken(r.locksHeld(), r.code.Variables(data), l.Object()) {
		if !isOpen(g) && !leaves(g) || g.IsDeferred() || r.inTest(g.Func) {
			continue
		}
		s := sibling{group: g, whole: r.groupRegion(g, isRW(l))}
		if s.whole == nil {
			continue
		}
		if g.Operation != nil {
			if region := r.groupRegion(g.Operation, isRW(l)); region != nil && r.code.IsBrief(region, l) {
				s.operation = region
			}
		}
		for _, part := range g.Parts {
			if len(part.Members) == 1 && part.OverCalls() {
				continue // the function that is called has a section of its own
			}
			if region := r.groupRegion(part, isRW(l)); region != nil && (isOpen(part) || leaves(part)) {
				s.parts = append(s.parts, region)
			}
		}
		switch {
		case slices.ContainsFunc(g.Parts, func(part *whole.Group) bool { return len(part.Members) > 1 && part.OverCalls() }):
			updates = append(updates, s)
		case g.OverCalls():
			overCalls = append(overCalls, s)
		default:
			all = append(all, s)
		}
	}
	return slices.Concat(updates, all, overCalls)
}

// isRW reports whether a lock is one of the program's that can be taken for reading.
func isRW(l *cover.Lock) bool { return l.Object() != nil && locks.IsRWMutex(l.Object().Type()) }

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

// groupRegion is the region of a group, nil if it is not in the source. readLock says that the lock may
// be taken for reading.
func (r *failedRun) groupRegion(g *whole.Group, readLock bool) *cover.Region {
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
	region.AcrossRounds = g.AcrossRounds
	region.Write = g.Writes() || readLock && writesIn(fn, region)
	region.Update = g.Writes() && len(g.Members) > 1
	region.Elements = slices.ContainsFunc(g.Members, func(m *whole.Member) bool { return !isLoad(m.Instr) })
	return region
}

// writesIn reports whether a function stores in a region what is not its own, be it guarded or not: a
// read lock is not for that.
func writesIn(fn *ssa.Function, region *cover.Region) bool {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Store:
				if _, local := i.Addr.(*ssa.Alloc); local {
					continue
				}
			case *ssa.MapUpdate:
			default:
				continue
			}
			if region.Contains(i.Pos()) {
				return true
			}
		}
	}
	return false
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
// covered is left out: uncoverable says why, by the function. apart says why accesses that belong
// together have several sections. The patch is nil if there are no siblings to add.
type wholePatch struct {
	patch              *cover.Patch
	uncoverable, apart map[string]string
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
		together = append(together, s.best())
	}
	if len(together) == 0 || try(together...) == nil {
		return w
	}
	w.uncoverable, w.apart = make(map[string]string), make(map[string]string)
	for _, s := range siblings {
		if s.operation != nil && try(s.operation) == nil {
			continue
		}
		err := try(s.whole)
		if err == nil {
			continue
		}
		w.apart[functionName(s.group.Func)] = err.Error()
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
		if c.Change != nil {
			c.Uncovered = c.besideChange(changed)
		}
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
	if at := whole.Copying(held, lock); at != nil {
		return fmt.Sprintf("the object that has the lock is copied in %s (%s), and the lock with it", functionName(at.Instr.Parent()), place(after.Fset, at.At))
	}
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
		}
		c.Uncovered = append(c.Uncovered, c.uncovered(after.Fset, g)...)
	}
	for _, u := range slices.Concat(c.uncoveredBeside(changed), c.besideLock(changed, lock, data)) {
		if !slices.ContainsFunc(c.Uncovered, func(v Uncovered) bool { return v.File == u.File && v.Line == u.Line && v.Data == u.Data }) {
			c.Uncovered = append(c.Uncovered, u)
		}
	}
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

// uncovered are the members of a group that may be made without the lock, or apart from others that
// they belong together with, each line once.
func (c *Candidate) uncovered(fset *token.FileSet, g *whole.Group) []Uncovered {
	var all []Uncovered
	for _, m := range g.Members {
		why := c.whyUncovered(fset, g, m)
		if why == "" {
			continue
		}
		at := fset.Position(m.At)
		if n := len(all); n > 0 && all[n-1].Line == at.Line && all[n-1].Data == m.Variable.Name() {
			all[n-1].Write = all[n-1].Write || m.Kind == lockset.Write
			continue
		}
		all = append(all, Uncovered{File: at.Filename, Line: at.Line, Func: functionName(g.Func), Data: m.Variable.Name(), Write: m.Kind == lockset.Write, Why: why})
	}
	return all
}

// whyUncovered says in which way a member of a group is not covered; "" if it is.
func (c *Candidate) whyUncovered(fset *token.FileSet, g *whole.Group, m *whole.Member) string {
	because := func(what, reason string) string {
		if reason == "" {
			return what
		}
		return what + "; " + reason
	}
	name := functionName(g.Func)
	// What a function does that is called is told of that function, unless it is a part of an update here.
	open := m.Open && (!m.ByCall() || slices.ContainsFunc(g.Parts, func(part *whole.Group) bool { return len(part.Members) > 1 && slices.Contains(part.Members, m) }))
	torn := slices.IndexFunc(g.Torn, func(t whole.Tear) bool { return t.Second == m })
	switch {
	case slices.Contains(g.Split, m):
		return because("the lock is released between the load and this store, which depends on it", c.uncoverable[name])
	case m.Leaves && !open:
		return because("it is returned to code without the lock, and changed in place", c.uncoverable[name])
	case open && c.uncoverable[name] != "":
		return c.uncoverable[name]
	case open:
		return "it is not among what the failing run shows"
	case torn >= 0 && g.Torn[torn].OfSeveral:
		return "it is used together for several objects, each of which has a lock of its own: what happens to one while another is accessed is seen by half"
	case torn >= 0 && g.Torn[torn].First == m:
		return because("the lock is released between the rounds of the loop, whose results are used together", c.apart[name])
	case torn >= 0:
		first := g.Torn[torn].First
		return because(fmt.Sprintf("the lock is released between the %s of %s (%s) and this one, which belongs to it", first.Kind, first.Variable.Name(), place(fset, first.At)), c.apart[name])
	case m.Unknown && !m.ByCall():
		return "it cannot be told whether the lock that is held is that of the object with the data"
	}
	return ""
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
