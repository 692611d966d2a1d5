package whole

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
)

// Members belong together for one of these reasons:
//
//	v := c.n; c.n = v + 1                 the second depends on the first: an update
//	if c.Has(k) { return c.Get(k) }       the first decides whether the second is made
//	return h.Sum() / float64(h.Count())   something depends on both
//	for i := range n { s += r.At(i) }     it is made in several rounds, for one result
//	use(c.list); c.list = nil             the second throws away what the first has not seen
//	c.host = h; check(h); c.port = p      both are written, and some function reads them together
//	c.move(k); return c.Left()            one comes after the other, and nothing that takes long between
//	for _, k := range keys { c.put(k) }   so do the rounds of a loop that is sure to end

// A bond is two members that belong together. A bond of a member with itself is one across the
// rounds of a loop.
type bond struct {
	first, second *Member
	// strong says that it is an update, or a reference with its use, which must never be apart.
	strong bool
	// ofOneGuard says that one lock is to guard both: that of one object.
	ofOneGuard bool
	// inSequence says that they have nothing to do with each other but that one comes after the other:
	// such members are better in one section, and do not make a group.
	inSequence bool
	// ofSeveral says that they are of several objects, each with a lock of its own, and used together
	// all the same: as the balances of all accounts are for a sum.
	ofSeveral bool
	// ofValue says that the second has to do with the value of the first, and not only with whether it
	// was one or another.
	ofValue bool
	// loop is the one whose rounds a bond of a member with itself is across.
	loop *loop
}

// A Tear is two members that belong together, and between which the lock may be released. They are
// the same member if it is between the rounds of a loop.
type Tear struct {
	First, Second *Member
	// OfSeveral says that the members are of several objects, each with a lock of its own; InSequence
	// that they have nothing to do with each other but that one comes after the other.
	OfSeveral, InSequence bool
	// WithoutLock says that one of them does not have the lock, and that no lock is held over both.
	WithoutLock bool
}

// bonds are the members of a function, and which of them belong together.
type bonds struct {
	members []*Member
	all     []bond
}

// A pair is two variables that are used together, in no order.
type pair struct{ one, other *types.Var }

func pairOf(v, w *types.Var) pair {
	if w.Pos() < v.Pos() {
		v, w = w, v
	}
	return pair{v, w}
}

// bind finds the bonds of all functions.
func (j *judge) bind() map[*ssa.Function]*bonds {
	bound := make(map[*ssa.Function]*bonds)
	for _, fn := range j.Functions {
		members := j.withCalls(fn, j.members[fn])
		if len(members) == 0 {
			continue
		}
		binder := &binder{judge: j, tracer: newTracer(fn), found: &bonds{members: members}}
		binder.bindDependences()
		binder.bindCombinations()
		binder.bindOverwrites()
		binder.bindRounds()
		bound[fn] = binder.found
		if !strings.HasSuffix(j.Program.Fset.Position(fn.Pos()).Filename, "_test.go") {
			for _, b := range binder.found.all {
				if b.ofSeveral {
					j.usedOfSeveral[b.first.Variable] = true
				}
				overCalls := b.first.byCall || b.second.byCall
				if b.ofOneGuard && (b.first.Variable != b.second.Variable || (b.first == b.second || overCalls) && isContainer(b.first.Variable.Type())) {
					j.usedTogether[pairOf(b.first.Variable, b.second.Variable)] = true
				}
			}
		}
	}
	for fn, b := range bound {
		j.bindWrites(fn, b)
		j.bindSequence(fn, b)
	}
	return bound
}

// isContainer reports whether a variable of a type has several data.
func isContainer(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Map, *types.Slice, *types.Array:
		return true
	}
	return false
}

// A binder finds the bonds of one function.
type binder struct {
	*judge
	*tracer
	found *bonds
}

// add adds a bond, unless there is one.
func (b *bonds) add(n bond) {
	for i, o := range b.all {
		if o.first == n.first && o.second == n.second {
			b.all[i].strong, b.all[i].ofValue = o.strong || n.strong, o.ofValue || n.ofValue
			if n.loop == nil || o.loop != nil && n.loop.blocks[o.loop.header] {
				b.all[i].loop = n.loop
			}
			return
		}
	}
	b.all = append(b.all, n)
}

// addBond adds a bond, unless the second member is always made in a round that was waited for.
func (b *binder) addBond(n bond) {
	if b.goesOn(n) {
		b.found.add(n)
	}
}

