package alias

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// checkStored looks at what is stored to a holder: it has to be what the holder of the same object had, or something
// new, of which no name is left.
func (f *finder) checkStored(k string, store *ssa.Store) {
	var made []ssa.Value
	o := &origins{finder: f, back: func(load *ssa.UnOp) bool {
		return f.holderOfSlice(load.X) == k && f.samePlace(load.X, store.Addr, true)
	}, made: func(v ssa.Value) { made = append(made, v) }}
	if why := o.of(store.Val); why != "" {
		f.escape(k, store, why)
	}
	for _, root := range made {
		f.checkMade(k, root, store)
	}
}

// checkMade follows something new, which is stored to a holder.
func (f *finder) checkMade(k string, root ssa.Value, store *ssa.Store) {
	w := f.newWalk(root, nil)
	f.conclude(k, w)
	for _, s := range w.stores {
		if f.holderOfSlice(s.Addr) != k || !f.samePlace(s.Addr, store.Addr, true) {
			f.escape(k, s, "another variable gets it")
		}
	}
	after := instructionsAfter(store, root)
	if after[store] {
		f.escape(k, store, "it is stored more than once")
	}
	name := Name{At: store}
	for _, i := range w.uses {
		if after[i] {
			name.Uses = append(name.Uses, i)
		}
	}
	if len(name.Uses) > 0 {
		f.out.names[k] = append(f.out.names[k], name)
	}
}

// instructionsAfter returns the instructions that may be executed after one of them, and before a value is made anew.
func instructionsAfter(i ssa.Instruction, root ssa.Value) map[ssa.Instruction]bool {
	after := make(map[ssa.Instruction]bool)
	made, _ := root.(ssa.Instruction)
	seen := make(map[*ssa.BasicBlock]bool)
	var add func(b *ssa.BasicBlock, from int)
	add = func(b *ssa.BasicBlock, from int) {
		for _, j := range b.Instrs[from:] {
			if j == made {
				return
			}
			after[j] = true
		}
		for _, next := range b.Succs {
			if !seen[next] {
				seen[next] = true
				add(next, 0)
			}
		}
	}
	add(i.Block(), slices.Index(i.Block().Instrs, i)+1)
	return after
}

// origin returns why a value that is stored in memory that is followed comes from elsewhere, "" if it is new or
// belongs there.
func (f *finder) origin(v ssa.Value, at ssa.Instruction, back func(*ssa.UnOp) bool) string {
	var made []ssa.Value
	o := &origins{finder: f, back: back, made: func(v ssa.Value) { made = append(made, v) }}
	if why := o.of(v); why != "" {
		return why
	}
	for _, root := range made {
		if why := f.leftOf(root, at); why != "" {
			return why
		}
	}
	return ""
}

// leftOf returns why something new that becomes an element has another name.
func (f *finder) leftOf(root ssa.Value, at ssa.Instruction) string {
	w := f.newWalk(root, at)
	after := instructionsAfter(at, root)
	switch {
	case w.why != "":
		return w.why
	case len(w.stores) > 0 || len(w.returns) > 0 || after[at] || slices.ContainsFunc(w.uses, func(i ssa.Instruction) bool { return after[i] }):
		return "an element of it has another name"
	}
	return ""
}

// usersOf returns the instructions that use a value, or a part of what it is.
func usersOf(root ssa.Value) []ssa.Instruction {
	var all []ssa.Instruction
	seen := make(map[ssa.Value]bool)
	var visit func(v ssa.Value)
	visit = func(v ssa.Value) {
		if seen[v] || v.Referrers() == nil {
			return
		}
		seen[v] = true
		for _, i := range *v.Referrers() {
			switch i := i.(type) {
			case *ssa.DebugRef:
				continue
			case *ssa.Slice:
				visit(i)
			case *ssa.Phi:
				visit(i)
			case *ssa.IndexAddr:
				visit(i)
			case *ssa.ChangeType:
				visit(i)
			}
			all = append(all, i)
		}
	}
	visit(root)
	return all
}

// origins finds out where a value comes from.
type origins struct {
	*finder
	back func(*ssa.UnOp) bool // what is loaded belongs to where it is stored
	made func(ssa.Value)      // is told what is new
	seen []ssa.Value
}

const fromElsewhere = "it is set to a slice that comes from elsewhere"

