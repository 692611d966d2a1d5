package whole

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
)

// addInstead notes of a member the locks that order it instead of the lock. By themselves they are
// enough, and they keep it together with another member only if they are held for both of them:
//
//	func (t *T) Add() {                 func (t *T) Twice() int {
//		t.mu.Lock()                     	return t.Len() + t.Len()     each has the lock of the list,
//		defer t.mu.Unlock()             }                                 and Add may come between them
//		if t.Len() == 0 { t.push(1) }
//	}
func (j *judge) addInstead(m *Member, o lockset.Observation) {
	var held []*types.Var
	for _, r := range o.Held {
		held = append(held, j.Places.Variable(r.Lock))
	}
	m.instead = append(m.instead, held...)
	if o.Context == nil {
		return
	}
	for caller := range o.ReachedFrom() {
		if j.insteadFrom[caller] == nil {
			j.insteadFrom[caller] = make(map[*types.Var][]*types.Var)
		}
		j.insteadFrom[caller][m.Variable] = append(j.insteadFrom[caller][m.Variable], held...)
	}
}

// isCheckedAgain reports whether what the first of a bond decides, and gives no value for, is decided by a
// second look at the same, in one section with what it decides:
//
//	if v, ok := m[k]; ok { return v }     of an earlier section
//	...
//	if v, ok := m[k]; ok { return v }
//	m[k] = made
func (j *judge) isCheckedAgain(b bond, bound []bond) bool {
	return slices.ContainsFunc(bound, func(o bond) bool { return j.checksAgain(o, b) })
}

// checksAgain reports whether the first of a bond is the second look for another bond.
func (j *judge) checksAgain(o, b bond) bool {
	return !b.ofValue && !o.ofValue && o.second == b.second && o.first != b.first && readsSame(o.first, b.first) && !j.isSplit(o)
}

// looksAgain reports whether the second of a bond is the second look for a store that the first one, or what
// was read with it, decides about. Few bonds begin with it, and a long function has thousands: whether the
// lock is released for a store is asked last.
func (j *judge) looksAgain(b bond, bound []bond) bool {
	if b.second.Kind != lockset.Read {
		return false
	}
	var looks []bond
	for _, o := range bound {
		if o.first == b.second {
			looks = append(looks, o)
		}
	}
	return len(looks) > 0 && slices.ContainsFunc(bound, func(stored bond) bool {
		return stored.first.Variable == b.first.Variable && stored.second.Kind == lockset.Write &&
			slices.ContainsFunc(looks, func(o bond) bool { return j.checksAgain(o, stored) }) && j.isSplit(stored)
	})
}

// readsSame reports whether two members read the same of a variable: the variable, or what its map has for
// a key.
func readsSame(m, n *Member) bool {
	if m.Variable != n.Variable || m.byCall || n.byCall || m.base != n.base {
		return false
	}
	if one, ok := m.Instr.(*ssa.Lookup); ok {
		other, ok := n.Instr.(*ssa.Lookup)
		return ok && one.Index == other.Index
	}
	return loadsVariable(m.Instr) && loadsVariable(n.Instr)
}

// loadsVariable reports whether an instruction loads a variable, and not an element of what it refers to.
func loadsVariable(i ssa.Instruction) bool {
	load, ok := i.(*ssa.UnOp)
	if !ok {
		return false
	}
	_, element := load.X.(*ssa.IndexAddr)
	return !element
}

// isSplit reports whether the lock may be released between the members of a bond or, if other locks order
// one of them instead, whether all of these that are held for both may be.
func (j *judge) isSplit(b bond) bool {
	if j.lock == nil {
		return false
	}
	if len(b.first.instead)+len(b.second.instead) == 0 {
		return j.isReleased(b, j.lock)
	}
	return !slices.ContainsFunc(b.first.instead, func(l *types.Var) bool {
		return slices.Contains(b.second.instead, l) && !j.isReleased(b, l)
	})
}

// isReleased reports whether a lock may be released between the members of a bond.
func (j *judge) isReleased(b bond, lock *types.Var) bool {
	if b.second.deferred {
		return j.callReleases(b.first.Instr, lock) || j.callReleases(b.second.Instr, lock)
	}
	return b.first.byCall && j.Releases(b.first.Instr, lock) || j.releasedWithin(b, lock)
}

// callReleases reports whether a call, deferred or not, releases a lock.
func (j *judge) callReleases(i ssa.Instruction, lock *types.Var) bool {
	call, ok := i.(ssa.CallInstruction)
	return ok && j.CallReleases(call.Common(), lock)
}
