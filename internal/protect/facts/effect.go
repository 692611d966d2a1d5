package facts

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// An Effect is what running some code can mean to private copies. It is the one answer to
// what code may touch and whether it synchronises; how the answer is found is the
// business of this package alone.
type Effect struct {
	// Opaque is why copies must be published before the code runs: it might reach
	// variables in ways that are not known, or tell other goroutines that they may
	// use them. It is "" for code that does neither.
	Opaque string
	// Acquires says that the code takes a lock, Panics that it may panic, Waits that it is
	// known to wait for other goroutines or to let them go on: it uses a channel, starts a
	// goroutine or releases a lock. Code that is not known may do so, too.
	Acquires, Panics, Waits bool
	// Calls are those of functions that can be named.
	Calls []Call

	brief    string                  // Opaque, without what the function that is called does
	named    map[Key]bool            // variables and fields that the code names, of any object
	written  map[Key]bool            // those of them that it may write
	entries  map[Key]bool            // maps and slices among them whose entries or elements it may change
	pointees map[string]bool         // types that the code reaches through pointers to them
	indirect bool                    // the code uses pointers or elements at all
	unknown  map[string]bool         // what the code itself calls without naming it: see dispatch
	literals map[*ast.BlockStmt]bool // the function literals that it calls itself, by their bodies
}

// A Call of a function.
type Call struct {
	*types.Func
	Expr *ast.CallExpr
}

// anyPointee is what a pointer to a type parameter may lead to.
const anyPointee = "any type"

// note adds a member to a set, which may be missing.
func note[K comparable](set map[K]bool, k K) map[K]bool {
	if set == nil {
		set = make(map[K]bool)
	}
	set[k] = true
	return set
}

// addTouch adds what one instruction reaches.
func (f *Facts) addTouch(e *Effect, t *Touch) {
	t.names(func(v *types.Var) {
		e.named = note(e.named, f.KeyOf(v))
		if t.Write || t.Taken {
			e.written = note(e.written, f.KeyOf(v))
		}
	})
	e.indirect = e.indirect || t.pointer
	t.pointees(func(p types.Type) {
		name := TypeName(p)
		if source.HasTypeParam(p) {
			name = anyPointee
		}
		e.pointees = note(e.pointees, name)
	})
}

// block makes the code opaque; the first reason counts.
func (e *Effect) block(why string) {
	if e.Opaque == "" {
		e.Opaque, e.brief = why, why
	}
}

// wait makes the code opaque, because it waits or lets others go on.
func (e *Effect) wait(why string) {
	e.block(why)
	e.Waits = true
}

// NamesKey reports whether the code names a variable or field. No effect names nothing.
func (e *Effect) NamesKey(k Key) bool { return e != nil && e.named[k] }

// WritesKey reports whether the code may write a variable or field that it names.
func (e *Effect) WritesKey(k Key) bool { return e != nil && e.written[k] }

// Names reports whether the code names a variable, or a field in it that can be reached
// in another way, in whatever object.
func (e *Effect) Names(m Footprint) bool { return slices.ContainsFunc(m.Reach(), e.NamesKey) }

// Writes reports whether the code may write a variable that it names, or a field in it.
func (e *Effect) Writes(m Footprint) bool { return slices.ContainsFunc(m.Reach(), e.WritesKey) }

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

	led map[Key]bool // what else is exposed, in the function that uses the variable
}

// Footprint describes a variable or field.
func (f *Facts) Footprint(v *types.Var) Footprint {
	m := Footprint{Name: v.Name()}
	add := func(v *types.Var) {
		m.Keys = append(m.Keys, f.KeyOf(v))
		m.Exposure = max(m.Exposure, f.Exposure(v))
	}
	add(v)
	eachInside(v.Type(), add)
	eachType(v.Type(), func(t types.Type) {
		m.Types = append(m.Types, TypeName(t))
		if m.Exposure == Pointed && f.forged[TypeName(t)] {
			m.Exposure = Forged
		}
	})
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

// Touches reports whether the body of a function or of a function literal names a variable
// or field, or calls a function that does.
func (f *Facts) Touches(body *ast.BlockStmt, k Key) bool {
	s := f.Body(body)
	return slices.ContainsFunc(s.effects, func(e *Effect) bool { return e.NamesKey(k) })
}

// propagateEffects adds to the effect of each function those of the functions it calls.
func (f *Facts) propagateEffects() {
	for _, k := range f.functions {
		e := f.effects[k]
		for _, c := range e.Calls {
			if f.EffectOf(c.Func) == nil {
				e.block(c.String())
				e.Panics = true
				e.callsBack(c.Func)
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
	return e.addMemory(callee) || more
}

// add adds the effect of other code that runs as well.
func (e *Effect) add(other *Effect) {
	if e.Opaque == "" {
		e.Opaque, e.brief = other.Opaque, other.brief
	}
	e.Calls = append(e.Calls, other.Calls...)
	for name := range other.unknown {
		e.callsUnknown(name)
	}
	for body := range other.literals {
		e.literals = note(e.literals, body)
	}
	e.addMemory(other)
}

// addMemory adds what other code reaches, and reports whether that is more.
func (e *Effect) addMemory(other *Effect) (more bool) {
	before := len(e.named) + len(e.written) + len(e.entries) + len(e.pointees)
	for k := range other.named {
		e.named = note(e.named, k)
	}
	for k := range other.written {
		e.written = note(e.written, k)
	}
	for k := range other.entries {
		e.entries = note(e.entries, k)
	}
	for t := range other.pointees {
		e.pointees = note(e.pointees, t)
	}
	for _, flag := range []struct {
		own   *bool
		their bool
	}{{&e.indirect, other.indirect}, {&e.Acquires, other.Acquires}, {&e.Panics, other.Panics}, {&e.Waits, other.Waits}} {
		if flag.their && !*flag.own {
			*flag.own, more = true, true
		}
	}
	return more || len(e.named)+len(e.written)+len(e.entries)+len(e.pointees) > before
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
