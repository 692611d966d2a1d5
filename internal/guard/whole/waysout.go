package whole

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// waysOut are the ways by which a reference leaves the function that has it.
type waysOut struct {
	// asResult says that the function returns it, something that has it as a part, or something that reads
	// it later:
	//
	//	return maps.Keys(c.m)                     the caller's loop ranges over the map
	//	return bytes.NewReader(c.page)            the caller reads the bytes
	//	return View{Names: c.names}
	//	m := c.m; return func() int { return len(m) }
	asResult bool
	// toGoroutine says that it is sent, or that a goroutine is started with it.
	toGoroutine bool
	// into are the fields of objects of the caller's that it is stored in.
	into []*types.Var
	// calls are those of function values that are given it.
	calls []*ssa.Call

	root ssa.Value // the object that it comes from, nil if that is not known
	// field is the field that has the reference, if what is followed is a struct; nil otherwise.
	field *types.Var
	// isAddress says that what is followed is an address: what a library returns for one is its own.
	isAddress bool
	seen      map[ssa.Value]bool
}

// waysOutOf are those of a reference or, with a field, of a struct that has one there.
func waysOutOf(reference ssa.Value, field *types.Var) *waysOut {
	w := &waysOut{field: field, seen: make(map[ssa.Value]bool)}
	switch r := reference.(type) {
	case *ssa.UnOp:
		w.root = objectOf(r.X)
	case *ssa.FieldAddr, *ssa.IndexAddr:
		w.root, w.isAddress = objectOf(reference), true
	}
	w.follow(reference)
	return w
}

// follow adds the ways of a value that has the reference, or is it.
func (w *waysOut) follow(v ssa.Value) {
	if w.seen[v] || v.Referrers() == nil {
		return
	}
	w.seen[v] = true
	for _, r := range *v.Referrers() {
		w.followUse(v, r)
	}
}

// followUse adds the ways of what an instruction does with a value that has the reference, or is it.
func (w *waysOut) followUse(v ssa.Value, by ssa.Instruction) {
	switch r := by.(type) {
	case *ssa.Return:
		w.asResult = true
	case *ssa.Send:
		w.toGoroutine = w.toGoroutine || r.X == v
	case *ssa.Go:
		w.toGoroutine = true
	case *ssa.Store:
		if r.Val == v {
			w.followStore(r.Addr)
		}
	case *ssa.MapUpdate:
		if made, ok := r.Map.(*ssa.MakeMap); ok && r.Value == v {
			w.follow(made)
		}
	case *ssa.UnOp:
		// A result of a function with deferred calls is kept in a variable.
		if local, ok := v.(*ssa.Alloc); ok && !w.isReplaced(local, r) {
			w.follow(r)
		}
	case *ssa.Slice:
		if r.X == v {
			w.follow(r)
		}
	case *ssa.Extract: // of a call with several results
		if isReference(r) || w.field != nil && hasPart(r.Type(), w.field) {
			w.follow(r)
		}
	case *ssa.Field:
		w.followPart(r, r.X.Type().Underlying().(*types.Struct).Field(r.Field))
	case *ssa.FieldAddr:
		for _, use := range *r.Referrers() {
			if load, ok := use.(*ssa.UnOp); ok && !w.isReplaced(r.X, load) {
				w.followPart(load, fieldAt(r))
			}
		}
	case *ssa.Phi, *ssa.ChangeType, *ssa.MakeInterface, *ssa.MakeClosure:
		w.follow(r.(ssa.Value))
	case *ssa.Call:
		if w.isAddress && callsValue(&r.Call) && slices.Contains(r.Call.Args, v) {
			w.calls = append(w.calls, r)
		}
		if own := r.Call.StaticCallee() != nil && r.Call.StaticCallee().Blocks != nil; (own || !w.isAddress) && w.mayKeep(r, v) {
			w.follow(r)
		}
	}
}

// followPart follows what a struct has in a field, if the reference is there.
func (w *waysOut) followPart(part ssa.Value, of *types.Var) {
	if w.field != nil && (of.Pos() == w.field.Pos() || hasPart(of.Type(), w.field)) {
		w.follow(part)
	}
}

