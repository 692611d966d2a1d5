package whole

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A Member is an access to guarded data, or a use of what guarded data refers to.
type Member struct {
	Variable *types.Var
	Kind     lockset.Kind
	Instr    ssa.Instruction
	At       token.Pos // where it names the data
	// Open says that the lock may not be held.
	Open bool
	// Leaves says that it takes a map or slice, which is changed in place, for code without the lock.
	// ToBeChanged says that this code changes it: a copy will not do.
	Leaves, ToBeChanged bool

	// Unknown says that some lock of the kind is held, and that it cannot be told whether it is the
	// one of the object with the data.
	Unknown bool

	// byCall says that a function makes the access which Instr calls, reads that the result
	// of Instr depends on the data, takes that the call changes what its result depends on.
	byCall, reads, takes bool
	// deferred says that the call is made when the function ends.
	deferred bool
	// settled says that nothing changes the variable once it is shared.
	settled bool
	// instead are other locks that order it, where the lock is not held.
	instead []*types.Var
	// single says that it is done in one step, which needs no lock by itself; validates that it
	// writes only if nothing has changed since.
	single, validates bool
	// base is the object whose field it is, nil if that is not known.
	base *locks.Place
}

// A Group is members of one function that belong together.
type Group struct {
	Func    *ssa.Function
	Members []*Member
	// Split are the stores of updates whose load lies in another section than they do.
	Split []*Member
	// Torn are the other members that belong together and lie in different sections.
	Torn []Tear
	// Operation is the group with what comes before and after it; nil if that is nothing.
	Operation *Group
	// AcrossRounds says that what a member does in several rounds of a loop belongs together.
	AcrossRounds bool
	// Parts are the groups that must stay together even if the whole cannot: each update,
	// each reference with its uses. A group without such parts has each member as one.
	Parts []*Group
}

// Writes reports whether a member of the group writes.
func (g *Group) Writes() bool {
	return slices.ContainsFunc(g.Members, func(m *Member) bool { return m.Kind == lockset.Write })
}

// ByCall reports whether the access is made by a function that is called.
func (m *Member) ByCall() bool { return m.byCall }

// IsDeferred reports whether all of the group is done when the function ends.
func (g *Group) IsDeferred() bool {
	return !slices.ContainsFunc(g.Members, func(m *Member) bool { return !m.deferred })
}

// OverCalls reports whether members of the group are made by functions that are called.
func (g *Group) OverCalls() bool {
	return slices.ContainsFunc(g.Members, func(m *Member) bool { return m.byCall })
}

// isWhole reports whether the group is known to lie in one section.
func (g *Group) isWhole() bool {
	return len(g.Split) == 0 && len(g.Torn) == 0 && !slices.ContainsFunc(g.Members, func(m *Member) bool { return m.Open || m.Unknown || m.Leaves })
}

// Broken returns the groups of a program's accesses to data that are open, split or torn, or of which that
// cannot be told, in the order of the source. The lock is the field or variable that declares it; with none,
// no access has it.
func Broken(a *lockset.Analysis, data []*types.Var, lock *types.Var) []*Group {
	j := newJudge(a, data, lock)
	var broken []*Group
	bound := j.bind()
	for _, fn := range a.Functions {
		b := bound[fn]
		if b == nil {
			continue
		}
		for _, g := range j.groupMembers(fn, b) {
			if !g.isWhole() && !g.needsNoLock() {
				broken = append(broken, g)
			}
		}
	}
	slices.SortFunc(broken, func(g, h *Group) int {
		m, n := g.Members[0], h.Members[0]
		return cmp.Or(cmp.Compare(m.At, n.At), cmp.Compare(m.Variable.Pos(), n.Variable.Pos()), cmp.Compare(g.Func.String(), h.Func.String()))
	})
	// The instances of a generic function have the same source. The fields of a struct that is copied have one place.
	return slices.CompactFunc(broken, func(g, h *Group) bool {
		return g.Members[0].At == h.Members[0].At && g.Members[0].Variable == h.Members[0].Variable
	})
}

// A judge is one call of Broken.
type judge struct {
	*lockset.Analysis
	lock      *types.Var
	data      []*types.Var
	members   map[*ssa.Function][]*Member
	summaries map[*ssa.Function]*summary
	// besideLock are the fields of the struct that has the lock, by where they are declared.
	besideLock map[token.Pos]bool
	// openFrom are the variables that calls by a function access without the lock.
	openFrom map[*ssa.Function]map[*types.Var]bool
	// insteadFrom are the locks that order variables which calls by a function access without the lock.
	insteadFrom map[*ssa.Function]map[*types.Var][]*types.Var
	// usedTogether are the variables that some function uses together.
	usedTogether map[pair]bool
	// usedOfSeveral are those that some function uses of several objects together.
	usedOfSeveral map[*types.Var]bool
	// loops are those of the functions that were looked at.
	loops map[*ssa.Function]*loops
	// calls are those of each function where it is named, nil if not known yet.
	calls map[*ssa.Function][]*ssa.Call
}

