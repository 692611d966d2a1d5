package whole

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
)

// leavesLock reports whether an instruction takes a map or slice, or a view of what a library's object has,
// that goes to code without the lock:
//
//	func (c *Cache) All() map[string]int {
//		c.mu.Lock()
//		defer c.mu.Unlock()
//		return c.m                 the lock is gone when the caller ranges over it
//	}
//
// What the variable gives up, it has no more: m := c.m; c.m = nil; return m.
//
// A function of the program's own that takes the lock, or is to take it, hands out what its callers read, and what
// they change: the first can be a copy. open says that the lock may not be held.
//
// A struct that is copied takes the references in its fields with it:
//
//	func (s *Stats) Snapshot() Numbers {
//		s.mu.Lock()
//		defer s.mu.Unlock()
//		return s.numbers           the caller has the map that ByCode refers to
//	}
func (j *judge) leavesLock(v *lockset.Variable, i ssa.Instruction, open bool) (leavesLock, toBeChanged bool) {
	reference, field := referenceTaken(i), (*types.Var)(nil)
	if reference == nil {
		reference, field = structTaken(v, i), v.Object
	}
	if reference == nil || isGivenUp(reference, field) {
		return false, false
	}
	fn := i.Parent()
	ways := waysOutOf(reference, field)
	forUsers := j.answersUsers(fn, field, make(map[*ssa.Function]bool))
	if ways.toGoroutine || forUsers && slices.ContainsFunc(ways.into, func(field *types.Var) bool { return !contains(j.data, field) }) {
		return true, false
	}
	if !ways.asResult || fn.Parent() != nil {
		return false, false
	}
	if j.isChangedByCallers(fn, field) {
		return !forUsers && (open || j.takesLock(fn)), true
	}
	return forUsers || (open || j.takesLock(fn)) && j.isReadByCallers(fn, field), false
}

// structTaken is the copy of a struct that an instruction makes, if the variable is a map or slice among the
// struct's fields; nil if it makes none.
func structTaken(v *lockset.Variable, i ssa.Instruction) ssa.Value {
	load, ok := i.(*ssa.UnOp)
	if !ok || load.Op != token.MUL || !isReferenceType(v.Object.Type()) || !hasPart(load.Type(), v.Object) {
		return nil
	}
	return load
}

// hasPart reports whether a struct has a field, or a struct with it.
func hasPart(t types.Type, field *types.Var) bool {
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if f.Pos() == field.Pos() || hasPart(f.Type(), field) {
			return true
		}
	}
	return false
}

// referenceTaken is the map or slice that an instruction loads from a variable, or has from an object of a
// library that goes on using it; nil if there is none.
func referenceTaken(i ssa.Instruction) ssa.Value {
	switch i := i.(type) {
	case *ssa.UnOp:
		if i.Op == token.MUL && isReference(i) {
			return i
		}
	case *ssa.Lookup:
		if isReference(i) {
			return i
		}
		if i.CommaOk {
			for _, r := range *i.Referrers() {
				if entry, ok := r.(*ssa.Extract); ok && isReference(entry) {
					return entry
				}
			}
		}
	case *ssa.Call:
		if isView(i) {
			return i
		}
	}
	return nil
}

// isReference reports whether a value is a map or slice.
func isReference(v ssa.Value) bool { return isReferenceType(v.Type()) }

func isReferenceType(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Map, *types.Slice:
		return true
	}
	return false
}

// isChangedWhere reports whether what an instruction takes of a variable is changed in place: the map or array of
// the variable, one that is an entry of it, or what the variable's own methods change.
func isChangedWhere(v *lockset.Variable, i ssa.Instruction) bool {
	load, ok := i.(*ssa.UnOp)
	switch {
	case isView(i):
		return !isSettled(v)
	case ok && (!isElement(load.X) || structTaken(v, i) != nil):
		return v.ChangedInPlace
	}
	return v.InnerChanged
}

// isView reports whether an instruction is a call that returns a part of an object of the library, which
// the object's other methods change: no copy.
func isView(i ssa.Instruction) bool {
	call, ok := i.(*ssa.Call)
	if !ok {
		return false
	}
	fn := call.Call.StaticCallee()
	if fn == nil || fn.Object() == nil {
		return false
	}
	method, ok := fn.Object().(*types.Func)
	return ok && views[method.FullName()]
}

