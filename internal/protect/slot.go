package protect

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Objects that a section finds on its way: entries of a guarded map, nodes of a list,
// parameters. Which object it is, and whether two names are the same object, is known
// when the program runs. So the section has a slot for each type of such objects, with
// a copy of one object's fields, and says before a statement which object that is:
//
//	e := x.m[k]       e := v[k]
//	if e.n > 0 {      use(e); if s.n > 0 {
//		e.n--             use(e); s.n--
//	}                 }
//	f()               put(); f()
//	x.mu.Unlock()     put(); x.mu.Unlock()
//
// To use another object publishes the one before, and so does a statement that reaches
// the same fields in a way that the slot does not know. If e is nil then so is s, and
// the statement panics as it would.
//
// An object of which the section uses each field once gets no slot: between the
// first access and the last there is nothing that careless code could spoil.

// A slot is the copy of one object's fields.
type slot struct {
	object types.Type // the pointer to it
	vars   []*variable
}

// A slotUse says what a part has to do with a slot.
type slotUse struct {
	root  *types.Var // the object that it uses
	block bool       // it reaches the fields in another way
}

const usedOnce = "one access needs no copy"

// withLock stands for the copies of what belongs to the object with the lock.
var withLock = new(slot)

// claim notes the accesses that are to copies of a group. Sections of two locks can
// overlap: what one has a copy of, the other does not.
func (f *file) claim(g *group) {
	accesses := func(v *variable, do func(*access) bool) bool {
		for _, p := range g.parts {
			for _, a := range p.accesses {
				if p.opaque == "" && a.place.root != nil && a.place.within(v.place) && do(a) {
					return true
				}
			}
		}
		return false
	}
	g.vars = slices.DeleteFunc(g.vars, func(v *variable) bool {
		if accesses(v, func(a *access) bool { return f.redirected[a.node] != nil }) {
			g.dropped = append(g.dropped, drop{v.datum, "a section that overlaps has a copy", g.first.Pos()})
			return true
		}
		accesses(v, func(a *access) bool { f.redirected[a.node] = withLock; return false })
		return false
	})
}

// slots finds the slots of a group.
func (f *file) slots(g *group) {
	if f.Mode == Detect || f.Mode == Isolate {
		return
	}
	for _, p := range g.parts {
		for _, a := range p.accesses {
			if !foreign(g, a.place) || f.redirected[a.node] != nil || f.isIsolated(a.place) {
				continue
			}
			datum, why := f.datum(g, a.place), ""
			switch {
			case datum == "":
			case p.opaque != "":
				why = "the statement that uses it " + p.opaque
			default:
				why = f.slotField(g, a, datum)
			}
			if why != "" {
				g.dropped = append(g.dropped, drop{datum, why, a.node.Pos()})
			}
		}
	}
	for _, s := range g.slots {
		f.prune(g, s)
	}
	g.slots = slices.DeleteFunc(g.slots, func(s *slot) bool { return len(s.vars) == 0 })
	for _, p := range g.parts {
		for _, s := range g.slots {
			for _, a := range p.accesses {
				if f.slotUse(g, s, p).root != nil && s.variable(a.place) != nil {
					f.redirected[a.node] = s
				}
			}
		}
	}
}

// foreign reports whether a place is in an object that a local variable points to, and
// that is not the one with the lock.
func foreign(g *group, p place) bool {
	return p.root != nil && p.throughPointer() && p.root != g.lock.root && !p.isGlobal()
}

