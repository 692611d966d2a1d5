package plan

import (
	"go/ast"
	"slices"
)

// A section that ends by a panic must have published what it wrote before: a deferred call,
// or a caller, may recover, and go on with what it finds. A deferred release publishes, once it
// is deferred. Elsewhere a deferred call is added that does nothing but that.
//
//	x.mu.Lock()       x.mu.Lock(); on := true; v := x.n; b := v; defer func() { if on { Put(&x.n, v, b) } }()
//	x.n++             v++
//	x.m[k] = 1        x.m[k] = 1
//	x.mu.Unlock()     on = false; Put(&x.n, v, b); x.mu.Unlock()
//
// In a loop each round would add another. There the step that may panic is opaque, and finds
// all published.
//
// Sections before the one whose release is deferred have their copies in common with it, and
// nothing of its deferred call:
//
//	x.mu.Lock()
//	x.n++
//	x.m[k] = 1        a panic here runs no deferred call of this function
//	x.mu.Unlock()
//	x.mu.Lock()
//	defer x.mu.Unlock()
//
// A section that ends by a panic, or by the end of its goroutine, must not stay in a guard either: what recovers may release the lock,
// and tell other goroutines that they may go on. To leave a guard nothing of the data has to be known, so in a loop, or where
// calls are deferred between sections, one deferred call at the beginning of the function does it. Calls that the function
// defers itself would come before that one, so that another follows each of them.
//
//	func f() {             func f() { var on bool; var g *wicket.Guard; defer func() { if on { g.Unlock() } }()
//		defer wg.Done()        defer wg.Done(); defer func() { if on { g.Unlock() } }()
//		for {                  for {
//			x.mu.Lock()            x.mu.Lock(); g = &x.y; g.Lock(1, 0); on = true

// losesByPanic reports whether no deferred call can publish what the sections of a group
// have written: they may run several times in one call of the function, or other calls are
// deferred between them, which would have to find all published too.
func (g *Group) losesByPanic() bool { return g.InLoop || g.DefersBetween }

// whyLost says why no deferred call can publish.
func (g *Group) whyLost() string {
	if g.InLoop {
		return "the section is in a loop: a deferred call could not publish what it wrote"
	}
	return "other calls are deferred between the sections: they would not find what was written"
}

// guardPanics makes the steps opaque that may panic when something is written and not
// published, if no deferred call can publish it.
func (r *round) guardPanics(g *Group) {
	if !g.losesByPanic() || r.Mode == Detect {
		return
	}
	for _, p := range r.panicking(g) {
		p.Opaque = "may panic, and " + g.whyLost()
	}
}

// rescues reports whether a group needs a deferred call for panics.
func (r *round) rescues(g *Group) bool {
	return r.Mode != Detect && (len(r.panicking(g)) > 0 || !g.losesByPanic() && r.staysByPanic(g))
}

// findStranded finds out whether the function has to defer calls for panics at other places than the sections of a group.
func (r *round) findStranded(g *Group) {
	g.Stranded = !g.Rescues && r.staysByPanic(g)
	if !g.Stranded {
		return
	}
	ast.Inspect(g.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			if n != g.Deferred {
				g.Defers = append(g.Defers, n)
			}
		}
		return true
	})
}

// staysByPanic reports whether a step of a group may panic while its section is in a guard that no deferred release leaves.
func (r *round) staysByPanic(g *Group) bool {
	return slices.ContainsFunc(g.Steps, func(s *StepPlan) bool {
		return s.Does.Panics && !s.ReleasesByPanic && slices.ContainsFunc(g.Vars, func(v *Variable) bool {
			return v.OnPages != nil && !v.Passive && (s.Opaque == "" || r.staysInGuard(v, s))
		})
	})
}

// panicking returns the steps of a group that may panic when copies have been written, and no
// deferred release publishes them.
func (r *round) panicking(g *Group) []*StepPlan {
	var list []*StepPlan
	for i, p := range g.Steps {
		if p.Opaque != "" || !p.Does.Panics || p.ReleasesByPanic {
			continue
		}
		for j, w := range g.Steps {
			if w.Opaque == "" && (j <= i || loopHasBoth(g, w, p)) && r.writesCopies(g, w) {
				list = append(list, p)
				break
			}
		}
	}
	return list
}

// loopHasBoth reports whether two steps are in one loop, so that each may follow the other.
func loopHasBoth(g *Group, a, b *StepPlan) bool {
	return slices.ContainsFunc(g.Steps, func(l *StepPlan) bool {
		return l.Loop && contains(l.Stmt, a.Stmt) && contains(l.Stmt, b.Stmt)
	})
}

// writesCopies reports whether a step may write to copies.
func (r *round) writesCopies(g *Group, s *StepPlan) bool {
	copied := &Group{Outline: g.Outline}
	for _, v := range g.Vars {
		if v.OnPages == nil {
			copied.Vars = append(copied.Vars, v)
		}
	}
	if r.writes(copied, s) {
		return true
	}
	for i, b := range g.Batches {
		if b.Variable.Written && s.BatchUses[i].Count() > 0 {
			return true
		}
	}
	for _, slot := range g.Slots {
		use := r.slotUse(g, slot, s)
		if use.Object != nil && slices.ContainsFunc(slot.Fields, func(v *Variable) bool { return v.Written }) {
			return true
		}
	}
	return false
}
