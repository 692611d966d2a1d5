package facts

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/packages"
)

// An Effect is what running some code can mean to private copies. It is the one answer to
// what code may touch and whether it synchronises; how the answer is found is the
// business of this package alone.
type Effect struct {
	// Opaque is why copies must be published before the code runs: it might reach
	// variables in ways that are not known, or tell other goroutines that they may
	// use them. It is "" for code that does neither.
	Opaque string
	// Acquires says that the code takes a lock.
	Acquires bool
	// Calls are those of functions that can be named.
	Calls []Call

	brief    string          // Opaque, without what the function that is called does
	named    map[Key]bool    // variables and fields that the code names, of any object
	pointees map[string]bool // types that the code reaches through pointers to them
	indirect bool            // the code uses pointers or elements at all
}

// A Call of a function.
type Call struct {
	*types.Func
	Expr *ast.CallExpr
}

// anyPointee is what a pointer to a type parameter may lead to.
const anyPointee = "any type"

func (e *Effect) name(k Key) {
	if e.named == nil {
		e.named = make(map[Key]bool)
	}
	e.named[k] = true
}

func (e *Effect) pointTo(t types.Type) {
	if e.pointees == nil {
		e.pointees = make(map[string]bool)
	}
	name := TypeName(t)
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		name = anyPointee
	}
	e.pointees[name], e.indirect = true, true
}

// block makes the code opaque; the first reason counts.
func (e *Effect) block(why string) {
	if e.Opaque == "" {
		e.Opaque, e.brief = why, why
	}
}

// NamesKey reports whether the code names a variable or field. No effect names nothing.
func (e *Effect) NamesKey(k Key) bool { return e != nil && e.named[k] }

// Names reports whether the code names a variable, or a field in it that can be reached
// in another way, in whatever object.
func (e *Effect) Names(m Footprint) bool { return slices.ContainsFunc(m.Reach(), e.NamesKey) }

// MayPointTo returns why the code might reach a variable through a pointer, "" if it
// cannot.
func (e *Effect) MayPointTo(m Footprint) string {
	switch {
	case m.Exposure == Hidden:
		return ""
	case m.Exposure == Forged && e.indirect:
		return "uses pointers, and one to " + m.Name + " was made with package unsafe"
	case e.pointees[anyPointee]:
		return "uses a pointer to a type parameter"
	}
	for _, t := range m.Types {
		if e.pointees[t] {
			return "uses a pointer to " + t
		}
	}
	return ""
}

// A Footprint is a variable as code may reach it.
type Footprint struct {
	Name     string
	Keys     []Key    // its own, and those of the fields in it
	Types    []string // theirs, and those of elements
	Exposure Exposure
}

// Footprint describes a variable or field.
func (f *Facts) Footprint(v *types.Var) Footprint {
	m := Footprint{Name: v.Name()}
	var add func(v *types.Var)
	add = func(v *types.Var) {
		m.Keys = append(m.Keys, f.KeyOf(v))
		m.Types = append(m.Types, TypeName(v.Type()))
		m.Exposure = max(m.Exposure, f.Exposure(v))
		for a, ok := v.Type().Underlying().(*types.Array); ok; a, ok = a.Elem().Underlying().(*types.Array) {
			m.Types = append(m.Types, TypeName(a.Elem()))
		}
		if s, ok := v.Type().Underlying().(*types.Struct); ok {
			for inner := range s.Fields() {
				add(inner)
			}
		}
	}
	add(v)
	return m
}

// Reach are the keys by which code may reach the variable. Nothing points to one that is
// hidden, so that its fields cannot be reached but by its own name.
func (m Footprint) Reach() []Key {
	if m.Exposure == Hidden {
		return m.Keys[:1]
	}
	return m.Keys
}

// EffectOf returns the effect of calling a function, with that of the functions it calls.
// It is nil if the function's body is not at hand.
func (f *Facts) EffectOf(fn *types.Func) *Effect { return f.effects[FuncKeyOf(fn)] }

// Effect returns the effect of code of a package, without that of the functions it calls.
// The bodies of function literals are not part of it: to call one is opaque.
func (f *Facts) Effect(p *packages.Package, n ast.Node) *Effect {
	e := new(Effect)
	f.cursor(p, n).Inspect(nil, func(c inspector.Cursor) bool {
		f.addEffect(p.TypesInfo, e, c)
		_, literal := c.Node().(*ast.FuncLit)
		return !literal
	})
	return e
}

// Touches reports whether code of a package names a variable or field, or calls a
// function that does.
func (f *Facts) Touches(p *packages.Package, n ast.Node, k Key) bool {
	e := f.Effect(p, n)
	return e.NamesKey(k) || slices.ContainsFunc(e.Calls, func(c Call) bool { return f.EffectOf(c.Func).NamesKey(k) })
}

// cursor returns where a node is in its package.
func (f *Facts) cursor(p *packages.Package, n ast.Node) inspector.Cursor {
	c, ok := f.inspectors[p].Root().FindNode(n)
	if !ok {
		panic("facts: a node that is not in package " + p.PkgPath)
	}
	return c
}

// propagateEffects adds to the effect of each function those of the functions it calls.
func (f *Facts) propagateEffects() {
	for _, k := range f.functions {
		e := f.effects[k]
		for _, c := range e.Calls {
			if f.EffectOf(c.Func) == nil {
				e.block(c.String())
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, k := range f.functions {
			e := f.effects[k]
			for _, c := range e.Calls {
				if callee := f.EffectOf(c.Func); callee != nil {
					changed = e.include(c, callee) || changed
				}
			}
		}
	}
}

// include adds the effect of a call's function, and reports whether that says more.
func (e *Effect) include(c Call, callee *Effect) (more bool) {
	if e.Opaque == "" && callee.Opaque != "" {
		e.Opaque, e.brief = c.opaque(callee), c.String()
		more = true
	}
	for k := range callee.named {
		if !e.named[k] {
			e.name(k)
			more = true
		}
	}
	for t := range callee.pointees {
		if e.pointees == nil {
			e.pointees = make(map[string]bool)
		}
		if !e.pointees[t] {
			e.pointees[t] = true
			more = true
		}
	}
	if callee.indirect && !e.indirect {
		e.indirect, more = true, true
	}
	if callee.Acquires && !e.Acquires {
		e.Acquires, more = true, true
	}
	return more
}

func (c Call) String() string { return "calls " + FuncName(c.Func) }

// opaque is why code that calls an opaque function is opaque. It names one step of the
// chain of calls: the way to the end of it would be long.
func (c Call) opaque(callee *Effect) string { return c.String() + ", which " + callee.brief }

// FuncName names a function with its package.
func FuncName(f *types.Func) string {
	if f.Pkg() == nil {
		return f.Name()
	}
	return f.Pkg().Name() + "." + f.Name()
}