// bindDependences adds the bonds of members that depend on others.
func (b *binder) bindDependences() {
	for _, m := range b.found.members {
		on := b.dependenceOf(m.Instr)
		for _, earlier := range b.found.members {
			if earlier == m || earlier.Instr == m.Instr || !earlier.reads || m.validates || m.deferred {
				continue
			}
			one := b.ofOneGuard(earlier, m)
			same := earlier.Variable == m.Variable && (earlier.base == nil || m.base == nil || earlier.base == m.base)
			overCalls := earlier.byCall || m.byCall
			data, control := on.data[earlier.Instr], on.control[earlier.Instr]
			switch {
			case overCalls && (!one || earlier.settled || m.settled):
			case earlier.takes && (!same || b.isOfTaken(b.tracer, m, earlier)) && (data || !b.tookNothing(earlier, m)): // what was taken is the function's own
			case earlier.takes && m.takes && !data: // one is taken after the other
			case data:
				b.addBond(bond{first: earlier, second: m, strong: same && (!overCalls || m.Kind == lockset.Write), ofOneGuard: one, ofValue: true})
			case control && (same || one || m.Kind == lockset.Write) && !earlier.settled && !m.settled:
				b.addBond(bond{first: earlier, second: m, strong: same && m.Kind == lockset.Write && !overCalls, ofOneGuard: one})
			case control && (same || m.Kind == lockset.Write):
				b.addBond(bond{first: earlier, second: m, strong: same && m.Kind == lockset.Write})
			}
		}
	}
}

// bindCombinations adds the bonds of reads that something depends on together.
func (b *binder) bindCombinations() {
	for _, block := range b.fn.Blocks {
		for _, i := range block.Instrs {
			if !combines(i) {
				continue
			}
			on := b.dependenceOf(i)
			var used []*Member
			for _, m := range b.found.members {
				if m.reads && !m.takes && !m.settled && (on.data[m.Instr] || m.Instr == i) {
					used = append(used, m)
				}
			}
			for k, m := range used {
				for _, n := range used[k+1:] {
					if m.Instr != n.Instr && b.ofOneGuard(m, n) {
						b.bindInOrder(m, n)
					}
				}
			}
		}
	}
}

// bindOverwrites adds the bonds of stores that depend on nothing, as c.list = nil, with the loads of the same
// variable before them: what others store in between is gone before it was seen.
func (b *binder) bindOverwrites() {
	for _, m := range b.found.members {
		if store, ok := m.Instr.(*ssa.Store); !ok || m.Kind != lockset.Write || m.byCall || isElement(store.Addr) {
			continue
		}
		for _, earlier := range b.found.members {
			if earlier.reads && !earlier.byCall && earlier.Variable == m.Variable && earlier.base == m.base && precedes(earlier.Instr, m.Instr) {
				b.addBond(bond{first: earlier, second: m, ofOneGuard: true})
			}
		}
	}
}

// isElement reports whether an address is that of an element.
func isElement(addr ssa.Value) bool {
	_, ok := addr.(*ssa.IndexAddr)
	return ok
}

// bindInOrder adds the bond of two members, of which neither depends on the other, in the order in
// which they are made. Members on different sides of a branch have none.
func (b *binder) bindInOrder(m, n *Member) {
	switch {
	case precedes(m.Instr, n.Instr):
		b.addBond(bond{first: m, second: n, ofOneGuard: true})
	case precedes(n.Instr, m.Instr):
		b.addBond(bond{first: n, second: m, ofOneGuard: true})
	default:
		there, back := b.Reaches(m.Instr, n.Instr), b.Reaches(n.Instr, m.Instr)
		if there && !back {
			b.addBond(bond{first: m, second: n, ofOneGuard: true})
		} else if back && !there {
			b.addBond(bond{first: n, second: m, ofOneGuard: true})
		}
	}
}

// precedes reports whether whatever comes to one instruction has come by another.
func precedes(first, second ssa.Instruction) bool {
	if first.Block() == second.Block() {
		return slices.Index(first.Block().Instrs, first) < slices.Index(second.Block().Instrs, second)
	}
	return first.Block().Dominates(second.Block())
}

// combines reports whether an instruction makes one thing of its operands, or hands them on
// together.
func combines(i ssa.Instruction) bool {
	switch i := i.(type) {
	case *ssa.BinOp, *ssa.Return, *ssa.Store, *ssa.MapUpdate, *ssa.Send, ssa.CallInstruction:
		return true
	case *ssa.UnOp:
		return i.Op != token.MUL
	}
	return false
}

// ofOneGuard reports whether one lock guards what two members access, as far as that can be told.
// A lock beside the data guards that of its own object; another may guard that of many.
func (j *judge) ofOneGuard(m, n *Member) bool {
	if m.base == nil || n.base == nil || m.base == n.base {
		return true
	}
	if j.besideLock[m.Variable.Pos()] && j.besideLock[n.Variable.Pos()] {
		return false
	}
	return j.lock != nil || m.base.Root() == n.base.Root()
}