// slotField adds the field that an access is about to the slot of its object. It returns
// why there can be none.
func (f *file) slotField(g *group, a *access, datum string) string {
	if why := f.unfit(a.place.last().Type()); why != "" {
		return why
	}
	typ := f.info.TypeOf(a.node)
	for _, t := range []types.Type{a.place.root.Type(), typ} {
		if _, ok := f.spell(f, t); !ok {
			return "its type has no name there"
		}
	}
	i := slices.IndexFunc(g.slots, func(s *slot) bool { return types.Identical(s.object, a.place.root.Type()) })
	if i < 0 {
		i = len(g.slots)
		g.slots = append(g.slots, &slot{object: a.place.root.Type()})
	}
	s := g.slots[i]
	if s.variable(a.place) != nil {
		return ""
	}
	v := &variable{place: a.place, datum: datum, typ: typ}
	f.describe(v)
	v.suspects = f.suspects(v)
	// A struct that is used as a whole takes the place of its fields.
	s.vars = slices.DeleteFunc(s.vars, func(w *variable) bool { return within(w.fields, v.fields) })
	s.vars = append(s.vars, v)
	return ""
}

// within reports whether a way along fields begins with another.
func within(way, beginning []*types.Var) bool {
	return len(way) >= len(beginning) && slices.Equal(way[:len(beginning)], beginning)
}

// variable returns the variable of the slot that a place is in, whatever the object.
func (s *slot) variable(p place) *variable {
	if p.root == nil || !types.Identical(p.root.Type(), s.object) {
		return nil
	}
	for _, v := range s.vars {
		if within(p.fields, v.fields) {
			return v
		}
	}
	return nil
}

// prune leaves out the fields of which nothing would be gained, or that a section must
// not write. To leave one out can let the slot be used by more statements.
func (f *file) prune(g *group, s *slot) {
	for again := true; again; {
		again = false
		for _, v := range s.vars {
			if why, at := f.useless(g, s, v); why != "" {
				g.dropped = append(g.dropped, drop{v.datum, why, at})
				s.vars = slices.DeleteFunc(slices.Clone(s.vars), func(w *variable) bool { return w == v })
				again = true
				break
			}
		}
	}
}

// useless returns why a field should not be in a slot, and notes whether it is written.
func (f *file) useless(g *group, s *slot, v *variable) (why string, at token.Pos) {
	v.written = false
	count := make(map[*types.Var]int)
	most, at := 0, g.first.Pos()
	for _, p := range g.parts {
		root := f.slotUse(g, s, p).root
		for _, a := range p.accesses {
			if root == nil || s.variable(a.place) != v {
				continue
			}
			at = a.node.Pos()
			count[root]++
			most = max(most, count[root])
			v.written = v.written || a.write
		}
	}
	switch {
	case v.written && g.reading:
		return "it is written in a section that may only read", at
	case most < 2:
		return usedOnce, at
	}
	return "", token.NoPos
}

// slotUse finds out what a part has to do with a slot.
func (f *file) slotUse(g *group, s *slot, p *part) slotUse {
	if p.opaque != "" || p.acquires {
		return slotUse{block: true}
	}
	var use slotUse
	for _, a := range p.accesses {
		if !slices.ContainsFunc(s.vars, func(v *variable) bool { return f.named(a, v) }) {
			continue
		}
		switch {
		case s.variable(a.place) == nil, !foreign(g, a.place), a.taken, p.loop, f.redirected[a.node] != nil && f.redirected[a.node] != s,
			use.root != nil && use.root != a.place.root, !f.usable(p, a.place.root):
			return slotUse{block: true}
		}
		use.root = a.place.root
	}
	for _, v := range s.vars {
		for _, t := range p.whole {
			if holds(t, v.structsOf()) {
				return slotUse{block: true}
			}
		}
		for _, e := range p.effects {
			if v.mayBeReached(e) != "" {
				return slotUse{block: true}
			}
		}
		for _, c := range p.calls {
			if e := f.effects.of[funcKeyOf(c.Func)]; e == nil || e.touchesAny(v.reach()) || v.mayBeReached(e) != "" {
				return slotUse{block: true}
			}
		}
	}
	return use
}

// usable reports whether a variable means the same before a part as in all of it.
func (f *file) usable(p *part, root *types.Var) bool {
	if f.exposed[keyOf(f.fset, root)] != hidden || !f.means(root, p.begin()) {
		return false
	}
	return !slices.ContainsFunc(p.accesses, func(a *access) bool { return a.write && a.last == root })
}

