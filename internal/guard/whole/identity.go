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

// A lock that is a field guards the data of its own object, as long as it is the same object for all
// goroutines. Two things take that away:
//
//	*t = T{}                           the lock is overwritten, or copied, with the object:
//	t.rows = append(t.rows, row{})     an array moves with the locks of its rows
//
//	t.in = &inner{n: t.in.count()}     the object is replaced: what has the old one has the old
//	                                   lock, and what it does is lost
//
// The first makes the lock useless. The second is harmless if another lock keeps the replacement and
// all use of what is replaced apart.

// Copying returns an access that copies or overwrites objects of the struct that has a lock, and the
// lock with them, after they are shared; nil if there is none, but for those that are excepted.
func Copying(a *lockset.Analysis, lock *types.Var, except func(*lockset.Observation) bool) *lockset.Observation {
	lock = a.Places.Canonical(lock)
	if !lock.IsField() {
		return nil
	}
	beside := fieldsBeside(a, lock)
	for _, v := range a.Variables {
		inContainer := hasInside(contained(v.Object.Type()), lock)
		for _, s := range v.Sites {
			for i, o := range s.Observations {
				copies := beside[v.Object.Pos()] && isOfStruct(o.Instr, lock) || inContainer && o.Kind == lockset.Write
				if copies && (except == nil || !except(&s.Observations[i])) {
					return &s.Observations[i]
				}
			}
		}
	}
	return nil
}

// isOfStruct reports whether an instruction loads or stores a whole struct with a field in it.
func isOfStruct(i ssa.Instruction, field *types.Var) bool {
	switch i := i.(type) {
	case *ssa.UnOp:
		return i.Op == token.MUL && hasInside(i.Type(), field)
	case *ssa.Store:
		return hasInside(i.Val.Type(), field)
	}
	return false
}

// contained is the type of what a map or slice has, nil if a type is neither.
func contained(t types.Type) types.Type {
	switch t := t.Underlying().(type) {
	case *types.Map:
		return t.Elem()
	case *types.Slice:
		return t.Elem()
	}
	return nil
}

// hasInside reports whether values of a type have a field in themselves, not by way of a pointer.
func hasInside(t types.Type, field *types.Var) bool {
	if t == nil {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Struct:
		for f := range t.Fields() {
			if f.Pos() == field.Pos() || hasInside(f.Type(), field) {
				return true
			}
		}
	case *types.Array:
		return hasInside(t.Elem(), field)
	}
	return false
}

// leadsTo reports whether a variable of a type leads to objects with a field inside them, directly or
// over structs without a lock of their own.
func leadsTo(t types.Type, field *types.Var, seen map[types.Type]bool) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return leadsTo(t.Elem(), field, seen)
	case *types.Slice:
		return leadsTo(t.Elem(), field, seen)
	case *types.Array:
		return leadsTo(t.Elem(), field, seen)
	case *types.Map:
		return leadsTo(t.Elem(), field, seen)
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || seen[t] {
		return false
	}
	seen[t] = true
	if hasInside(t, field) {
		return true
	}
	if slices.ContainsFunc(slices.Collect(st.Fields()), func(f *types.Var) bool { return locks.IsLock(f.Type()) }) {
		return false
	}
	for f := range st.Fields() {
		if leadsTo(f.Type(), field, seen) {
			return true
		}
	}
	return false
}

// A Replacement is an access to what leads to the object with a lock that is not kept apart from
// others: which object it is may change in between.
type Replacement struct {
	Variable *types.Var // that leads to the object
	Func     *ssa.Function
	At       token.Pos
	Write    bool
	// Lock is one that other accesses to the variable hold and this one does not; nil if none does, or
	// if this one does.
	Lock *types.Var
	// Lost says that what is done to the object meanwhile is lost: the new one is made of the old.
	Lost bool
	// Torn says that which object it is may change between this access and another that belongs to it.
	Torn bool
}

// Replacements returns the accesses, outside of test code, by which the object that has a lock may be
// replaced for some goroutine while another uses it. Data is what the lock guards.
func Replacements(a *lockset.Analysis, lock *types.Var, data []*types.Var) []Replacement {
	lock = a.Places.Canonical(lock)
	if !lock.IsField() {
		return nil
	}
	var all []Replacement
	for _, v := range a.Variables {
		leads := !hasInside(v.Object.Type(), lock) && leadsTo(v.Object.Type(), lock, make(map[types.Type]bool))
		if !leads || contains(data, v.Object) || v.Atomic || !isReplaced(v) {
			continue
		}
		held := locksOf(a, v)
		if len(held) == 0 {
			for _, s := range v.Sites {
				if s.Kind == lockset.Write && !inTest(s) && slices.ContainsFunc(s.Observations, v.Conflicts) {
					all = append(all, Replacement{Variable: v.Object, Func: s.Func, At: s.Observations[0].At, Write: true})
				}
			}
			continue
		}
		all = append(all, apartFromOthers(a, v.Object, held[0])...)
		all = append(all, usingTheOld(a, v.Object, held[0], lock, data)...)
	}
	all = slices.DeleteFunc(all, func(r Replacement) bool { return isTestPosition(a, r.At) })
	slices.SortStableFunc(all, func(r, s Replacement) int { return cmp.Compare(r.At, s.At) })
	return slices.CompactFunc(all, func(r, s Replacement) bool { return r.At == s.At && r.Variable == s.Variable })
}

