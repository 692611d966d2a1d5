package repair

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
	"github.com/cofferdam-go/cofferdam/internal/repair/uncovered"
	"github.com/cofferdam-go/cofferdam/internal/source"
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
	// when the whole cannot be covered; copying is the region of what the group reads later, by way of copies,
	// for when that cannot be covered either. It is nil if the group needs the data itself.
	operation, whole *cover.Region
	parts            []*cover.Region
	copying          *cover.Region
}

// firstRegion is the region to begin with.
func (s *sibling) firstRegion() *cover.Region {
	if s.operation != nil {
		return s.operation
	}
	return s.whole
}

// siblings are the groups of accesses to data that a lock does not cover. Regions are those that it covers
// with them.
func (r *failedRun) siblings(data []dataname.Name, l *cover.Lock, regions []*cover.Region) []sibling {
	// Updates over calls come first: what they call then needs no section of its own. What else
	// belongs together over calls comes last: the functions that are called are to have sections,
	// or they are open to their other callers.
	var updates, all, overCalls []sibling
	for _, g := range whole.Broken(r.locksHeld(), r.code.Variables(data), l.Object()) {
		if !isOpen(g) && !leaves(g) && !comesApart(g) || g.IsDeferred() || r.inTest(g.Func) {
			continue
		}
		if len(g.Members) == 1 && g.OverCalls() && !g.AcrossRounds {
			continue // of several objects, each with its own lock, which the function that is called takes
		}
		s := sibling{group: g, whole: r.groupRegion(g, isRW(l))}
		if s.whole == nil {
			continue
		}
		s.copying = r.copyingRegion(g, isRW(l))
		regions = append(regions[:len(regions):len(regions)], s.whole)
		for _, part := range g.Parts {
			if len(part.Members) == 1 && part.OverCalls() {
				continue // the function that is called has a section of its own
			}
			if region := r.groupRegion(part, isRW(l)); region != nil && (isOpen(part) || leaves(part) || comesApart(part)) {
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
	siblings := slices.Concat(updates, all, overCalls)
	for i, s := range siblings {
		if s.group.Operation == nil {
			continue
		}
		if region := r.groupRegion(s.group.Operation, isRW(l)); region != nil && r.code.IsBrief(region, l, regions) {
			siblings[i].operation = region
		}
	}
	return siblings
}

// isRW reports whether a lock is one of the program's that can be taken for reading.
func isRW(l *cover.Lock) bool { return l.Object() != nil && locks.IsRWMutex(l.Object().Type()) }

// isOpen reports whether a member of a group may be made without the lock.
func isOpen(g *whole.Group) bool {
	return slices.ContainsFunc(g.Members, func(m *whole.Member) bool { return m.Open })
}

// comesApart reports whether a group changes what it has read in another section of the lock than it reads it in.
// With helpers that lock by themselves that is easily overlooked, and where one method does it, so do those beside:
//
//	func (q *Quotas) Use(user string, n int) {      func (q *Quotas) Refund(user string, n int) {
//		u := q.get(user)                            	u := q.get(user)
//		u.used += n                                 	u.used -= n
//		q.put(user, u)                              	q.put(user, u)
//	}                                               }
func comesApart(g *whole.Group) bool {
	return len(g.Split) > 0 || slices.ContainsFunc(g.Torn, func(t whole.Tear) bool {
		return t.Second.Kind == lockset.Write && !t.InSequence && !t.OfSeveral && t.First != t.Second
	})
}

// leaves reports whether a member of a group hands a reference, of which a copy will do, to code without the lock.
func leaves(g *whole.Group) bool {
	return slices.ContainsFunc(g.Members, func(m *whole.Member) bool { return m.Leaves && !m.ToBeChanged })
}

// inTest reports whether a function is in test code, where sections are a last resort.
func (r *failedRun) inTest(fn *ssa.Function) bool {
	return uncovered.IsTestFile(r.code.Fset.Position(fn.Pos()).Filename)
}

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
		if e := r.referenceAt(m); m.Leaves && !m.ToBeChanged && e != nil {
			copied = append(copied, e)
		}
	}
	region := r.code.Region(fn.Syntax(), nodes)
	if region == nil {
		return nil
	}
	region.Copied = copied
	region.AcrossRounds = g.AcrossRounds
	region.Write = g.Writes() || readLock && whole.StoresWithin(fn, region.Contains)
	region.Update = g.Writes() && len(g.Members) > 1
	region.Elements = slices.ContainsFunc(g.Members, func(m *whole.Member) bool { return !isLoad(m.Instr) })
	return region
}

// referenceAt is the expression by which a member has a map or slice that can be copied; nil if there is none.
func (r *failedRun) referenceAt(m *whole.Member) ast.Expr {
	at := m.At
	if !isLoad(m.Instr) {
		at = m.Instr.Pos() // of a call, or of an index
	}
	e := r.code.AccessAt(at)
	if e == nil {
		return nil
	}
	if t := r.code.FileOf(e).Info.TypeOf(e); t == nil || source.CopierOf(t) == "" {
		return nil
	}
	return e
}

// copyingRegion is the region of the loads of a group that reads maps and slices later, and can read copies of
// them just as well:
//
//	subs := h.subs               subs := slices.Clone(h.subs)
//	for _, s := range subs {     the array may be changed in place while the loop, which may wait,
//		s(msg)                   goes through it
//	}
//
// Of a map that is indexed at once it is the entry that is read later:
//
//	subs := h.subs[topic]        subs := slices.Clone(h.subs[topic])
//
// It is nil if the group is anything else.
func (r *failedRun) copyingRegion(g *whole.Group, readLock bool) *cover.Region {
	loads := *g
	loads.Members = nil
	var copied []ast.Expr
	for _, m := range g.Members {
		if m.Kind == lockset.Write || m.ByCall() {
			return nil
		}
		_, entry := m.Instr.(*ssa.Lookup)
		e := r.referenceAt(m)
		if !isLoad(m.Instr) && (!entry || e == nil) {
			continue
		}
		loads.Members = append(loads.Members, m)
		if e != nil && !r.code.FileOf(e).IsIndexed(e) {
			copied = append(copied, e)
		}
	}
	if len(copied) == 0 || len(loads.Members) == len(g.Members) {
		return nil
	}
	region := r.groupRegion(&loads, readLock)
	if region != nil {
		region.Copied, region.Elements = copied, false
	}
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
// covered is left out: uncoverable says why, by the function. apart says why accesses that belong
// together have several sections. The patch is nil if there are no siblings to add.
type wholePatch struct {
	patch              *cover.Patch
	uncoverable, apart map[string]string
}

// writeWhole writes the regions of a derivation with those of its siblings, for data and what
// an earlier patch has the lock guard.
func (r *failedRun) writeWhole(regions []*cover.Region, data []dataname.Name, l *cover.Lock, base *cover.Patch) (w wholePatch) {
	accepted := regions
	try := func(more ...*cover.Region) error {
		all := slices.Concat(accepted, more)
		p, err := r.code.Write(all, l, data, base)
		if err == nil {
			accepted, w.patch = all, p
		}
		return err
	}
	siblings := r.siblings(slices.Concat(data, base.Guarded(l)), l, regions)
	var together []*cover.Region
	for _, s := range siblings {
		together = append(together, s.firstRegion())
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
		if s.copying != nil && try(s.copying) == nil {
			continue
		}
		w.apart[uncovered.FunctionName(s.group.Func)] = err.Error()
		for _, part := range s.parts {
			if err := try(part); err != nil {
				w.uncoverable[uncovered.FunctionName(s.group.Func)] = err.Error()
			}
		}
	}
	return w
}

// stillSplit says which update a change that is to make one step of each still takes apart; "" if none.
func (c *Candidate) stillSplit(changed *changedProgram) string {
	for _, v := range c.Change.Whole {
		for _, now := range changed.code.Variables(c.run.onlyData(v).Names(c.run.code)) {
			for _, g := range whole.Updates(changed.locksHeld(), now) {
				if at := changed.code.Fset.Position(g.Members[0].At); !uncovered.IsTestFile(at.Filename) {
					return fmt.Sprintf("%s is still read and changed in two steps at %s:%d", v.Name(), filepath.Base(at.Filename), at.Line)
				}
			}
		}
	}
	return ""
}

// judgeWhole notes of a candidate what its lock does not cover in the changed program, and
// says why it is none if the change takes an update apart.
func (f *fixer) judgeWhole(c *Candidate, changed *changedProgram) (why string) {
	program := changed.forUncovered()
	if c.lock == nil {
		if c.Change == nil {
			return ""
		}
		touched := func(fn *ssa.Function) bool { return c.touches(changed, fn) }
		c.Uncovered = program.BesideFunctions(touched, c.Change.Atomic)
		for _, v := range c.Change.Whole {
			c.Uncovered = uncovered.Add(c.Uncovered, program.Plain(changed.code.Variables(c.run.onlyData(v).Names(c.run.code)))...)
		}
		c.judgeEarlier(program, changed, nil)
		return c.stillSplit(changed)
	}
	fix := &uncovered.Fix{
		Program: program, Lock: changed.code.LockOf(c.lock), Data: changed.code.Variables(c.Patch.Guarded(c.lock)), Uncoverable: c.uncoverable, Apart: c.apart,
	}
	if fix.Lock == nil || len(fix.Data) == 0 {
		return ""
	}
	if !c.lock.Exists() || c.Patch.Added(c.lock) {
		if why := fix.Unfit(); why != "" {
			return why
		}
	}
	shown, before := c.functionsShown(), c.functionsThatSplit()
	c.WholeUpdates = true
	for _, g := range whole.Broken(fix.Held, fix.Data, fix.Lock) {
		if uncovered.IsTestFile(changed.code.Fset.Position(g.Members[0].At).Filename) {
			continue
		}
		if why := fix.SplitStore(g); why != "" && shown[uncovered.FunctionName(g.Func)] && !before[g.Func.String()] {
			return why
		}
		c.WholeUpdates = c.WholeUpdates && len(g.Split) == 0
		c.Uncovered = append(c.Uncovered, fix.Group(g)...)
	}
	c.judgeEarlier(program, changed, fix.Lock)
	halves, byLibrary := c.halfGuarded(changed), fix.ByLibrary()
	c.WholeUpdates = c.WholeUpdates && len(byLibrary) == 0
	c.Uncovered = uncovered.Add(c.Uncovered, slices.Concat(fix.HalfGuarded(halves), c.companionsLeft(fix, changed, halves), fix.Beside(), byLibrary)...)
	return ""
}

// judgeEarlier notes what the locks of earlier rounds do not cover in the changed program, and the last one, if the
// last round has one, does not either.
func (c *Candidate) judgeEarlier(program *uncovered.Program, changed *changedProgram, last *types.Var) {
	for _, g := range c.Patch.Guards() {
		fix := &uncovered.Fix{Program: program, Lock: changed.code.LockOf(g.Lock), Data: changed.code.Variables(g.Data)}
		if fix.Lock != nil && fix.Lock != last {
			left, whole := fix.LeftBy(last)
			c.WholeUpdates = c.WholeUpdates && whole
			c.Uncovered = uncovered.Add(c.Uncovered, left...)
		}
	}
}

// functionsShown are the functions that the failing run shows, by name.
func (c *Candidate) functionsShown() map[string]bool {
	shown := make(map[string]bool)
	for _, s := range c.Derivation.Sections {
		if fn := c.run.lifted.Function(s.Func); fn != nil {
			shown[uncovered.FunctionName(fn)] = true
		}
	}
	return shown
}

// functionsThatSplit are the functions that take updates of the data apart by themselves. With a lock
// that an earlier round has added, there are none.
func (c *Candidate) functionsThatSplit() map[string]bool {
	before := make(map[string]bool)
	if c.isOwn() {
		for _, g := range whole.Broken(c.run.locksHeld(), c.run.code.Variables(c.Patch.Guarded(c.lock)), c.lock.Object()) {
			if len(g.Split) > 0 {
				before[g.Func.String()] = true
			}
		}
	}
	return before
}