// isReplaced reports whether a local copy of a struct has another reference, when it is loaded, than the one that
// it was made with:
//
//	n := s.numbers
//	n.ByCode = maps.Clone(n.ByCode)
//	return n
func (w *waysOut) isReplaced(local ssa.Value, load *ssa.UnOp) bool {
	if w.field == nil {
		return false
	}
	for _, r := range *local.Referrers() {
		part, ok := r.(*ssa.FieldAddr)
		if !ok {
			continue
		}
		if fieldAt(part).Pos() != w.field.Pos() {
			if hasPart(fieldAt(part).Type(), w.field) && w.isReplaced(part, load) {
				return true
			}
			continue
		}
		for _, use := range *part.Referrers() {
			s, ok := use.(*ssa.Store)
			if ok && s.Addr == ssa.Value(part) && !isPartOfField(s.Val, part, make(map[ssa.Value]bool)) && comesBefore(s, load) {
				return true
			}
		}
	}
	return false
}

// isPartOfField reports whether a value may refer to the map or array that a field has.
func isPartOfField(v ssa.Value, field *ssa.FieldAddr, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Slice:
		return isPartOfField(v.X, field, seen)
	case *ssa.UnOp:
		return v.Op == token.MUL && isSameAddress(v.X, field)
	case *ssa.Phi:
		return slices.ContainsFunc(v.Edges, func(e ssa.Value) bool { return isPartOfField(e, field, seen) })
	case *ssa.Call:
		return isAppend(v) && isPartOfField(v.Call.Args[0], field, seen)
	}
	return false
}

// comesBefore reports whether every way to an instruction leads over another one.
func comesBefore(first, then ssa.Instruction) bool {
	if first.Block() != then.Block() {
		return first.Block().Dominates(then.Block())
	}
	return slices.Index(first.Block().Instrs, first) < slices.Index(then.Block().Instrs, then)
}

// followStore follows a reference into what it is stored in: a variable or an object of the function, or one of
// the caller's other than the one that it comes from.
func (w *waysOut) followStore(addr ssa.Value) {
	switch o := objectOf(addr).(type) {
	case *ssa.Alloc:
		w.follow(o)
	case *ssa.Parameter:
		if field, ok := addr.(*ssa.FieldAddr); ok && ssa.Value(o) != w.root {
			w.into = append(w.into, fieldAt(field))
		}
	}
}

// objectOf is the object or variable that an address leads into.
func objectOf(addr ssa.Value) ssa.Value {
	for {
		switch a := addr.(type) {
		case *ssa.FieldAddr:
			addr = a.X
		case *ssa.IndexAddr:
			addr = a.X
		default:
			return addr
		}
	}
}

// fieldAt is the field whose address an instruction is.
func fieldAt(a *ssa.FieldAddr) *types.Var {
	return a.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(a.Field)
}

// mayKeep reports whether the result of a call may refer to an argument. Of a library's function its
// type tells; a map or slice is taken for a new one, as those of slices.Sorted and maps.Collect are.
func (w *waysOut) mayKeep(call *ssa.Call, argument ssa.Value) bool {
	if isAppend(call) {
		return appendKeeps(call, argument)
	}
	fn := call.Call.StaticCallee()
	switch {
	case fn == nil:
		return false
	case fn.Blocks != nil:
		for i, p := range fn.Params {
			if call.Call.Args[i] != argument {
				continue
			}
			inside := &waysOut{field: w.field, seen: w.seen} // a function that calls itself comes here again
			if inside.follow(p); inside.asResult {
				return true
			}
		}
		return false
	}
	switch call.Type().Underlying().(type) {
	case *types.Signature, *types.Pointer:
		return true
	case *types.Interface:
		return !types.Identical(call.Type(), types.Universe.Lookup("error").Type())
	}
	return false
}

// appendKeeps reports whether what append returns has an argument in it: the slice that is appended to, unless
// its capacity is limited, and what is appended one by one. The elements of append(x, list...) are copied.
func appendKeeps(call *ssa.Call, argument ssa.Value) bool {
	if part, ok := argument.(*ssa.Slice); ok {
		_, listed := part.X.(*ssa.Alloc)
		return listed || part == call.Call.Args[0] && part.Max == nil
	}
	return argument == call.Call.Args[0]
}

func isAppend(call *ssa.Call) bool {
	b, ok := call.Call.Value.(*ssa.Builtin)
	return ok && b.Name() == "append"
}