// newJudge returns a judge of a lock, nil for none, and the members of its data.
func newJudge(a *lockset.Analysis, data []*types.Var, lock *types.Var) *judge {
	j := &judge{
		Analysis: a, data: data, members: make(map[*ssa.Function][]*Member), summaries: make(map[*ssa.Function]*summary),
		openFrom: make(map[*ssa.Function]map[*types.Var]bool), insteadFrom: make(map[*ssa.Function]map[*types.Var][]*types.Var),
		usedTogether: make(map[pair]bool), usedOfSeveral: make(map[*types.Var]bool), loops: make(map[*ssa.Function]*loops),
	}
	if lock != nil {
		j.lock = a.Places.Canonical(lock)
		j.besideLock = fieldsBeside(a, j.lock)
	}
	for _, v := range a.Variables {
		if slices.ContainsFunc(data, func(d *types.Var) bool { return d.Pos() == v.Object.Pos() }) {
			j.addVariable(v)
		}
	}
	return j
}

// needsNoLock reports whether the group only reads, in single steps that need no lock.
func (g *Group) needsNoLock() bool {
	return !slices.ContainsFunc(g.Members, func(m *Member) bool { return !m.single || m.Kind == lockset.Write })
}

// Updates returns the groups that take an update apart into operations of sync/atomic or of a
// sync.Map, which are single steps each: what others do in between is lost.
func Updates(a *lockset.Analysis, v *types.Var) []*Group {
	var all []*Group
	for _, g := range Broken(a, []*types.Var{v}, nil) {
		for _, part := range g.Parts {
			if len(part.Members) > 1 && part.Writes() && !slices.ContainsFunc(part.Members, func(m *Member) bool { return !m.single }) {
				all = append(all, part)
			}
		}
	}
	return all
}

// addVariable adds the members that access a variable, or what it refers to.
func (j *judge) addVariable(v *lockset.Variable) {
	ways := j.ways(v)
	for _, s := range v.Sites {
		for _, o := range s.Observations {
			// What another lock orders is still to hold this one if it writes: the update that
			// this one keeps together is not to be disturbed.
			holding := j.holding(v, o, ways)
			if v.Conflicts(o) || o.Kind == lockset.Write {
				j.add(v, o, holding)
				continue
			}
			m := j.add(v, o, lockset.Held)
			if holding == lockset.NotHeld {
				j.addInstead(m, o)
			}
		}
	}
	for _, o := range v.Parts {
		j.add(v, o, j.holding(v, o, ways))
	}
	for _, op := range v.Operations {
		m := j.add(v, op.Observation, j.holding(v, op.Observation, ways))
		m.single, m.validates = len(v.Sites) == 0, op.Validates
	}
	if !v.ChangedInPlace {
		return
	}
	for _, u := range v.Uses {
		j.add(v, u.Observation, j.holding(v, u.Observation, ways))
	}
}

// isSettled reports whether nothing changes a variable once it is shared.
func isSettled(v *lockset.Variable) bool {
	writes := func(o lockset.Observation) bool { return o.Kind == lockset.Write }
	return !v.ChangedInPlace && !slices.ContainsFunc(v.Parts, writes) &&
		!slices.ContainsFunc(v.Operations, func(op lockset.Operation) bool { return writes(op.Observation) }) &&
		!slices.ContainsFunc(v.Sites, func(s *lockset.Site) bool { return slices.ContainsFunc(s.Observations, writes) })
}

// add adds an observation to the member that it is of.
func (j *judge) add(v *lockset.Variable, o lockset.Observation, holding lockset.Holding) *Member {
	fn := o.Instr.Parent()
	open, unknown := holding == lockset.NotHeld, holding == lockset.CannotTell
	if open && o.Context != nil {
		for caller := range o.ReachedFrom() {
			if j.openFrom[caller] == nil {
				j.openFrom[caller] = make(map[*types.Var]bool)
			}
			j.openFrom[caller][v.Object] = true
		}
	}
	for _, m := range j.members[fn] {
		if m.Instr == o.Instr && m.Variable == v.Object {
			m.Open, m.Unknown = m.Open || open, m.Unknown || unknown
			m.Kind = max(m.Kind, o.Kind)
			m.reads = m.reads || o.Kind == lockset.Read
			return m
		}
	}
	m := &Member{
		Variable: v.Object, Kind: o.Kind, Instr: o.Instr, At: o.At, Open: open, Unknown: unknown,
		reads: o.Kind == lockset.Read, settled: isSettled(v), base: o.Base,
	}
	if isChangedWhere(v, o.Instr) {
		m.Leaves, m.ToBeChanged = j.leavesLock(v, o.Instr, open)
	}
	j.members[fn] = append(j.members[fn], m)
	return m
}