// Replaced returns the variables that point to objects of a struct and to other ones later, once they
// are shared.
func Replaced(a *lockset.Analysis, of *types.Named) []*types.Var {
	var all []*types.Var
	for _, v := range a.Variables {
		pointer, ok := types.Unalias(v.Object.Type()).(*types.Pointer)
		if !ok || v.Atomic || !isReplaced(v) {
			continue
		}
		if n, ok := types.Unalias(pointer.Elem()).(*types.Named); ok && n.Origin() == of {
			all = append(all, v.Object)
		}
	}
	return all
}

// isReplaced reports whether a variable is given another value once it is shared.
func isReplaced(v *lockset.Variable) bool {
	return slices.ContainsFunc(v.Sites, func(s *lockset.Site) bool { return s.Kind == lockset.Write && !inTest(s) })
}

func isTestPosition(a *lockset.Analysis, at token.Pos) bool {
	return isTestName(a.Program.Fset.Position(at).Filename)
}

// apartFromOthers are the accesses to a variable without the lock that others hold, and those between
// which and others that they belong to the lock is released.
func apartFromOthers(a *lockset.Analysis, v, held *types.Var) []Replacement {
	var all []Replacement
	for _, g := range Broken(a, []*types.Var{v}, held) {
		for _, m := range g.Members {
			r := Replacement{Variable: v, Func: g.Func, At: m.At, Write: m.Kind == lockset.Write}
			switch {
			case m.Open && !m.byCall:
				r.Lock = held
			case slices.Contains(g.Split, m):
				r.Lost = true
			case slices.ContainsFunc(g.Torn, func(t Tear) bool { return t.Second == m }):
				r.Torn = true
			default:
				continue
			}
			all = append(all, r)
		}
	}
	return all
}

// usingTheOld are the stores that replace the object with a lock, in functions that use what the old one
// has, though that may be changed without the lock that is held for the store: for the new one, or for
// something else.
func usingTheOld(a *lockset.Analysis, v, held, lock *types.Var, data []*types.Var) []Replacement {
	if !isWrittenWithout(a, data, held) {
		return nil
	}
	j := newJudge(a, append(slices.Clone(data), v), lock)
	var all []Replacement
	for fn, bound := range j.bind() {
		for _, b := range bound.all {
			ofData := b.first.Variable.Pos() != v.Pos() && b.first.reads
			if ofData && !b.inSequence && b.second.Variable.Pos() == v.Pos() && b.second.Kind == lockset.Write {
				all = append(all, Replacement{Variable: v, Func: fn, At: b.second.At, Write: true, Lost: true})
			}
		}
		for _, m := range bound.members {
			if m.Variable.Pos() == v.Pos() && m.Kind == lockset.Write && !m.byCall && usesOld(bound.members, m) {
				all = append(all, Replacement{Variable: v, Func: fn, At: m.At, Write: true, Lost: true})
			}
		}
	}
	return all
}

// usesOld reports whether a function that gives a variable another value uses data to which the variable
// led before. What is used of either the old object or a new one is that of the new one if there is one.
//
//	old := t.boxes[k]         b := t.boxes[k]
//	t.boxes[k] = new(box)     if b == nil {
//	return old.n                  b = new(box)
//	                              t.boxes[k] = b
//	                          }
//	                          return b.n
func usesOld(members []*Member, replacing *Member) bool {
	for _, use := range members {
		if use.Variable == replacing.Variable {
			continue
		}
		for _, read := range members {
			if read.Variable == replacing.Variable && read.reads && read != replacing && isOfWhatWasRead(use.Instr, read.Instr, make(map[ssa.Instruction]bool)) {
				return true
			}
		}
	}
	return false
}

// isOfWhatWasRead reports whether an operand of an instruction is what another gives, or is computed from it,
// without a choice between that and something that is made.
func isOfWhatWasRead(i, from ssa.Instruction, seen map[ssa.Instruction]bool) bool {
	if seen[i] {
		return false
	}
	seen[i] = true
	for _, operand := range i.Operands(nil) {
		made, ok := (*operand).(ssa.Instruction)
		if !ok {
			continue
		}
		if made == from {
			return true
		}
		if phi, choice := made.(*ssa.Phi); choice && slices.ContainsFunc(phi.Edges, isMade) {
			continue
		}
		if isOfWhatWasRead(made, from, seen) {
			return true
		}
	}
	return false
}

// isMade reports whether a value is an object that the function makes.
func isMade(v ssa.Value) bool {
	_, made := v.(*ssa.Alloc)
	return made
}

// isWrittenWithout reports whether some of the data may be written without a lock.
func isWrittenWithout(a *lockset.Analysis, data []*types.Var, held *types.Var) bool {
	for _, v := range a.Variables {
		if !contains(data, v.Object) {
			continue
		}
		for _, s := range v.Sites {
			if slices.ContainsFunc(s.Observations, func(o lockset.Observation) bool {
				return o.Kind == lockset.Write && !hasClass(a.Places, o, held)
			}) {
				return true
			}
		}
	}
	return false
}