// begin is where something can be inserted before a part.
func (p *part) begin() token.Pos {
	if p.outer != nil {
		return p.outer.Pos()
	}
	return p.stmt.Pos()
}

func (w *writer) slotID(i int, what string) string { return w.id("o", i) + what }

// declareSlots declares the slots of a group: the object, the copy, what it was, a
// pointer to the copy, and a function that publishes it.
func (w *writer) declareSlots() []string {
	var list []string
	for i, s := range w.group.slots {
		var fields, puts []string
		for j, v := range s.vars {
			t, _ := w.spell(w.file, v.typ)
			fields = append(fields, fmt.Sprintf("f%d %s", j, t))
			name := w.slotID(i, "l") + fmt.Sprint(j)
			w.addLabel(name, v)
			shared := w.slotID(i, "p") + v.way()
			own, before := fmt.Sprintf("%s.f%d", w.slotID(i, "v"), j), fmt.Sprintf("%s.f%d", w.slotID(i, "b"), j)
			puts = append(puts, w.putAs(spelling{shared, "&" + shared, own, before, "&" + name}, v))
		}
		typ := "struct { " + strings.Join(fields, "; ") + " }"
		object, _ := w.spell(w.file, s.object)
		p, c := w.slotID(i, "p"), w.slotID(i, "c")
		list = append(list, fmt.Sprintf("var %s %s; var %s, %s %s; var %s *%s; %s := func() { if %s != nil { %s; %s, %s = nil, nil } }; _, _ = %s, %s",
			p, object, w.slotID(i, "v"), w.slotID(i, "b"), typ, c, typ, w.slotID(i, "f"), p, strings.Join(puts, "; "), p, c, w.slotID(i, "b"), c))
	}
	return list
}

// way is the way to a variable from the object that has it.
func (p place) way() string {
	text := ""
	for _, f := range p.fields {
		text += "." + f.Name()
	}
	return text
}

// useSlots has a part use the copies of objects, and publishes those that it reaches in
// another way.
func (w *writer) useSlots(p *part) {
	for i, s := range w.group.slots {
		use := w.slotUse(w.group, s, p)
		put := w.slotID(i, "f") + "()"
		if use.block {
			w.insert(p.begin(), atStart, put+"; ")
			if p.loop {
				for _, c := range p.continues {
					w.insert(c.Pos(), atStart, put+"; ")
				}
				if p.end.IsValid() {
					w.insert(p.end, atStart, "; "+put+" ")
				}
			}
			continue
		}
		if use.root == nil {
			continue
		}
		object, name, own := w.slotID(i, "p"), use.root.Name(), w.slotID(i, "v")
		take := fmt.Sprintf("%s = %s", object, name)
		for j, v := range s.vars {
			take += fmt.Sprintf("; %s.f%d = %s", own, j, w.loadAs(v, name+v.way(), "&"+name+v.way()))
		}
		w.insert(p.begin(), atStart, fmt.Sprintf("if %s != %s { %s; if %s != nil { %s; %s = %s; %s = &%s } }; ",
			object, name, put, name, take, w.slotID(i, "b"), own, w.slotID(i, "c"), own))
		for _, a := range p.accesses {
			v := s.variable(a.place)
			if v == nil {
				continue
			}
			text := fmt.Sprintf("%s.f%d", w.slotID(i, "c"), slices.Index(s.vars, v)) + place{fields: a.place.fields[len(v.fields):]}.way()
			w.replaceNode(a.node, text)
		}
	}
}

// replaceNode puts a text in the place of an expression, with as many lines.
func (f *file) replaceNode(n ast.Expr, text string) {
	f.replace(n.Pos(), n.End(), text+strings.Repeat("\n", f.line(n.End())-f.line(n.Pos())))
}
