package batch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// An EntryOf is a use of an entry of a map.
type EntryOf struct {
	Map ast.Expr
	Use *facts.EntryUse
}

// addEntries adds a batch for the entries of each map that has no other name.
func (s *Section) addEntries() {
	for _, step := range s.Steps {
		for _, a := range step.Does.Accesses {
			v := a.Last
			known := slices.ContainsFunc(s.Batches, func(b *Batch) bool { return b.ofMap && s.isSame(b.Holder, v) })
			if step.Opaque != "" || known || s.entryOf(a) == nil || !s.Guarded(v) || s.Whole(v) {
				continue
			}
			m := s.Info.TypeOf(a.Node).Underlying().(*types.Map)
			key, ok := s.Spell(m.Key())
			switch {
			case s.Facts.AliasedMap(v):
				s.Left = append(s.Left, Left{&Batch{Holder: v, ofMap: true}, "the map has another name"})
			case s.Facts.Exposure(v) != facts.Hidden:
				s.Left = append(s.Left, Left{&Batch{Holder: v, ofMap: true}, "a pointer leads to the map"})
			case !ok || hasInterface(m.Key()):
				s.Left = append(s.Left, Left{&Batch{Holder: v, ofMap: true}, "its keys are interfaces, or of a type that has no name there"})
			default:
				s.add(&Batch{Holder: v, Type: m.Elem(), Key: key, ofMap: true, footprint: s.Facts.FootprintIn(s.Function, v)})
			}
		}
	}
}

func (s *Section) isSame(v, w *types.Var) bool { return s.Facts.KeyOf(v) == s.Facts.KeyOf(w) }

// hasInterface reports whether values of a type have interfaces in them, or may have: whether those can be keys is
// only known when they are.
func hasInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Array:
		return hasInterface(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if hasInterface(f.Type()) {
				return true
			}
		}
	}
	return false
}

// entryOf returns what an access to a map does with one entry, nil if it does something else.
func (s *Section) entryOf(a *facts.Access) *facts.EntryUse {
	if use := s.Facts.EntryUseOf(a.Node); use != nil && use.Key != nil {
		return use
	}
	return nil
}

// useOfEntries is use for entries. All that reaches them names the map.
func (s *Section) useOfEntries(b *Batch, step *Step) Use {
	var use Use
	for _, a := range step.Does.Accesses {
		if !s.isSame(a.Last, b.Holder) {
			continue
		}
		entry := s.entryOf(a)
		switch {
		case entry == nil && s.isHeader(step.Stmt, a.Node):
		case entry == nil:
			return publishes("uses the map as a whole")
		case step.Loop:
			return publishes("uses it in the header of a loop")
		case s.isOvertaken(a.Node, entry, step):
			return publishes("calls a function")
		default:
			use.Entries = append(use.Entries, EntryOf{a.Node, entry})
		}
	}
	if len(use.Entries) > Room {
		return publishes("uses more of it than there is room for")
	}
	if why := s.calledReaching(b.footprint, step); why != "" {
		return publishes(why)
	}
	return use
}

// isOvertaken reports whether a step calls functions behind the use of an entry. What is assigned to an entry may call some, if
// they cannot change the key.
func (s *Section) isOvertaken(m ast.Expr, use *facts.EntryUse, step *Step) bool {
	for _, n := range step.Nodes {
		if _, results := step.Stmt.(*ast.ReturnStmt); !results && !contains(n, m) {
			continue
		}
		if use.Put != nil && s.isSteady(use.Key) {
			n = use.Put.Lhs[0]
		}
		if callsBehind(s.Info, m, n) {
			return true
		}
	}
	return false
}

// isSteady reports whether an expression is what it is whatever is called.
func (s *Section) isSteady(x ast.Expr) bool {
	if s.Info.Types[x].Value != nil {
		return true
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := s.Info.Uses[id].(*types.Var)
	return ok && !v.IsField() && !facts.IsGlobal(v) && s.Facts.Exposure(v) == facts.Hidden
}

// updateOf returns how the use of an entry makes the new value of the old one, if it changes the entry at all.
func (s *Section) updateOf(use *facts.EntryUse) (u facts.Update, changes bool) {
	adds := func(tok token.Token) facts.Update {
		basic, ok := s.Info.TypeOf(use.Index).Underlying().(*types.Basic)
		if ok && basic.Info()&types.IsNumeric != 0 && (tok == token.INC || tok == token.DEC || tok == token.ADD_ASSIGN || tok == token.SUB_ASSIGN) {
			return facts.Adds
		}
		return facts.Assigns
	}
	switch st := use.Update.(type) {
	case *ast.IncDecStmt:
		return adds(st.Tok), true
	case *ast.AssignStmt:
		return adds(st.Tok), true
	}
	return facts.Assigns, use.Put != nil || use.Call != nil
}