// ways are the ways from a variable's object to the lock.
func (j *judge) ways(v *lockset.Variable) []*locks.Place {
	if j.lock == nil {
		return nil
	}
	var all []*locks.Place
	add := func(way *locks.Place) {
		if j.Places.Variable(way) == j.lock && !slices.Contains(all, way) {
			all = append(all, way)
		}
	}
	if j.lock.IsField() {
		add(j.Places.Extend(j.Places.Here(), locks.Step{Field: j.lock}))
	}
	for _, s := range v.Sites {
		for _, o := range s.Observations {
			for _, r := range o.Held {
				add(r.Lock)
			}
		}
	}
	for _, op := range v.Operations {
		for _, r := range op.Held {
			add(r.Lock)
		}
	}
	return all
}

// groupMembers puts the members of a function together.
func (j *judge) groupMembers(fn *ssa.Function, b *bonds) []*Group {
	members := b.members
	together := func(use func(bond) bool) map[*Member]*Member {
		leader := make(map[*Member]*Member)
		for _, m := range members {
			leader[m] = m
		}
		for _, b := range b.all {
			if from, to := leader[b.second], leader[b.first]; use(b) && from != to {
				for m, l := range leader {
					if l == from {
						leader[m] = to
					}
				}
			}
		}
		return leader
	}
	// What a call does is judged where it does it, unless it belongs together with something here.
	members = slices.DeleteFunc(slices.Clone(members), func(m *Member) bool {
		return m.byCall && !slices.ContainsFunc(b.all, func(b bond) bool { return b.first == m || b.second == m })
	})
	all := gather(fn, members, together(func(b bond) bool { return !b.inSequence }))
	parts := gather(fn, members, together(func(b bond) bool { return b.strong }))
	bound := b.all
	for _, part := range parts {
		for _, b := range bound {
			if b.strong && slices.Contains(part.Members, b.second) && b.second.Kind == lockset.Write && j.isSplit(b) && !j.isCheckedAgain(b, bound) {
				part.Split = append(part.Split, b.second)
			}
		}
		for _, g := range all {
			if slices.Contains(g.Members, part.Members[0]) {
				g.Parts = append(g.Parts, part)
				g.Split = append(g.Split, part.Split...)
			}
		}
	}
	for _, g := range all {
		j.addTears(g, b)
		g.Operation = j.operationAround(g, b)
	}
	return all
}

// operationAround is all that belongs to the members of a group, or comes before or after them; nil if that
// is the group.
func (j *judge) operationAround(g *Group, b *bonds) *Group {
	op := &Group{Func: g.Func, Members: slices.Clone(g.Members), AcrossRounds: g.AcrossRounds}
	for k := 0; k < len(op.Members); k++ {
		for _, b := range b.all {
			for _, m := range []*Member{b.first, b.second} {
				if (b.first == op.Members[k] || b.second == op.Members[k]) && b.ofOneGuard && !m.deferred && !slices.Contains(op.Members, m) {
					op.Members = append(op.Members, m)
				}
			}
		}
	}
	if len(op.Members) == len(g.Members) {
		return nil
	}
	return op
}

// addTears adds the bonds of a group that are torn, and notes whether one is across rounds.
func (j *judge) addTears(g *Group, b *bonds) {
	bound := b.all
	for _, b := range bound {
		if !slices.Contains(g.Members, b.second) {
			continue
		}
		g.AcrossRounds = g.AcrossRounds || b.first == b.second && b.ofOneGuard
		if (b.ofOneGuard || b.ofSeveral) && !slices.Contains(g.Split, b.second) && j.isSplit(b) && !j.isCheckedAgain(b, bound) && !j.looksAgain(b, bound) {
			g.Torn = append(g.Torn, Tear{b.first, b.second, b.ofSeveral, b.inSequence, len(b.first.instead)+len(b.second.instead) > 0})
		}
	}
}

// gather returns the groups of members with the same leader, in the order of the source.
func gather(fn *ssa.Function, members []*Member, leader map[*Member]*Member) []*Group {
	members = slices.Clone(members)
	slices.SortStableFunc(members, func(m, n *Member) int { return cmp.Compare(m.At, n.At) })
	byLeader := make(map[*Member]*Group)
	var all []*Group
	for _, m := range members {
		g := byLeader[leader[m]]
		if g == nil {
			g = &Group{Func: fn}
			byLeader[leader[m]] = g
			all = append(all, g)
		}
		g.Members = append(g.Members, m)
	}
	return all
}
