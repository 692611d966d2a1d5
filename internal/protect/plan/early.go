package plan

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/copying"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/use"
)

// An EarlyLoad is a load of a variable by a step that the section is interrupted for, which comes before all that the step runs.
// It needs not find the variable as it is: the section has it to itself up to then.
//
//	log.Print(x.n)      v is the copy:    Put(&x.n, v, b); log.Print(v); v = x.n; b = v
//	log.Print(x.n)      n is on a page:   e := *o; g.RUnlock(); log.Print(e); g.RLock()
type EarlyLoad struct {
	Redirect
	// Number tells those of a group apart that are loaded ahead of the step.
	Number int
}

// earlyLoads returns the accesses of an opaque step to a variable, if all that the step has to do with the variable is to load it
// first.
func (r *round) earlyLoads(g *Group, v *Variable, s *StepPlan) []*facts.Access {
	if s.Opaque == "" || s.Loop || s.Begin() != s.Stmt.Pos() || r.Mode == Detect || v.isCell() || v.isNode() || g.letsOthersGoOn() || r.hasLiteralOf(s, v) {
		return nil
	}
	if slices.ContainsFunc(s.Does.Calls, func(c facts.Call) bool { return r.facts.EffectOf(c.Func).Names(v.Footprint) }) {
		return nil
	}
	var list []*facts.Access
	for _, a := range s.Does.Accesses {
		switch {
		case !a.Place.Within(v.Place):
		case r.isEarly(v, s, a):
			list = append(list, a)
		default:
			return nil
		}
	}
	return list
}

// letsOthersGoOn reports whether the sections of a group are known to let another goroutine go on, or to wait for one. Between two such
// steps a correct program may have the other goroutine use the data, so copies are not taken for less than they were.
func (g *Group) letsOthersGoOn() bool { return slices.ContainsFunc(g.Steps, (*StepPlan).waits) }

func (r *round) isEarly(v *Variable, s *StepPlan, a *facts.Access) bool {
	t := r.info.TypeOf(a.Node)
	switch {
	case a.Assigned, a.Defined, a.Entries, !use.ComesFirst(r.info, s.Stmt, a.Node):
		return false
	case leadsElsewhere(t) && !use.OnlyItself(r.info, s.Stmt, a.Node):
		return false
	case copying.Unfit(t, r.sizes) != "":
		return false
	}
	return !slices.ContainsFunc(s.Does.Touches, func(t *facts.Touch) bool {
		return (t.Taken || t.Write) && r.facts.Within(t, v.Place, []*facts.Access{a})
	})
}

// leadsElsewhere reports whether values of a type lead to memory that is not the section's alone when the variable is.
func leadsElsewhere(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Pointer:
		return true
	}
	return false
}

// hasLiteralOf reports whether a step has a function literal that uses a variable.
func (r *round) hasLiteralOf(s *StepPlan, v *Variable) bool {
	return slices.ContainsFunc(s.Nodes, func(n ast.Node) bool { return r.literalTouches(n, v.Footprint.Keys[0]) })
}

// usesOnlyEarly reports whether a step loads some of what the sections of a group have to themselves early, and uses none of it in
// another way.
func (r *round) usesOnlyEarly(g *Group, s *StepPlan) bool {
	any := false
	for _, v := range g.Vars {
		if early := r.earlyLoads(g, v, s); len(early) > 0 {
			any = true
			continue
		}
		if r.usesAny(&Group{Outline: g.Outline, Steps: g.Steps, Vars: []*Variable{v}}, s) {
			return false
		}
	}
	return any && !r.usesAny(&Group{Outline: g.Outline, Steps: g.Steps, Slots: g.Slots, Batches: g.Batches}, s)
}

// planEarly has an interrupting step use the copies for what it loads early, and load early what is on pages.
func (r *round) planEarly(g *Group, s *StepPlan) {
	for i, v := range g.Vars {
		if v.Passive || r.staysInGuard(v, s) {
			continue
		}
		for _, a := range r.earlyLoads(g, v, s) {
			s.NeedsCopies = true
			to := Redirect{a.Node, i, a.Place.Beyond(v.Place)}
			if v.OnPages == nil {
				s.Redirects = append(s.Redirects, to)
				continue
			}
			g.early++
			s.Early = append(s.Early, EarlyLoad{to, g.early})
		}
	}
}

// LoadsEarly reports whether a step loads what an expression is ahead of what it does otherwise.
func (s *StepPlan) LoadsEarly(x ast.Expr) bool {
	return slices.ContainsFunc(s.Early, func(e EarlyLoad) bool { return e.Node == x })
}
