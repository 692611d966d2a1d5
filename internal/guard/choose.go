package guard

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// choose picks a lock for each variable.
func (a *analysis) choose() *Guards {
	g := &Guards{Fset: a.fset, byPosition: make(map[token.Pos]guarded), signs: a.signs}
	byLock := make(map[types.Object]*Guard)
	for _, v := range a.order {
		if v.atomic || len(v.sites) == 0 && a.signs.of[v.object] == nil {
			continue
		}
		d, lock := a.best(v)
		if d == nil {
			continue
		}
		x := byLock[lock]
		if x == nil {
			x = &Guard{Lock: Lock{Object: lock, Name: a.name(lock), Type: typeName(lock.Type()), At: a.fset.Position(lock.Pos())}}
			byLock[lock] = x
			g.List = append(g.List, x)
		}
		x.Data = append(x.Data, d)
		g.byPosition[v.object.Pos()] = guarded{x, d}
	}
	for _, x := range g.List {
		slices.SortFunc(x.Data, func(d, e *Datum) int { return comparePositions(d.At, e.At) })
	}
	slices.SortFunc(g.List, func(x, y *Guard) int { return comparePositions(x.Lock.At, y.Lock.At) })
	return g
}

func comparePositions(p, q token.Position) int {
	return cmp.Or(strings.Compare(p.Filename, q.Filename), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// best weighs the locks that a variable was seen with.
func (a *analysis) best(v *variable) (*Datum, types.Object) {
	written := false
	var candidates []*path
	add := func(p *path) {
		if p != nil && a.paths.last(p) != nil && !slices.Contains(candidates, p) {
			candidates = append(candidates, p)
		}
	}
	for _, s := range v.sites {
		written = written || s.kind == Write
		for _, o := range s.seen {
			for _, r := range o.held {
				if !r.may {
					add(r.lock)
				}
			}
		}
	}
	for _, l := range a.signs.locksNear(v.object) {
		if f := l.(*types.Var); f.IsField() {
			add(a.paths.extend(a.paths.here, step{field: f}))
		}
	}
	var best *Datum
	var lock types.Object
	for _, c := range candidates {
		d := a.weigh(v, c, written)
		if d == nil {
			continue
		}
		if best == nil || d.Confidence > best.Confidence+1e-9 {
			best, lock = d, a.paths.last(c)
		}
	}
	return best, lock
}

// distance counts what separates a lock from the data: a step up, a step more
// than one down, being another variable.
func distance(p *path) int {
	n := p.ups
	if p.root != nil {
		n++
	}
	if p.depth-p.ups > 1 {
		n++
	}
	return n
}

// A verdict is what one observation says about a lock.
type verdict int

const (
	unknown verdict = iota
	without
	reading // held, for reading only
	with
)

func (a *analysis) verdict(o observation, lock *path) verdict {
	for _, r := range o.held {
		if r.lock == lock {
			switch {
			case r.may:
				return unknown
			case r.write:
				return with
			default:
				return reading
			}
		}
	}
	for _, r := range o.held {
		// The same lock of another object. Of the owner of this one, or if the way
		// is not straight, it may be this one by another name.
		if a.paths.last(r.lock) == a.paths.last(lock) && (lock.depth != 1 || r.lock.ups > 0 && r.lock.depth == r.lock.ups+1) {
			return unknown
		}
	}
	// For the lock of an owner, that of an owner that this object was not reached
	// from may be the right one too.
	if lock.depth != 1 && slices.Contains(o.apart, a.paths.last(lock)) {
		return unknown
	}
	if o.any || slices.Contains(o.unknown, a.paths.last(lock)) || o.outside && a.beyond(o.base, lock) {
		return unknown
	}
	return without
}

// beyond reports whether a lock belongs to an object that the function cannot reach:
// only its callers know whether they hold it.
func (a *analysis) beyond(base, lock *path) bool {
	if lock.ups == 0 || base == nil {
		return false
	}
	p := a.paths.apply(base, lock)
	return p == nil || p.ups > 0
}

// excludes reports whether two observations cannot happen at once: they hold a
// common lock, at least one of them exclusively.
func (o observation) excludes(p observation) bool {
	for _, r := range o.held {
		for _, s := range p.held {
			if r.lock == s.lock && (r.write || s.write) {
				return true
			}
		}
	}
	return false
}

// weigh gathers what speaks for a lock. It returns nil if nothing does.
func (a *analysis) weigh(v *variable, lock *path, written bool) *Datum {
	e := Evidence{Early: v.early, Signs: a.signs.between(v.object, a.paths.last(lock), lock)}
	annotated := slices.Contains(e.Signs, Annotated)
	stated := slices.ContainsFunc(e.Signs, func(s Sign) bool { return said[s] })
	if !written && !stated {
		return nil
	}
	d := &Datum{Object: v.object, Name: a.name(v.object), At: a.fset.Position(v.object.Pos()), Way: wayName(lock), sibling: lock.ups == 0 && siblingRoot(lock)}
	helper := false
	for _, s := range v.sites {
		held, bad := false, []observation(nil)
		for _, o := range s.seen {
			switch a.verdict(o, lock) {
			case with:
				held = true
			case reading:
				if o.kind == Write {
					bad = append(bad, o)
				} else {
					held = true
				}
			case without:
				bad = append(bad, o)
			case unknown:
			}
		}
		if held && lockedName(outermost(s.fn).Name()) {
			helper = true
		}
		bad = slices.DeleteFunc(bad, func(o observation) bool { return !annotated && (!written || !a.conflicts(v, o)) })
		switch {
		case held && len(bad) == 0:
			if s.kind == Write {
				e.WritesWith++
			} else {
				e.ReadsWith++
			}
		case len(bad) > 0:
			dev := a.deviation(s, bad, lock, held)
			if dev.Kind == Write {
				e.WritesWithout++
			} else {
				e.ReadsWithout++
			}
			d.Deviations = append(d.Deviations, dev)
		case !held:
			e.Unknown++
		}
	}
	if helper {
		e.Signs = append(e.Signs, Helper)
	}
	// A lock that does not stand with the data is often held by chance.
	least := 1
	if lock.ups > 0 && len(e.Signs) == 0 {
		least = 2
	}
	if e.ReadsWith+e.WritesWith < least && !stated {
		return nil
	}
	slices.SortFunc(d.Deviations, func(x, y Deviation) int { return comparePositions(x.At, y.At) })
	e.Distance = distance(lock)
	d.Evidence = e
	d.Confidence = e.Confidence()
	return d
}

// siblingRoot reports whether a way starts at the data's own object or at a
// package-level variable, so that an annotation can name it.
func siblingRoot(p *path) bool {
	if p.root == nil {
		return true
	}
	_, ok := p.root.(*ssa.Global)
	return ok
}

// conflicts reports whether an observation can happen together with another one of
// the same variable, one of them a write. Two locks that are both held for every
// write make each of them enough for a read.
func (a *analysis) conflicts(v *variable, o observation) bool {
	for _, s := range v.sites {
		for _, p := range s.seen {
			if (o.kind == Write || p.kind == Write) && !o.excludes(p) {
				return true
			}
		}
	}
	return false
}

func (a *analysis) deviation(s *site, bad []observation, lock *path, held bool) Deviation {
	d := Deviation{At: s.at, Func: functionName(outermost(s.fn))}
	worst := bad[0]
	for _, o := range bad {
		d.Kind = max(d.Kind, o.kind)
		if o.kind > worst.kind {
			worst = o
		}
	}
	switch {
	case a.verdict(worst, lock) == reading:
		d.Why = "held for reading only"
	case held && a.sameNode(s, worst, lock):
		d.Why = "not held on every way"
	case held:
		d.Why = "not held by every caller"
		for n := worst.from; n.from != nil && len(d.From) < 4; n = n.from {
			d.From = append(d.From, Call{functionName(outermost(n.from.fn)), a.fset.Position(n.call.Pos())})
		}
	}
	return d
}

// sameNode reports whether the lock is held in the very context in which it is not.
func (a *analysis) sameNode(s *site, bad observation, lock *path) bool {
	return slices.ContainsFunc(s.seen, func(o observation) bool { return o.from == bad.from && a.verdict(o, lock) >= reading })
}

func outermost(fn *ssa.Function) *ssa.Function {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	if o := fn.Origin(); o != nil {
		return o
	}
	return fn
}

// functionName names a function as a reader of its package would.
func functionName(fn *ssa.Function) string {
	if fn.Pkg != nil {
		return fn.RelString(fn.Pkg.Pkg)
	}
	return fn.Name()
}

// name names a field with its type, a variable with its package.
func (a *analysis) name(o types.Object) string {
	if d := a.signs.of[o]; d != nil {
		return d.owner + "." + o.Name()
	}
	return o.Name()
}

// wayName writes a way as it would be written after the data's object and a dot.
func wayName(p *path) string {
	s := p.String()
	if g, ok := p.root.(*ssa.Global); ok && p.parent == nil {
		return g.Name()
	}
	return s
}