var views = map[string]bool{
	"(*bytes.Buffer).Bytes": true, "(*bytes.Buffer).Next": true, "(*bytes.Buffer).AvailableBuffer": true,
	"(*bufio.Scanner).Bytes": true, "(*bufio.Reader).Peek": true, "(*bufio.Reader).ReadSlice": true,
	"(*math/big.Int).Bits": true,
}

// isGivenUp reports whether the variable that a reference was loaded from is given another one on
// every way from there to the function's end. With a field, the reference is a copy of a struct, and it is that
// field which is given another one.
func isGivenUp(reference ssa.Value, field *types.Var) bool {
	load, ok := reference.(*ssa.UnOp)
	if !ok {
		return false
	}
	gives := func(i ssa.Instruction) bool {
		s, ok := i.(*ssa.Store)
		if !ok || isPartOf(s.Val, load, make(map[ssa.Value]bool)) {
			return false
		}
		part, ok := s.Addr.(*ssa.FieldAddr)
		return isSameAddress(s.Addr, load.X) || ok && field != nil && fieldAt(part).Pos() == field.Pos() && isSameAddress(part.X, load.X)
	}
	seen := make(map[*ssa.BasicBlock]bool)
	var reachesEnd func(rest []ssa.Instruction, next []*ssa.BasicBlock) bool
	reachesEnd = func(rest []ssa.Instruction, next []*ssa.BasicBlock) bool {
		for _, i := range rest {
			if gives(i) {
				return false
			}
			if _, ok := i.(*ssa.Return); ok {
				return true
			}
		}
		for _, b := range next {
			if !seen[b] {
				seen[b] = true
				if reachesEnd(b.Instrs, b.Succs) {
					return true
				}
			}
		}
		return false
	}
	b := load.Block()
	return !reachesEnd(b.Instrs[slices.Index(b.Instrs, ssa.Instruction(load))+1:], b.Succs)
}

// isSameAddress reports whether two addresses of a function are those of one variable, or of one field of
// one object.
func isSameAddress(x, y ssa.Value) bool {
	if x == y {
		return true
	}
	switch x := x.(type) {
	case *ssa.FieldAddr:
		y, ok := y.(*ssa.FieldAddr)
		return ok && x.Field == y.Field && isSameAddress(x.X, y.X)
	case *ssa.UnOp:
		y, ok := y.(*ssa.UnOp)
		return ok && x.Op == token.MUL && y.Op == token.MUL && isSameAddress(x.X, y.X)
	}
	return false
}

// isPartOf reports whether a value may refer to the map or array of a reference. seen are values that were looked
// at: what a loop appends to depends on itself.
func isPartOf(v ssa.Value, reference *ssa.UnOp, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Slice:
		return isPartOf(v.X, reference, seen)
	case *ssa.UnOp:
		return v == reference || v.Op == token.MUL && isSameAddress(v.X, reference.X)
	case *ssa.Phi:
		return slices.ContainsFunc(v.Edges, func(e ssa.Value) bool { return isPartOf(e, reference, seen) })
	case *ssa.Call:
		return isAppend(v) && isPartOf(v.Call.Args[0], reference, seen)
	}
	return false
}

// answersUsers reports whether users of the package are given what a function returns, or a field of it: the
// function is exported, or such a function returns what it has from this one.
func (j *judge) answersUsers(fn *ssa.Function, field *types.Var, seen map[*ssa.Function]bool) bool {
	if fn.Object() != nil && fn.Object().Exported() {
		return true
	}
	seen[fn] = true
	return slices.ContainsFunc(j.callsOf(fn), func(call *ssa.Call) bool {
		return !seen[call.Parent()] && waysOutOf(call, field).asResult && j.answersUsers(call.Parent(), field, seen)
	})
}

// isReadByCallers reports whether the program goes through what a function returned, or through a field of it.
func (j *judge) isReadByCallers(fn *ssa.Function, field *types.Var) bool {
	return slices.ContainsFunc(j.callsOf(fn), func(call *ssa.Call) bool {
		return slices.ContainsFunc(partsOf(call, field), func(part ssa.Value) bool { return isRead(part, make(map[ssa.Value]bool)) })
	})
}

