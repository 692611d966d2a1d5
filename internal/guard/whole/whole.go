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
	// Leaves says that it loads a map or slice for users of the package, which is changed in place:
	// they use it without the lock.
	Leaves bool

	// byCall says that a function makes the access which Instr calls, reads that the result
	// of Instr depends on the data.
	byCall, reads bool
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
	// Parts are the groups that must stay together even if the whole cannot: each update,
	// each reference with its uses. A group without such parts has each member as one.
	Parts []*Group
}

// Writes reports whether a member of the group writes.
func (g *Group) Writes() bool {
	return slices.ContainsFunc(g.Members, func(m *Member) bool { return m.Kind == lockset.Write })
}

// OverCalls reports whether members of the group are made by functions that are called.
func (g *Group) OverCalls() bool {
	return slices.ContainsFunc(g.Members, func(m *Member) bool { return m.byCall })
}

// isWhole reports whether the group lies in one section.
func (g *Group) isWhole() bool {
	return len(g.Split) == 0 && !slices.ContainsFunc(g.Members, func(m *Member) bool { return m.Open || m.Leaves })
}

// Broken returns the groups of a program's accesses to data that are open or split, in the
// order of the source. The lock is the field or variable that declares it; with none, no
// access has it.
func Broken(a *lockset.Analysis, data []*types.Var, lock *types.Var) []*Group {
	j := &judge{Analysis: a, members: make(map[*ssa.Function][]*Member), summaries: make(map[*ssa.Function]*summary)}
	if lock != nil {
		j.lock = a.Places.Canonical(lock)
	}
	for _, v := range a.Variables {
		if slices.ContainsFunc(data, func(d *types.Var) bool { return d.Pos() == v.Object.Pos() }) {
			j.addVariable(v)
		}
	}
	var broken []*Group
	for _, fn := range a.Functions {
		members := j.withCalls(fn, j.members[fn])
		if len(members) == 0 {
			continue
		}
		for _, g := range j.groups(fn, members) {
			if !g.isWhole() && !g.needsNoLock() {
				broken = append(broken, g)
			}
		}
	}
	slices.SortFunc(broken, func(g, h *Group) int {
		return cmp.Or(cmp.Compare(g.Members[0].At, h.Members[0].At), cmp.Compare(g.Func.String(), h.Func.String()))
	})
	// The instances of a generic function have the same source.
	return slices.CompactFunc(broken, func(g, h *Group) bool { return g.Members[0].At == h.Members[0].At })
}

// A judge is one call of Broken.
type judge struct {
	*lockset.Analysis
	lock      *types.Var
	members   map[*ssa.Function][]*Member
	summaries map[*ssa.Function]*summary
	// changed are the functions whose results the program changes, nil if not known yet.
	changed map[*ssa.Function]bool
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
			j.add(v, o, (v.Conflicts(o) || o.Kind == lockset.Write) && !j.held(o, ways))
		}
	}
	for _, o := range v.Parts {
		j.add(v, o, !j.held(o, ways))
	}
	for _, op := range v.Operations {
		m := j.add(v, op.Observation, !j.held(op.Observation, ways))
		m.single, m.validates = len(v.Sites) == 0, op.Validates
	}
	if !v.ChangedInPlace {
		return
	}
	for _, u := range v.Uses {
		j.add(v, u.Observation, !j.held(u.Observation, ways))
	}
}

// add adds an observation to the member that it is of.
func (j *judge) add(v *lockset.Variable, o lockset.Observation, open bool) *Member {
	fn := o.Instr.Parent()
	for _, m := range j.members[fn] {
		if m.Instr == o.Instr && m.Variable == v.Object {
			m.Open = m.Open || open
			m.Kind = max(m.Kind, o.Kind)
			m.reads = m.reads || o.Kind == lockset.Read
			return m
		}
	}
	m := &Member{
		Variable: v.Object, Kind: o.Kind, Instr: o.Instr, At: o.At, Open: open, Leaves: v.ChangedInPlace && j.leaves(o.Instr), reads: o.Kind == lockset.Read, base: o.Base,
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

// held reports whether an observation has the lock, or it cannot be told. Of a lock of another
// object than the one with the data, as a cache's for its entries, any that is held is the one.
func (j *judge) held(o lockset.Observation, ways []*locks.Place) bool {
	if j.lock != nil && slices.Contains(o.OfUnrelatedObject, j.lock) {
		return true
	}
	for _, way := range ways {
		switch lockset.HoldingOf(j.Places, o, way) {
		case lockset.Held, lockset.CannotTell:
			return true
		case lockset.HeldForReading:
			if o.Kind == lockset.Read {
				return true
			}
		case lockset.NotHeld:
		}
	}
	return false
}

// A bond is two members of which the second depends on the first.
type bond struct {
	first, second *Member
	strong        bool
}

// groups puts the members of a function together.
func (j *judge) groups(fn *ssa.Function, members []*Member) []*Group {
	bonds := j.bonds(fn, members)
	together := func(use func(bond) bool) map[*Member]*Member {
		leader := make(map[*Member]*Member)
		for _, m := range members {
			leader[m] = m
		}
		for _, b := range bonds {
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
	// What a call does is judged where it does it, unless it is a part of an update here.
	members = slices.DeleteFunc(slices.Clone(members), func(m *Member) bool {
		return m.byCall && !slices.ContainsFunc(bonds, func(b bond) bool { return b.first == m || b.second == m })
	})
	all := gather(fn, members, together(func(bond) bool { return true }))
	parts := gather(fn, members, together(func(b bond) bool { return b.strong }))
	for _, part := range parts {
		for _, b := range bonds {
			if b.strong && slices.Contains(part.Members, b.second) && b.second.Kind == lockset.Write && j.isSplit(b) {
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
	return all
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

// bonds are the dependences among the members of a function.
func (j *judge) bonds(fn *ssa.Function, members []*Member) []bond {
	var all []bond
	t := newTracer(fn)
	for _, m := range members {
		on := t.of(m.Instr)
		for _, earlier := range members {
			if earlier == m || earlier.Instr == m.Instr || !earlier.reads {
				continue
			}
			same := earlier.Variable == m.Variable && (earlier.base == nil || m.base == nil || earlier.base == m.base)
			if earlier.byCall || m.byCall {
				// Only an update is certain to belong together over calls.
				if same && m.Kind == lockset.Write && on.data[earlier.Instr] {
					all = append(all, bond{earlier, m, true})
				}
				continue
			}
			switch {
			case m.validates:
			case on.data[earlier.Instr]:
				all = append(all, bond{earlier, m, same})
			case on.control[earlier.Instr] && (same || m.Kind == lockset.Write):
				all = append(all, bond{earlier, m, same && m.Kind == lockset.Write})
			}
		}
	}
	return all
}

// isSplit reports whether the lock may be released between the members of a bond.
func (j *judge) isSplit(b bond) bool {
	if j.lock == nil {
		return false
	}
	return b.first.byCall && j.Releases(b.first.Instr, j.lock) || j.ReleasedBetween(b.first.Instr, b.second.Instr, j.lock)
}