// of returns why a value is neither new nor belongs to where it is stored; "" if it is.
func (o *origins) of(v ssa.Value) string {
	if slices.Contains(o.seen, v) {
		return ""
	}
	o.seen = append(o.seen, v)
	switch v := v.(type) {
	case *ssa.Const:
		return ""
	case *ssa.MakeSlice, *ssa.Convert:
		o.made(v)
		return ""
	case *ssa.ChangeType:
		return o.of(v.X)
	case *ssa.Extract:
		return o.of(v.Tuple)
	case *ssa.Slice:
		if a, ok := v.X.(*ssa.Alloc); ok {
			return o.ofArray(a)
		}
		return o.of(v.X)
	case *ssa.Phi:
		for _, e := range v.Edges {
			if why := o.of(e); why != "" {
				return why
			}
		}
		return ""
	case *ssa.UnOp:
		if v.Op == token.MUL && o.back(v) {
			return ""
		}
	case *ssa.Call:
		return o.ofCall(v)
	}
	return fromElsewhere
}

// ofArray looks at the array of a literal, or at one that a function has made by itself. The slices that are its
// elements have to be new, too.
func (o *origins) ofArray(a *ssa.Alloc) string {
	if a.Comment != "slicelit" && a.Comment != "varargs" && a.Comment != "makeslice" {
		return fromElsewhere // a variable
	}
	o.made(a)
	if !holdsSlice(pointee(a)) {
		return ""
	}
	for _, i := range usersOf(a) {
		if s, ok := i.(*ssa.Store); ok && holdsSlice(s.Val.Type()) {
			if why := o.of(s.Val); why != "" {
				return why
			}
		}
	}
	return ""
}

// ofCall looks at what a function returns.
func (o *origins) ofCall(c *ssa.Call) string {
	if b, ok := c.Call.Value.(*ssa.Builtin); ok {
		if b.Name() != "append" {
			return fromElsewhere
		}
		o.made(c) // there may have been no room
		if holdsSlice(elementOf(c.Type())) {
			if why := o.of(c.Call.Args[1]); why != "" {
				return why
			}
		}
		return o.of(c.Call.Args[0])
	}
	if fn := bodyOf(&c.Call); fn != nil {
		o.made(c)
		return o.resultOf(fn, c)
	}
	if c.Call.IsInvoke() || c.Call.StaticCallee() == nil || !o.IsQuiet(c) {
		return fromElsewhere
	}
	o.made(c)
	if isClone(&c.Call) {
		return ""
	}
	for _, a := range c.Call.Args {
		if holdsSlice(a.Type()) {
			if why := o.of(a); why != "" {
				return why
			}
		}
	}
	return ""
}

// resultOf looks at what a function with a body returns for a call: something new, or of what it is given.
func (o *origins) resultOf(fn *ssa.Function, c *ssa.Call) string {
	for n, p := range fn.Params {
		if holdsSlice(p.Type()) && o.summaryOf(p).returns {
			if why := o.of(c.Call.Args[n]); why != "" {
				return why
			}
		}
	}
	if why, known := o.results[fn]; known {
		return why
	}
	o.results[fn] = "" // until the opposite is found
	kept := false
	inner := &origins{finder: o.finder, back: func(*ssa.UnOp) bool { return false }, made: func(v ssa.Value) {
		w := o.newWalk(v, nil)
		kept = kept || w.why != "" || len(w.stores) > 0
	}}
	for _, p := range fn.Params {
		inner.seen = append(inner.seen, p) // which is looked at above
	}
	for _, b := range fn.Blocks {
		r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		for _, v := range r.Results {
			if holdsSlice(v.Type()) && (inner.of(v) != "" || kept) {
				o.results[fn] = fromElsewhere
				o.again = true
				return fromElsewhere
			}
		}
	}
	return ""
}

// isMove reports whether a struct is assigned that a literal has just made, and that is nowhere else: what its fields hold is looked at
// where they are set. In one block, what is made once is assigned once.
//
//	var x = T{s: make([]int, 8)}
func isMove(store *ssa.Store) bool {
	load, ok := store.Val.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return false
	}
	literal, ok := load.X.(*ssa.Alloc)
	return ok && literal.Block() == store.Block() && len(usesOf(load)) == 1 && isOnlyFilled(literal, load)
}

// isOnlyFilled reports whether what is at an address is set, part by part, and then loaded by one instruction as a whole.
func isOnlyFilled(address ssa.Value, load ssa.Instruction) bool {
	return !slices.ContainsFunc(usesOf(address), func(i ssa.Instruction) bool {
		switch i := i.(type) {
		case *ssa.Store:
			return i.Addr != address
		case *ssa.FieldAddr:
			return !isOnlyFilled(i, load)
		case *ssa.IndexAddr:
			return !isOnlyFilled(i, load)
		}
		return i != load
	})
}

// usesOf returns the instructions that use a value.
func usesOf(v ssa.Value) []ssa.Instruction {
	return slices.DeleteFunc(slices.Clone(*v.Referrers()), func(i ssa.Instruction) bool {
		_, forDebuggers := i.(*ssa.DebugRef)
		return forDebuggers
	})
}
