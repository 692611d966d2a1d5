package plan

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/protect/called"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/outline"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A PageDatum is a variable or field that lives on pages.
type PageDatum struct {
	Number int // tells them apart
	Key    facts.Key
	Datum  string         // how the guard calls it
	Lock   string         // how the guard calls its lock
	LockAt token.Position // where that is declared
	Home   string         // the path of the package that declares it
	InTest bool           // it is declared in a test file
	Owner  string         // the type that has it as a field; "" for a variable and a field of one
	Root   string         // the variable, or the one that has it as a field
	Field  string         // the field; "" for a variable
	Type   types.Type
	Value  string // the constant that a variable begins with; "" for zero
	// Cell says that it is a pointer, which is loaded and stored by calls.
	Cell bool
	// Node says that it is a field of objects that have not the lock themselves. It stays where it is, with a stamp
	// beside it.
	Node bool
	// LockNumber tells the locks of nodes apart, and LockShared says that sections may share the lock. LockDeclared is
	// where it is declared.
	LockNumber   int
	LockShared   bool
	LockDeclared facts.Declaration
	// Wicket is the number of the guard, or of the stamp, in each object that it is behind, where it stays; 0: it is on pages.
	// Bit is its own among the fields of that guard.
	Wicket int
	Bit    uint
	// Entries says that it is a map, whose entries are isolated with it: no other name for the map exists, and
	// what is done with it outside of sections is done by calls that have one entry.
	Entries bool
	// Elements says that it is a slice, whose elements are isolated with it, for the same reasons.
	Elements bool
	// Open is why only the header of a map or slice is isolated.
	Open string
	// Declared is where it is declared in the variant of the package that has new texts.
	Declared facts.Declaration

	lock facts.Key
}

// pageData is what is on pages of a program.
type pageData struct {
	facts  *facts.Facts
	names  *called.Names
	list   []*PageDatum
	byLock map[facts.Key][]*PageDatum
	byKey  map[facts.Key]*PageDatum
	why    map[facts.Key]string // guarded data that is not on pages, with the reason
}

func newPageData(f *facts.Facts, n *called.Names) *pageData {
	return &pageData{facts: f, names: n, byLock: make(map[facts.Key][]*PageDatum), byKey: make(map[facts.Key]*PageDatum), why: make(map[facts.Key]string)}
}

// of returns what a variable or field is on pages, or nil.
func (all *pageData) of(v *types.Var) *PageDatum { return all.byKey[all.facts.KeyOf(v)] }

// has reports whether a place is on pages.
func (all *pageData) has(p facts.Place) bool {
	return slices.ContainsFunc(p.Chain(), func(v *types.Var) bool { return all.of(v) != nil })
}

// byWayOfCell reports whether a cell leads to a place, which is in another object then.
func (all *pageData) byWayOfCell(p facts.Place) bool {
	d := all.of(p.Root)
	return d != nil && d.Cell && len(p.Fields) > 0
}

// whyNot returns why a place is not on pages.
func (all *pageData) whyNot(p facts.Place) string {
	for _, v := range p.Chain() {
		if why := all.why[all.facts.KeyOf(v)]; why != "" {
			return why
		}
	}
	return "it is part of something that is not guarded as a whole"
}

// without leaves out data, with the reasons.
func (all *pageData) without(reasons map[*PageDatum]string) *pageData {
	kept := newPageData(all.facts, all.names)
	kept.why = all.why
	out := func(d *PageDatum) bool { return reasons[d] != "" }
	for lock, list := range all.byLock {
		kept.byLock[lock] = slices.DeleteFunc(slices.Clone(list), out)
	}
	for _, d := range all.list {
		if out(d) {
			kept.why[d.Key] = reasons[d]
			continue
		}
		kept.list = append(kept.list, d)
		kept.byKey[d.Key] = d
	}
	return kept
}

