package ir

import (
	"fmt"
	"strconv"
)

// A Context is a call as the analysis sees it: a function, and the call that led to
// it in another context. Two calls of the same function from the same place in the
// same context are one context; that is what makes points of a trace similar
// (section 4 of the paper: "the instruction pointer and call stack match").
type Context struct {
	Func   *Func
	Parent *Context
	Call   *Instr // in Parent.Func; nil for the first function of a goroutine
	ID     int
	Depth  int
}

// Contexts keeps one Context for each call stack.
type Contexts struct {
	all map[callKey]*Context
}

type callKey struct {
	parent *Context
	call   *Instr
	fn     *Func
}

// NewContexts is an empty table of contexts.
func NewContexts() *Contexts { return &Contexts{all: map[callKey]*Context{}} }

func (cs *Contexts) Get(parent *Context, call *Instr, fn *Func) *Context {
	k := callKey{parent, call, fn}
	c := cs.all[k]
	if c == nil {
		c = &Context{Func: fn, Parent: parent, Call: call, ID: len(cs.all) + 1}
		if parent != nil {
			c.Depth = parent.Depth + 1
		}
		cs.all[k] = c
	}
	return c
}

// Within reports whether the context is outer or was called, at any depth, from there.
func (c *Context) Within(outer *Context) bool {
	for ; c != nil; c = c.Parent {
		if c == outer {
			return true
		}
	}
	return false
}

// Recursive reports whether fn, called from c, would be there for the third time: what it
// does was looked at then, and each further round may double it.
func (c *Context) Recursive(fn *Func) bool {
	n := 0
	for ; c != nil; c = c.Parent {
		if c.Func == fn {
			n++
		}
	}
	return n >= 2
}

// InstrIn maps an instruction of the context to outer: what outer was executing then.
func (c *Context) InstrIn(outer *Context, at *Instr) *Instr {
	for ; c != nil; c = c.Parent {
		if c == outer {
			return at
		}
		at = c.Call
	}
	return nil
}

// CommonContext is the innermost context that both a and b are within, or nil.
func CommonContext(a, b *Context) *Context {
	for ; a != nil; a = a.Parent {
		if b.Within(a) {
			return a
		}
	}
	return nil
}

// A Point is an instruction in a context.
type Point struct {
	Context *Context
	Instr   *Instr
}

func (p Point) String() string { return p.Context.Func.Name + ":" + p.Instr.Name() }

// A Label is the point of a load in a machine. Turns counts the rounds of a loop
// that lie between the load and the crash, so that a label names one load.
type Label struct {
	Point
	Rounds int
}

func (l *Label) Key() string {
	return strconv.Itoa(l.Context.ID) + "." + strconv.Itoa(l.Instr.ID) + "." + strconv.Itoa(l.Rounds)
}

func (l *Label) String() string {
	if l.Rounds > 0 {
		return fmt.Sprintf("%s-%d", l.Instr.Name(), l.Rounds)
	}
	return l.Instr.Name()
}
