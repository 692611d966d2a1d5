package facts

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A Touch is memory that an instruction reaches, as its address names it. The address
// begins with a variable, with memory that is allocated there, or with a pointer of which
// only the type is known, and goes on through fields and elements:
//
//	x.s.a          the fields a and s, from the pointer x
//	global.n       the field n, from the variable global
//	list[i].n      the field n, from a pointer to the elements of the slice
//	*x             no field, from the pointer x; all that is in the struct is reached
type Touch struct {
	// Write says that the memory may be written, Taken that its address goes where it
	// is not followed, Update how the new value is made.
	Write, Taken bool
	Update       Update

	links    []link
	variable *types.Var  // that the address begins with, or nil
	alloc    *ssa.Alloc  // that it begins with, or nil
	pointer  bool        // it begins with a pointer
	reached  types.Type  // the memory as a whole
	at       token.Pos   // of the instruction
	way      []token.Pos // of those that compute the address
}

// String writes the address as the fields that it leads through, and what is done there.
func (t *Touch) String() string {
	text := "*"
	if t.variable != nil {
		text = t.variable.Name()
	}
	for _, l := range slices.Backward(t.links) {
		text += "." + l.field.Name()
	}
	text += " " + shortType(t.reached)
	if t.Write {
		text += " written" + [...]string{"", " by adding", " by raising", " by lowering", " by appending"}[t.Update]
	}
	if t.Taken {
		text += " taken"
	}
	return text
}

// A link is a field that an address leads through.
type link struct {
	field *types.Var // as it is declared
	has   types.Type // what the field has there
	at    token.Pos
}

// touch describes the memory at an address.
func (c *code) touch(address ssa.Value) *Touch {
	t := &Touch{reached: Deref(address.Type())}
	for {
		if t.variable = c.variable(address); t.variable != nil {
			return t
		}
		switch a := address.(type) {
		case *ssa.FieldAddr:
			if f := fieldOf(a); f != nil {
				t.links = append(t.links, link{f, Deref(a.Type()), a.Pos()})
			}
			t.way = append(t.way, a.Pos())
			address = a.X
			continue
		case *ssa.IndexAddr:
			t.way = append(t.way, a.Pos())
			if IsPointer(a.X.Type()) {
				address = a.X
				continue
			}
		case *ssa.Alloc:
			t.alloc = a
		}
		t.pointer = true
		return t
	}
}

// fieldOf returns the field that an instruction has the address of, as it is declared.
func fieldOf(a *ssa.FieldAddr) *types.Var {
	s, ok := Deref(a.X.Type()).Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	return s.Field(a.Field).Origin()
}

// names calls do with the variables and fields that the touch reaches by name: those that
// the address leads through, and all that is inside what is reached.
func (t *Touch) names(do func(*types.Var)) {
	if t.variable != nil {
		do(t.variable)
	}
	for _, l := range t.links {
		do(l.field)
	}
	eachInside(t.reached, do)
}

// eachInside calls do with the fields that values of a type have.
func eachInside(t types.Type, do func(*types.Var)) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			do(f)
			eachInside(f.Type(), do)
		}
	case *types.Array:
		eachInside(u.Elem(), do)
	}
}

// eachType calls do with a type and those of the parts of its values.
func eachType(t types.Type, do func(types.Type)) {
	do(t)
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			eachType(f.Type(), do)
		}
	case *types.Array:
		eachType(u.Elem(), do)
	}
}

// pointees calls do with the types of memory that the touch reaches through a pointer
// alone. An array that is reached may be a piece of another one. Memory that the function has
// allocated, and be it for what the source does not write, as the jumps of a range over a
// function, is no variable and no field.
func (t *Touch) pointees(do func(types.Type)) {
	if !t.pointer || len(t.links) > 0 || t.alloc != nil {
		return
	}
	do(t.reached)
	for a, ok := t.reached.Underlying().(*types.Array); ok; a, ok = a.Elem().Underlying().(*types.Array) {
		do(a.Elem())
	}
}