// candidates returns the guarded data that can live on pages.
func (p *planner) candidates(guards []*guard.Guard) *pageData {
	all := newPageData(p.facts, p.names)
	if p.Mode != Isolate && p.Mode != Auto || p.Unprotected != "" {
		return all
	}
	for _, g := range guards {
		for _, d := range g.Data {
			v := d.Object.(*types.Var)
			if why := p.unfitForPages(g, d); why != "" {
				all.why[p.facts.KeyOf(v)] = why
				continue
			}
			at, _ := p.facts.Declaration(v)
			all.add(g, d, p.unfitForWicket(v, at) == "")
		}
	}
	for _, u := range p.units {
		for _, d := range all.list {
			if d.Home == u.pkg.PkgPath {
				d.Declared, _ = p.facts.DeclarationIn(u.pkg, d.Key)
				d.LockDeclared, _ = p.facts.DeclarationIn(u.pkg, d.lock)
			}
		}
	}
	return all
}

func (all *pageData) add(g *guard.Guard, d *guard.Datum, behindWicket bool) {
	v := d.Object.(*types.Var)
	at, _ := all.facts.Declaration(v)
	i := &PageDatum{
		Number: len(all.list) + 1, Key: all.facts.KeyOf(v), Datum: all.names.OfDatum(d), Lock: all.names.OfLock(g), LockAt: g.Lock.At,
		Home: at.Package.PkgPath, InTest: at.InTest(), Root: at.Root, Type: v.Type(), Value: at.Constant(),
	}
	lockAt, _ := all.facts.Declaration(g.Lock.Object.(*types.Var))
	i.Node = isNode(at, lockAt, g.Lock.Object.(*types.Var), d.Way)
	i.Cell = facts.IsPointerWord(v.Type()) && !i.Node
	if at.Type != nil {
		i.Owner = at.Type.Name
	}
	if at.Struct != nil {
		i.Field = v.Name()
	}
	lock := all.facts.KeyOf(g.Lock.Object.(*types.Var))
	i.lock = lock
	if behindWicket {
		all.putBehindWicket(i, lock)
		if !i.Node {
			if i.Entries, i.Open = hasOwnEntries(all.facts, v); !facts.IsMap(v.Type()) {
				i.Elements, i.Open = hasOwnElements(all.facts, v)
			}
		}
	}
	if i.Node {
		all.numberLock(i, g.Lock.Object.(*types.Var))
	}
	all.list = append(all.list, i)
	all.byLock[lock] = append(all.byLock[lock], i)
	all.byKey[i.Key] = i
}

// unfitForPages returns why guarded data cannot live on pages, "" if it can.
func (p *planner) unfitForPages(g *guard.Guard, d *guard.Datum) string {
	v, lock := d.Object.(*types.Var), g.Lock.Object.(*types.Var)
	at, ok := p.facts.Declaration(v)
	lockAt, known := p.facts.Declaration(lock)
	switch {
	case p.datumLeftOut(g, d) != "":
		return p.datumLeftOut(g, d)
	case facts.IsPointer(lock.Type()):
		return "its lock is behind a pointer, and may be that of other objects"
	case types.IsInterface(lock.Type()):
		return "its lock is an interface"
	case !locks.IsMutex(lock.Type()):
		return "its lock is not of package sync"
	case !known || !ok:
		return "it or its lock is declared inside a function or another struct"
	case at.Package.PkgPath != lockAt.Package.PkgPath || at.InTest() != lockAt.InTest():
		return "it is declared elsewhere than its lock"
	case isNode(at, lockAt, lock, d.Way):
		if why := p.unfitForStamp(lock, lockAt); why != "" {
			return why
		}
	case !at.Beside(lockAt):
		return "its lock belongs to another object"
	}
	notBehind := p.unfitForWicket(v, at)
	switch {
	case notBehind != "" && facts.IsPointerWord(v.Type()) && p.unfitForCell(v) != "":
		return p.unfitForCell(v)
	case facts.HeapReference(v.Type()) != "" && !facts.IsPointerWord(v.Type()) && notBehind != "":
		return "it holds " + facts.HeapReference(v.Type()) + ", and " + notBehind
	case facts.Uncopyable(v.Type()) != "":
		return "it is or has " + facts.Uncopyable(v.Type())
	case notBehind != "" && p.facts.Immovable(v) != "":
		return p.facts.Immovable(v)
	case notBehind != "" && tooLarge(at, v):
		return "it is too large"
	case at.Fixed != "":
		return at.Fixed
	case at.Type != nil && p.facts.PinnedType(at.Owner()) != "":
		return p.facts.PinnedType(at.Owner()) // which may take its address, and be seen sooner
	case p.facts.Exposure(v) != facts.Hidden:
		return "its address is taken"
	case p.facts.ExposedWithin(v.Type()):
		return "the address of a part of it may be taken"
	case p.facts.Pinned(v) != "":
		return p.facts.Pinned(v)
	case at.Type == nil && at.Struct != nil && p.facts.Exposure(at.RootVar()) != facts.Hidden:
		return "the address of its struct is taken"
	case p.Mode != Isolate:
		return p.costsMore(v, notBehind == "")
	}
	return ""
}