// partsOf are the values that a struct has in a field, where they are taken from it; it is the value itself if
// there is no field.
func partsOf(v ssa.Value, field *types.Var) []ssa.Value {
	if field == nil {
		return []ssa.Value{v}
	}
	var all []ssa.Value
	seen := make(map[ssa.Value]bool)
	var visit func(v ssa.Value)
	visit = func(v ssa.Value) {
		if seen[v] || v.Referrers() == nil {
			return
		}
		seen[v] = true
		for _, r := range *v.Referrers() {
			switch r := r.(type) {
			case *ssa.Field:
				if f := r.X.Type().Underlying().(*types.Struct).Field(r.Field); f.Pos() == field.Pos() {
					all = append(all, r)
				} else {
					visit(r)
				}
			case *ssa.FieldAddr:
				if fieldAt(r).Pos() != field.Pos() {
					visit(r)
					continue
				}
				for _, use := range *r.Referrers() {
					if load, ok := use.(*ssa.UnOp); ok {
						all = append(all, load)
					}
				}
			case *ssa.Store:
				if local, ok := r.Addr.(*ssa.Alloc); ok && r.Val == v {
					visit(local)
				}
			case *ssa.UnOp, *ssa.Phi, *ssa.Extract, *ssa.ChangeType:
				visit(r.(ssa.Value))
			}
		}
	}
	visit(v)
	return all
}

// takesLock reports whether a function releases the judge's lock, and so has taken it.
func (j *judge) takesLock(fn *ssa.Function) bool {
	return j.lock != nil && slices.ContainsFunc(fn.Blocks, func(b *ssa.BasicBlock) bool {
		return slices.ContainsFunc(b.Instrs, func(i ssa.Instruction) bool { return j.callReleases(i, j.lock) })
	})
}

// isRead reports whether a function uses the entries or elements of a map or slice.
func isRead(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] || v.Referrers() == nil {
		return false
	}
	seen[v] = true
	return slices.ContainsFunc(*v.Referrers(), func(r ssa.Instruction) bool {
		switch r := r.(type) {
		case *ssa.IndexAddr:
			return r.X == v
		case *ssa.Lookup:
			return r.X == v
		case *ssa.Range:
			return true
		case *ssa.Slice, *ssa.Phi, *ssa.ChangeType, *ssa.Extract:
			return isRead(r.(ssa.Value), seen)
		}
		return false
	})
}

// isChangedByCallers reports whether the program changes what a function returned: the result is
// there to be changed.
func (j *judge) isChangedByCallers(fn *ssa.Function, field *types.Var) bool {
	return slices.ContainsFunc(j.callsOf(fn), func(call *ssa.Call) bool { return slices.ContainsFunc(partsOf(call, field), isChanged) })
}

// callsOf are the calls of a function, where it is named.
func (j *judge) callsOf(fn *ssa.Function) []*ssa.Call {
	if j.calls == nil {
		j.calls = make(map[*ssa.Function][]*ssa.Call)
		for _, caller := range j.Functions {
			for _, b := range caller.Blocks {
				for _, i := range b.Instrs {
					if call, ok := i.(*ssa.Call); ok && call.Call.StaticCallee() != nil {
						j.calls[call.Call.StaticCallee()] = append(j.calls[call.Call.StaticCallee()], call)
					}
				}
			}
		}
	}
	return j.calls[fn]
}

func isChanged(v ssa.Value) bool {
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.MapUpdate:
			if r.Map == v {
				return true
			}
		case *ssa.IndexAddr:
			for _, use := range *r.Referrers() {
				if s, ok := use.(*ssa.Store); ok && s.Addr == ssa.Value(r) {
					return true
				}
			}
		case *ssa.Call:
			if b, ok := r.Call.Value.(*ssa.Builtin); ok && (b.Name() == "delete" || b.Name() == "clear") {
				return true
			}
		case *ssa.Extract:
			if isChanged(r) {
				return true
			}
		}
	}
	return false
}

// CalledBy says of a function whether it is one of some functions, or one of them calls it by its name. What such a
// function hands out from under the lock, they use without it:
//
//	for _, m := range r.current() {      current returns r.members, which others change in place
//		m.In <- text
//	}
func CalledBy(users map[*ssa.Function]bool) func(*ssa.Function) bool {
	called := make(map[*ssa.Function]bool)
	var note func(fn *ssa.Function)
	note = func(fn *ssa.Function) {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				if call, ok := i.(*ssa.Call); ok && call.Call.StaticCallee() != nil {
					called[lockset.Outermost(call.Call.StaticCallee())] = true
				}
			}
		}
		for _, literal := range fn.AnonFuncs {
			note(literal)
		}
	}
	for fn := range users {
		note(fn)
	}
	return func(fn *ssa.Function) bool { return users[lockset.Outermost(fn)] || called[lockset.Outermost(fn)] }
}
