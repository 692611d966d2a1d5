package locks

import (
	"go/ast"
	"go/types"
)

// An Op is what one call does to a lock.
type Op struct {
	Verb Verb
	Mode Mode
	// Lock names the lock. It is nil if the lock has no name that stays the same, and then
	// Reason says why.
	Lock   *Place
	Reason string
}

// Acquires reports whether the lock is held after the call, whatever happens.
func (o Op) Acquires() bool { return o.Verb == Acquire }

// Releases reports whether the call gives the lock back.
func (o Op) Releases() bool { return o.Verb == Release }

// String renders the operation: "acquire s.mu", "try s.rw for reading".
func (o Op) String() string {
	text := o.Verb.String() + " "
	if o.Lock == nil {
		return text + "?: " + o.Reason
	}
	return text + Set{Held{Lock: o.Lock, Mode: o.Mode}.Side()}.String()
}

// named returns the operation on a place, with an RLocker's place as the lock itself.
func named(m Method, p *Place, reason string) Op {
	if p == nil {
		return Op{Verb: m.Verb, Mode: m.Mode, Reason: reason}
	}
	h := Held{Lock: p, Mode: m.Mode}.Side()
	return Op{Verb: m.Verb, Mode: h.Mode, Lock: h.Lock}
}

// Reasons why a lock has no name.
const (
	reasonCall     = "the lock is the result of a call that cannot be followed"
	reasonMade     = "the lock is made where it is used"
	reasonFunction = "the function that is called is not known"
	reasonLong     = "the path to the lock is too long"
)

// ClassOf returns the field or variable that an operation's lock is declared as; nil if it
// has no name.
func (t *Places) ClassOf(o Op) *types.Var {
	if o.Lock == nil {
		return nil
	}
	return t.Class(o.Lock)
}

// ClassOf returns the field or variable that the lock is declared as which an expression is, or points to; nil if it has no name.
func (p *Program) ClassOf(info *types.Info, e ast.Expr) *types.Var {
	at, reason := p.Place(info, e)
	return p.Places.ClassOf(named(Method{}, at, reason))
}