// costsMore returns why Auto does not isolate what could be isolated, "" if it does: a copy of a pointer costs less than
// to isolate it, and of a map or slice with its content less than to isolate the header.
func (p *planner) costsMore(v *types.Var, behindWicket bool) string {
	held := facts.HeapReference(v.Type())
	if held == "" || behindWicket && p.ownsContent(v) {
		return ""
	}
	if behindWicket {
		if _, why := hasOwnEntries(p.facts, v); why != "" {
			return why
		}
		if _, why := hasOwnElements(p.facts, v); why != "" {
			return why
		}
	}
	return "it holds " + held + ", which auto leaves where it is; -protect=isolate may isolate it"
}

// unfitForCell returns why a pointer cannot live on pages, where others can.
func (p *planner) unfitForCell(v *types.Var) string {
	switch {
	case source.HasTypeParam(v.Type()):
		return "its type depends on a type parameter"
	case p.leadsToLock(v):
		return "a lock is reached by way of it"
	}
	return p.facts.PinnedWord(v)
}

// leadsToLock reports whether sections name their lock by way of a variable. They name by way of it
// all that belongs to the object with the lock.
func (p *planner) leadsToLock(v *types.Var) bool {
	k := p.facts.KeyOf(v)
	return slices.ContainsFunc(p.units, func(u *unit) bool {
		return slices.ContainsFunc(u.all, func(b *body) bool {
			return slices.ContainsFunc(b.outlines, func(o *outline.Outline) bool { return p.facts.KeyOf(o.Lock.Root) == k })
		})
	})
}

// The largest data that is put on pages, in bytes. Memory of pages is taken when they
// are made, not when it is used.
const (
	largestVariable = 64 << 10
	largestField    = 4 << 10 // there may be many
)

func tooLarge(d facts.Declaration, v *types.Var) bool {
	size := d.Package.TypesSizes.Sizeof(v.Type())
	return size > largestVariable || d.Type != nil && size > largestField
}

// variablesOnPages returns what a group's lock guards on pages, in terms of the group.
func (r *round) variablesOnPages(g *Group) []*Variable {
	var all []*Variable
	for _, d := range r.pages.byLock[r.facts.KeyOf(g.Lock.Last())] {
		if d.Home != r.pkg.PkgPath {
			continue
		}
		v := &Variable{Datum: d.Datum, OnPages: d, Footprint: facts.Footprint{Keys: []facts.Key{d.Key}, Types: []string{facts.TypeName(d.Type)}}}
		switch {
		case d.Node:
			v.Place = r.nodesOf(d)
		case d.Owner == "":
			v.Root = r.pkg.Types.Scope().Lookup(d.Root).(*types.Var)
			if d.Field != "" {
				v.Fields = []*types.Var{fieldOf(v.Root.Type(), d.Field)}
			}
		default:
			v.Place = g.Lock.Parent()
			v.Fields = append(v.Fields, fieldOf(facts.Deref(v.Last().Type()), d.Field))
		}
		all = append(all, v)
	}
	return all
}

