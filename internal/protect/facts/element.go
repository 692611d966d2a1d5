package facts

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/protect/alias"
	"github.com/cofferdam-go/cofferdam/internal/protect/library"
)

// findElements finds out which slices have elements that nothing else leads to.
func (f *Facts) findElements() {
	f.elementNames = make(map[Key][]ElementName)
	f.slices = alias.Find(&alias.Program{
		Functions: f.code.order,
		KeyOf:     func(v *types.Var) string { return string(f.KeyOf(v)) },
		IsStable: func(address ssa.Value) bool {
			v := f.code.variable(address)
			return v != nil && f.Stable(v)
		},
		IsQuiet: func(i ssa.CallInstruction) bool {
			fn := calleeOf(i.Common())
			return fn != nil && library.IsQuiet(fn)
		},
	})
}

// SharedElements returns why the elements of a variable or field that is a slice can be reached by another name, which
// nothing takes away again, with the place; "" if they cannot.
func (f *Facts) SharedElements(v *types.Var) (why string, at token.Position) {
	e, ok := f.slices.Escape(string(f.KeyOf(v)))
	if !ok {
		return "", token.Position{}
	}
	return e.Why, f.Fset.PositionFor(f.code.positionsFor(e.At)[0], false)
}

// An ElementName is a name that the elements of a slice have for a while.
type ElementName struct {
	// At is where the variable is loaded, or stored to.
	At token.Pos
	// Uses are where elements are used by it.
	Uses []token.Pos
}

// ElementNames returns all names for the elements of a slice, in all packages.
func (f *Facts) ElementNames(k Key) []ElementName {
	list, known := f.elementNames[k]
	if known {
		return list
	}
	defer func() { f.elementNames[k] = list }()
	for _, n := range f.slices.Names(string(k)) {
		name := ElementName{At: f.code.accessAt(n.At)}
		for _, i := range n.Uses {
			name.Uses = append(name.Uses, f.code.positionsFor(i)...)
		}
		list = append(list, name)
	}
	return list
}

// positionsFor returns where an instruction may come from.
func (c *code) positionsFor(i ssa.Instruction) []token.Pos {
	block := i.Block().Instrs
	return positionsOf(block, slices.Index(block, i))
}

// accessAt returns where the expression is that names the variable which an instruction loads or stores to.
func (c *code) accessAt(i ssa.Instruction) token.Pos {
	address := ssa.Value(nil)
	switch i := i.(type) {
	case *ssa.UnOp:
		address = i.X
		if g, ok := address.(*ssa.Global); ok { // of which a load has no position
			for _, r := range *i.Referrers() {
				if d, ok := r.(*ssa.DebugRef); ok {
					if id, ok := ast.Unparen(d.Expr).(*ast.Ident); ok && id.Name == g.Name() {
						return id.Pos()
					}
				}
			}
		}
	case *ssa.Store:
		address = i.Addr
	}
	if field, ok := address.(*ssa.FieldAddr); ok && field.Pos().IsValid() {
		return field.Pos()
	}
	return c.positionsFor(i)[0]
}

// LeadsThrough reports whether the address of a touch is computed, or the touch made, at a position of the source: that of the
// bracket, the selector or the star of an expression. An address that was computed in another statement is not.
func (t *Touch) LeadsThrough(at token.Pos) bool { return t.at == at || slices.Contains(t.way, at) }

// MayReach returns why a touch may be of memory of which only the footprint is known, "" if it is not.
func (f *Facts) MayReach(t *Touch, m Footprint) string {
	e := new(Effect)
	f.addTouch(e, t)
	if e.Names(m) {
		return "reaches " + m.Name + " in another way"
	}
	return e.MayPointTo(m)
}

// FootprintBehind describes memory of a type that a pointer or a slice leads to, as code may reach it: through pointers to its type or
// to that of a part, by the names of its fields, and by those of variables to which pointers lead.
func (f *Facts) FootprintBehind(name string, t types.Type) Footprint {
	m := Footprint{Name: name, Exposure: Pointed}
	eachInside(t, func(v *types.Var) { m.Keys = append(m.Keys, f.KeyOf(v)) })
	eachType(t, func(part types.Type) {
		m.Types = append(m.Types, TypeName(part))
		if f.forged[TypeName(part)] {
			m.Exposure = Forged
		}
	})
	for _, k := range f.exposed[TypeName(t)] {
		if !slices.Contains(m.Keys, k) {
			m.Keys = append(m.Keys, k)
		}
	}
	return m
}

// CallsBehind reports whether the source has calls behind a use in the same statement, apart from those in some nodes: written as a
// call, the use would come before them, and panic before them.
func (f *Facts) CallsBehind(use ast.Node, k Key, apart ...ast.Node) bool {
	return slices.ContainsFunc(f.words.overtaken[k], func(o overtakenCall) bool {
		inside := func(n ast.Node) bool { return o.call != nil && n.Pos() <= o.call.Pos() && o.call.End() <= n.End() }
		return o.load == use && !slices.ContainsFunc(apart, inside)
	})
}
