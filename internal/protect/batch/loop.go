package batch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// repeated is how often a use counts that a loop comes to several times.
const repeated = 2

// times is how often a use in a step counts.
func (s *Step) times(x ast.Expr) int {
	if s.repeats(x) {
		return repeated
	}
	return 1
}

// repeats reports whether a loop of the section evaluates an expression of a step several times.
func (s *Step) repeats(x ast.Expr) bool { return len(s.loopsAround(x)) > 0 }

// loopsAround are the loops of the section that evaluate an expression of a step once in each round.
func (s *Step) loopsAround(x ast.Expr) []ast.Stmt {
	var list []ast.Stmt
	for _, loop := range s.Loops {
		if loop != s.Stmt || s.isInRounds(x) {
			list = append(list, loop)
		}
	}
	return list
}

// isInRounds reports whether the header of a loop has an expression elsewhere than where the loop begins.
//
//	for at := x.heads[i]; at != nil; at = at.next {
func (s *Step) isInRounds(x ast.Expr) bool {
	loop, ok := s.Stmt.(*ast.ForStmt)
	return !ok || loop.Init == nil || !contains(loop.Init, x)
}

// A passing is a batch that the section reads by a single expression, in a loop.
type passing struct {
	section *Section
	step    *Step
	place   ast.Expr // the expression, or the map whose entry it is
	varies  bool
}

func (p *passing) add(step *Step, use Use) {
	for _, x := range use.Places() {
		p.step, p.place = step, x
	}
	p.varies = p.varies || p.section.varies(step, use)
}

// PassedBy is why there are no copies of what a loop goes through from one to the next. A copy would be for a loop that comes back to
// what it has read before, and costs each round a look at all copies.
const PassedBy = "a loop goes from one to the next, and reads each where it is"

// why returns why there should be no batch: the loop reads another element in each round.
func (p *passing) why() string {
	switch {
	case !p.varies:
		return ""
	case p.isCounted():
		return UsedOnce
	}
	return PassedBy
}

// isCounted reports whether the elements are those of one slice, by an index that one loop counts.
//
//	for i := range x.list { sum += x.list[i].n }
func (p *passing) isCounted() bool {
	index := p.index()
	loops := p.step.loopsAround(p.place)
	if index == nil || len(loops) != 1 {
		return false
	}
	i, body := p.section.counter(loops[0])
	if i == nil || p.section.variable(index.Index) != i || p.section.Facts.Exposure(i) != facts.Hidden || p.section.assignedIn(body)[i] {
		return false
	}
	slice := p.section.variable(index.X)
	renamed := slices.ContainsFunc(p.section.Steps, func(s *Step) bool {
		return slices.Contains(s.Loops, loops[0]) && slices.ContainsFunc(s.Does.Calls, func(c facts.Call) bool {
			return slice == nil || p.section.Facts.EffectOf(c.Func).NamesKey(p.section.Facts.KeyOf(slice))
		})
	})
	return !renamed && !p.section.variesWith(index.X, p.section.assignedIn(loops[0]))
}

// index returns the index by which an expression is for an element of a slice, or for a part of one.
func (p *passing) index() *ast.IndexExpr {
	x := ast.Unparen(p.place)
	for {
		selector, ok := x.(*ast.SelectorExpr)
		if !ok {
			break
		}
		if sel := p.section.Info.Selections[selector]; sel == nil || sel.Indirect() {
			return nil
		}
		x = ast.Unparen(selector.X)
	}
	if index, ok := x.(*ast.IndexExpr); ok && facts.IsSlice(p.section.Info.TypeOf(index.X)) {
		return index
	}
	return nil
}

// counter returns the variable that a loop has to itself and counts by, nil if there is none.
func (s *Section) counter(loop ast.Stmt) (v *types.Var, body *ast.BlockStmt) {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		t := s.Info.TypeOf(l.X).Underlying()
		_, isNumberOrText := t.(*types.Basic)
		if l.Key != nil && l.Tok == token.DEFINE && (isNumberOrText || facts.IsSlice(t)) {
			return s.variable(l.Key), l.Body
		}
	case *ast.ForStmt:
		init, ok := l.Init.(*ast.AssignStmt)
		post, counts := l.Post.(*ast.IncDecStmt)
		if ok && counts && init.Tok == token.DEFINE && len(init.Lhs) == 1 && s.variable(init.Lhs[0]) == s.variable(post.X) {
			return s.variable(post.X), l.Body
		}
	}
	return nil, nil
}