// fieldOf returns a field of a struct, as it is declared.
func fieldOf(t types.Type, name string) *types.Var {
	for f := range t.Underlying().(*types.Struct).Fields() {
		if f.Name() == name {
			return f.Origin()
		}
	}
	return nil
}

// conflictOnPages returns why a group cannot use a variable that is on pages from there,
// and finds out whether it writes it.
func (r *round) conflictOnPages(g *Group, v *Variable) string {
	if v.OnPages.Node {
		return r.conflictOfNodes(g, v)
	}
	v.Written = false
	for _, s := range g.Steps {
		opaque := s.Opaque != "" || r.obscured(g, s) != ""
		writes := s.Does.WritesKey(v.OnPages.Key) || v.OnPages.isWithContent() && s.Does.ChangesEntries(v.OnPages.Key)
		if !writes && !(opaque && r.hasLiteral(s, v)) {
			continue
		}
		switch {
		case !opaque && g.Reading:
			return "it is written in a section that may only read"
		case !opaque, !g.Reading && !s.waits():
			v.Written = true
		}
	}
	return ""
}

// staysInGuard reports whether a section stays in the guard of a variable on pages for an
// opaque step: it has entered the guard for writing, and the step is not known to wait.
func (r *round) staysInGuard(v *Variable, s *StepPlan) bool {
	return v.OnPages != nil && v.Written && !s.waits() && !(v.isNode() && r.passesOn(v, s) != "")
}

// waits reports whether a step is known to wait for other goroutines, or to let them go on.
func (s *StepPlan) waits() bool { return s.Step.Waits != "" || s.Does.Waits }

// noteSlow notes the variables on pages that a section uses through the shared view.
func (r *round) noteSlow(g *Group) {
	for _, v := range g.Vars {
		if v.OnPages == nil {
			continue
		}
		for _, s := range g.Steps {
			if s.Opaque != "" && r.staysInGuard(v, s) {
				continue // the code finds the own view
			}
			slow := s.Opaque != "" && slices.ContainsFunc(s.Does.Calls, func(c facts.Call) bool { return r.facts.EffectOf(c.Func).Names(v.Footprint) })
			if slow || r.hasLiteral(s, v) {
				r.addSlow(v.OnPages, s.Stmt.Pos())
			}
		}
	}
}

// hasLiteral reports whether a step has a function literal that uses a variable on pages.
func (r *round) hasLiteral(s *StepPlan, v *Variable) bool {
	return slices.ContainsFunc(s.Nodes, func(n ast.Node) bool { return r.literalTouches(n, v.OnPages.Key) })
}

// literalTouches reports whether a function literal in a node uses a variable or field.
func (r *round) literalTouches(n ast.Node, k facts.Key) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if l, ok := n.(*ast.FuncLit); ok && !found {
			found = r.facts.Touches(l.Body, k)
		}
		return !found
	})
	return found
}

// noteSlowBody does that for a body that is left alone.
func (r *round) noteSlowBody(b *body, lock *types.Var) {
	for _, d := range r.pages.byLock[r.facts.KeyOf(lock)] {
		if r.facts.Touches(b.block, d.Key) {
			r.addSlow(d, b.block.Pos())
		}
	}
}

func (r *round) addSlow(d *PageDatum, at token.Pos) {
	r.all.slowUses = append(r.all.slowUses, slowUse{d, r.facts.Fset.PositionFor(at, false)})
}

// slow returns the data that would make a correct program slow on pages, with the first
// section that does.
func (d *decision) slow() map[*PageDatum]string {
	all := make(map[*PageDatum]string)
	for _, use := range d.slowUses {
		if all[use.datum] == "" {
			all[use.datum] = "a section would have to open it each time (" + short(use.at) + ")"
		}
	}
	return all
}
