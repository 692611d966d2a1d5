package plan

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/nodes"
	"github.com/cofferdam-go/cofferdam/internal/protect/use"
)

// isNode reports whether data is a field of objects that have not the lock themselves, by what leads from an object
// to the lock.
func isNode(at, lockAt facts.Declaration, lock *types.Var, way string) bool {
	return at.Type != nil && (!at.Beside(lockAt) || way != lock.Name())
}

// unfitForStamp returns why a field of a node cannot have its uses in sections leave a stamp, "" if it can.
func (p *planner) unfitForStamp(lock *types.Var, lockAt facts.Declaration) string {
	switch {
	case p.Mode != Isolate:
		return "its lock belongs to another object"
	case locks.IsRWMutex(lock.Type()) && lockAt.Type != nil && p.facts.PinnedType(lockAt.Owner()) != "":
		return "its lock belongs to another object, to which nothing can be added: " + p.facts.PinnedType(lockAt.Owner())
	}
	return ""
}

// isNode reports whether the variable stands for a field of nodes.
func (v *Variable) isNode() bool { return v.OnPages != nil && v.OnPages.Node }

// nodesOf returns the variable that stands for a field of all nodes: no expression names them.
func (r *round) nodesOf(d *PageDatum) facts.Place {
	return facts.Place{Root: types.NewVar(token.NoPos, r.pkg.Types, d.Field, d.Type)}
}

// conflictOfNodes is conflictOnPages for fields of nodes. Sections that write, or may, have a ticket of their own; those that share
// their lock share a ticket, too, and code that they call does not know it.
func (r *round) conflictOfNodes(g *Group, v *Variable) string {
	v.Written = !g.Reading
	if v.Written {
		return ""
	}
	for _, s := range g.Steps {
		switch {
		case s.Opaque != "" || r.obscured(g, s) != "":
		case s.Does.WritesKey(v.OnPages.Key):
			return "it is written in a section that may only read"
		case slices.ContainsFunc(s.Does.Calls, func(c facts.Call) bool { return r.facts.EffectOf(c.Func).NamesKey(v.OnPages.Key) }):
			return "a section that may only read calls a function that uses it"
		case r.literalsName(s, v.OnPages.Key):
			return "a section that may only read has a function literal that uses it"
		}
	}
	return ""
}

// literalsName reports whether a function literal that a step has run names a field.
func (r *round) literalsName(s *StepPlan, k facts.Key) bool {
	for body := range r.facts.Runs(s.Does).Literals {
		if r.facts.Body(body).NamesKey(k) {
			return true
		}
	}
	return false
}

// passesOn returns why nodes are open for an opaque step: another goroutine may have them from then on, rightly, or the step runs code
// that uses nodes, which are not stamped then.
func (r *round) passesOn(v *Variable, s *StepPlan) string {
	for _, n := range s.Nodes {
		if how := use.PassesOn(r.info, n, r.ownerOf(v.OnPages)); how != "" {
			return how
		}
	}
	return r.runsOpen(s, r.openCodeOf(v.OnPages.Key, v.OnPages.lock))
}

// nodesIn returns the uses of nodes in a step, which leave the stamp of the group's section.
func (r *round) nodesIn(g *Group, number int, s *StepPlan) []Site {
	var list []Site
	for i, v := range g.Vars {
		if !v.isNode() || v.Passive {
			continue
		}
		for _, n := range r.facts.Uses(r.pkg, v.OnPages.Key) {
			if s.Evaluates(n) {
				list = append(list, Site{Node: n, Datum: v.OnPages, Group: number, Var: i})
			}
		}
	}
	return list
}

// leadsToNodes reports whether a variable of a type is a pointer to objects of which all fields have stamps: then it is
// protected with all that it leads to.
func (r *round) leadsToNodes(t types.Type) bool {
	fields := nodes.FieldsBehind(t)
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(f *types.Var) bool { d := r.pages.of(f); return d == nil || !d.Node })
}

// findWrites finds out which uses of nodes in sections store to them.
func (r *round) findWrites(f *File) {
	sites := make(map[ast.Node]*Site)
	for i := range f.Sites {
		if s := &f.Sites[i]; s.IsStamped() {
			sites[s.Node] = s
		}
	}
	if len(sites) == 0 {
		return
	}
	ast.PreorderStack(f.Syntax, nil, func(n ast.Node, around []ast.Node) bool {
		if s := sites[n]; s != nil {
			s.Writes, s.comesEarlier = use.Writes(r.info, n, around), use.ComesEarlier(r.info, n, around)
		}
		return true
	})
}

// IsStamped reports whether a use is one of a node in a section.
func (s Site) IsStamped() bool {
	_, sets := s.Node.(*ast.KeyValueExpr)
	return s.Datum.Node && s.Group > 0 && !sets && !s.Unread
}

// numberLock numbers the lock of a node's field, and finds out whether sections may share it.
func (all *pageData) numberLock(d *PageDatum, lock *types.Var) {
	d.lock = all.facts.KeyOf(lock)
	d.LockNumber, d.LockShared = d.Number, locks.IsRWMutex(lock.Type())
	for _, other := range all.byLock[d.lock] {
		if other.Node {
			d.LockNumber = other.LockNumber
			break
		}
	}
}
