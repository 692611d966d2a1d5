package plan

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/outline"
)

// openCode is the code that uses a variable outside the sections that are followed. If a section
// runs such code, by whatever call, that code uses the variable as it is.
//
//	x.mu.Lock()
//	a := x.n              the section's copy
//	defer func() {
//		b := x.n      open code
//	}()
type openCode struct{ facts.Code }

// openCodeOf returns the open code of what a lock guards.
func (p *planner) openCodeOf(k, lock facts.Key) *openCode {
	if c := p.open[k]; c != nil {
		return c
	}
	c := &openCode{facts.Code{Functions: make(map[facts.FuncKey]bool), Literals: make(map[*ast.BlockStmt]bool)}}
	p.open[k] = c
	for _, u := range p.units {
		for _, n := range u.facts.Uses(u.pkg, k) {
			if _, sets := n.(*ast.KeyValueExpr); !sets && !u.inSection(n, lock) {
				u.addOpen(c, n)
			}
		}
	}
	return c
}

// inSection reports whether a node is in a section of a lock that is followed.
func (u *unit) inSection(n ast.Node, lock facts.Key) bool {
	return slices.ContainsFunc(u.all, func(b *body) bool {
		return contains(b.block, n) && slices.ContainsFunc(b.outlines, func(o *outline.Outline) bool {
			return u.facts.KeyOf(o.Lock.Last()) == lock && slices.ContainsFunc(o.Inside, func(s *outline.Step) bool { return s.Evaluates(n) })
		})
	})
}

// addOpen adds the function or function literal that a node is in.
func (u *unit) addOpen(c *openCode, n ast.Node) {
	var function *types.Func
	var literal *ast.FuncLit
	for _, f := range u.files {
		if !contains(f.Syntax, n) {
			continue
		}
		ast.Inspect(f.Syntax, func(m ast.Node) bool {
			switch m := m.(type) {
			case *ast.FuncDecl:
				if contains(m, n) {
					function, _ = u.info.Defs[m.Name].(*types.Func)
				}
			case *ast.FuncLit:
				if contains(m, n) {
					literal = m
				}
			}
			return m != nil && contains(m, n)
		})
	}
	switch {
	case literal != nil:
		c.Literals[literal.Body] = true
	case function != nil:
		c.Functions[facts.FuncKeyOf(function)] = true
	}
}

// runsOpen returns how a step runs open code of a variable, "" if it does not.
func (r *round) runsOpen(s *StepPlan, c *openCode) string {
	if c.within(r.facts.Runs(s.Does)) {
		does := s.WhyOpaque()
		switch {
		case does != "":
		case len(s.Does.Calls) > 0:
			does = s.Does.Calls[0].String()
		default:
			does = "runs a function literal"
		}
		return "the section runs other code that uses it: the statement " + does
	}
	how := ""
	for _, n := range s.Nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			if l, ok := n.(*ast.FuncLit); ok && how == "" && (c.Literals[l.Body] || c.within(r.facts.Runs(r.facts.Body(l.Body)))) {
				how = "a function literal uses it"
			}
			return how == ""
		})
	}
	return how
}

// within reports whether any of the code is among other code.
func (c *openCode) within(other facts.Code) bool {
	for k := range c.Functions {
		if other.Functions[k] {
			return true
		}
	}
	for l := range c.Literals {
		if other.Literals[l] {
			return true
		}
	}
	return false
}

// leaveOutOpen notes the guarded data that sections of a group reach only by open code.
func (r *round) leaveOutOpen(g *Group) {
	lock := r.facts.KeyOf(g.Lock.Last())
	for _, gd := range r.strong {
		if r.facts.KeyOf(gd.Lock.Object.(*types.Var)) == lock {
			for _, d := range gd.Data {
				r.leaveOutIfOpen(g, d, lock)
			}
		}
	}
}

func (r *round) leaveOutIfOpen(g *Group, d *guard.Datum, lock facts.Key) {
	name := r.names.OfDatum(d)
	known := slices.ContainsFunc(g.Vars, func(v *Variable) bool { return v.Datum == name }) ||
		slices.ContainsFunc(g.Slots, func(s *Slot) bool {
			return slices.ContainsFunc(s.Fields, func(v *Variable) bool { return v.Datum == name })
		}) ||
		slices.ContainsFunc(g.left, func(l leftOut) bool { return l.datum == name && l.why != usedOnce })
	if known {
		return
	}
	open := r.openCodeOf(r.facts.KeyOf(d.Object.(*types.Var)), lock)
	for _, s := range g.Steps {
		if why := r.runsOpen(s, open); why != "" {
			if r.Mode == Isolate { // what cannot be isolated at all is open for that reason
				why = cmp.Or(r.pages.why[r.facts.KeyOf(d.Object.(*types.Var))], why)
			}
			g.leaveOut(name, why)
			return
		}
	}
}