// bindWrites adds the bonds of writes of variables that some function uses together.
func (j *judge) bindWrites(fn *ssa.Function, b *bonds) {
	t := newTracer(fn)
	for k, m := range b.members {
		if m.Kind != lockset.Write {
			continue
		}
		again := bond{first: m, second: m, ofOneGuard: true}
		if j.usedTogether[pairOf(m.Variable, m.Variable)] && m.byCall && j.Reaches(m.Instr, m.Instr) && j.goesOn(again) {
			b.add(again)
		}
		for _, n := range b.members[k+1:] {
			if n.Kind != lockset.Write || n.Instr == m.Instr || m.deferred || n.deferred {
				continue
			}
			one := j.ofOneGuard(m, n)
			if !j.areUsedTogether(m, n, one) || b.writesBoth(m, n) || b.writesBoth(n, m) || j.isOfTaken(t, m, n) || j.isOfTaken(t, n, m) {
				continue
			}
			if j.comesBefore(m, n) {
				b.add(bond{first: m, second: n, ofOneGuard: one, ofSeveral: !one})
			} else if j.comesBefore(n, m) {
				b.add(bond{first: n, second: m, ofOneGuard: one, ofSeveral: !one})
			}
		}
	}
}

// areUsedTogether reports whether some function uses the variables of two members together, be it of one object or of
// several.
func (j *judge) areUsedTogether(m, n *Member, ofOneGuard bool) bool {
	if ofOneGuard {
		return j.usedTogether[pairOf(m.Variable, n.Variable)]
	}
	return m.Variable == n.Variable && j.usedOfSeveral[m.Variable]
}

// writesBoth reports whether the call that one member is writes the variable of another as well: it leaves
// both as they belong together, whatever else is done to one of them.
func (b *bonds) writesBoth(call, other *Member) bool {
	return call.Variable != other.Variable && slices.ContainsFunc(b.members, func(m *Member) bool {
		return m.Instr == call.Instr && m.Variable == other.Variable && m.Kind == lockset.Write
	})
}

// bindSequence adds the bonds of members that come one after the other and of which one writes, if
// they have none: for the function's callers they are one step. What takes long between two of them
// is there to be done without the lock.
func (j *judge) bindSequence(fn *ssa.Function, b *bonds) {
	var long []ssa.Instruction
	for _, block := range fn.Blocks {
		for _, i := range block.Instrs {
			if j.mayTakeLong(i) {
				long = append(long, i)
			}
		}
	}
	for _, m := range b.members {
		if l := j.countedLoop(m); l != nil && !slices.ContainsFunc(long, l.contains) {
			b.add(bond{first: m, second: m, ofOneGuard: true, inSequence: true, loop: l})
		}
		for _, n := range b.members {
			oneWrites := m.Kind == lockset.Write || n.Kind == lockset.Write
			if m.Instr == n.Instr || m.settled || n.settled || !oneWrites || !j.comesBefore(m, n) || !j.ofOneGuard(m, n) {
				continue
			}
			if slices.ContainsFunc(long, func(i ssa.Instruction) bool { return j.Reaches(m.Instr, i) && (n.deferred || j.Reaches(i, n.Instr)) }) {
				continue
			}
			if !slices.ContainsFunc(b.all, func(o bond) bool { return o.first == m && o.second == n || o.first == n && o.second == m }) {
				b.all = append(b.all, bond{first: m, second: n, ofOneGuard: true, inSequence: true})
			}
		}
	}
}

// comesBefore reports whether a member is made before another, of which the reverse is not true.
func (j *judge) comesBefore(m, n *Member) bool {
	if m.deferred || n.deferred {
		return n.deferred && !m.deferred
	}
	return precedes(m.Instr, n.Instr) || !precedes(n.Instr, m.Instr) && j.Reaches(m.Instr, n.Instr) && !j.Reaches(n.Instr, m.Instr)
}

// mayTakeLong reports whether an instruction waits, or calls what is not known. A send to a channel that
// nothing else has yet must not have to wait.
func (j *judge) mayTakeLong(i ssa.Instruction) bool {
	switch i := i.(type) {
	case *ssa.Send:
		return j.IsShared(i.Parent(), i.Chan, i)
	case *ssa.Select:
		return true
	case *ssa.UnOp:
		return i.Op == token.ARROW
	case *ssa.Call:
		if _, builtin := i.Call.Value.(*ssa.Builtin); builtin {
			return false
		}
		callees := j.Callees(&i.Call)
		return len(callees) == 0 || slices.ContainsFunc(callees, func(fn *ssa.Function) bool { return len(fn.Blocks) == 0 && !isBrief(fn) && !j.IsOp(&i.Call) })
	}
	return false
}

// isBrief reports whether a function of the standard library takes no time to speak of.
func isBrief(fn *ssa.Function) bool {
	o := fn.Object()
	if o == nil || o.Pkg() == nil {
		return false
	}
	switch o.Pkg().Path() {
	case "errors", "fmt", "strings", "strconv", "sort", "slices", "maps", "math", "bytes", "unicode/utf8", "runtime", "sync/atomic":
		return true
	case "time":
		return o.Name() != "Sleep"
	}
	return false
}