// Reaches returns why a touch may be of a variable, "" if it is not. Two addresses that go
// through the same field are those of one memory unless they begin differently:
//
//	x.n and y.n        may be the same, if x and y are pointers
//	x.a.n and x.b.n    are not
//	x.a.n and p.n      are not if no pointer leads to the field a
func (f *Facts) Reaches(t *Touch, p Place, m Footprint) string {
	e := new(Effect)
	f.addTouch(e, t)
	if !e.Names(m) {
		return e.MayPointTo(m)
	}
	if f.apart(t, p, m) {
		return ""
	}
	if len(t.links) == 0 && t.variable == nil {
		return "uses a " + shortType(t.reached) + " as a whole"
	}
	return "reaches " + m.Name + " in another way"
}

// shortType writes a type without the paths of packages.
func shortType(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return "" })
}

// apart reports whether a touch that names a place's variable is of other memory for sure.
func (f *Facts) apart(t *Touch, p Place, m Footprint) bool {
	hidden := func(v *types.Var) bool { return f.Exposure(v) == Hidden && !m.led[f.KeyOf(v)] }
	throughPointer := p.ThroughPointer()
	if t.variable != nil && !f.same(t.variable, p.Root) && (!throughPointer || hidden(t.variable)) {
		return true
	}
	i := slices.IndexFunc(t.links, func(l link) bool { return f.KeyOf(l.field) == f.KeyOf(p.Last()) })
	if i < 0 {
		return false // what is reached has the variable inside
	}
	links := t.links[i+1:]
	outer := p.Fields[:max(0, len(p.Fields)-1)]
	for len(links) > 0 && len(outer) > 0 {
		if f.KeyOf(links[0].field) != f.KeyOf(outer[len(outer)-1]) {
			return true
		}
		links, outer = links[1:], outer[:len(outer)-1]
	}
	switch {
	case len(outer) > 0:
		return t.variable != nil || hidden(outer[len(outer)-1])
	case len(links) > 0:
		return !throughPointer || hidden(links[0].field)
	case t.variable != nil:
		return !throughPointer && !f.same(t.variable, p.Root)
	default:
		return !throughPointer && hidden(p.Root)
	}
}

// same reports whether two objects stand for one variable. The variables of a package can
// have several, the others have one.
func (f *Facts) same(v, w *types.Var) bool {
	return v == w || IsGlobal(v) && IsGlobal(w) && f.KeyOf(v) == f.KeyOf(w)
}

// Within reports whether a touch is by one of the accesses to a place, or to a part of it: the
// instruction, or that which computes the field's address, comes from there. An address that
// was computed before, and is only used there, is not that of an access:
//
//	p := &x.n
//	*p = 1          does not name x.n, although the instructions are those of x.n = 1
func (f *Facts) Within(t *Touch, p Place, accesses []*Access) bool {
	at, named := t.at, t.variable != nil && f.same(t.variable, p.Root)
	if len(p.Fields) > 0 {
		k := f.KeyOf(p.Last())
		i := slices.IndexFunc(t.links, func(l link) bool { return f.KeyOf(l.field) == k })
		if named = i >= 0; named {
			at = t.links[i].at
		}
	}
	return named && slices.ContainsFunc(accesses, func(a *Access) bool { return a.Place.Within(p) && slices.Contains(a.at, at) })
}

// IsWholly reports whether a touch is of all of a place, and not only of a part of it.
func (f *Facts) IsWholly(t *Touch, p Place) bool {
	if len(p.Fields) == 0 {
		return len(t.links) == 0 && types.Identical(t.reached, p.Root.Type())
	}
	return len(t.links) > 0 && f.KeyOf(t.links[0].field) == f.KeyOf(p.Last()) && types.Identical(t.reached, t.links[0].has)
}
