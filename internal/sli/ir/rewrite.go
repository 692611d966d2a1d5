package ir

// A RegisterSet holds registers, and maybe others besides: a register that is not in it is not
// there for sure. It says quickly what an expression has nothing to do with.
type RegisterSet uint64

// RegistersOf is the set of one register in a context, which is nil for a function's own.
func RegistersOf(c *Context, r Reg) RegisterSet {
	id := 0
	if c != nil {
		id = c.ID
	}
	const golden = 0x9e3779b97f4a7c15 // spreads neighbours over all bits
	return 1 << (uint64(id<<16+int(r)) * golden >> 58)
}

// Rewrite applies f to the leaves and loads of e, innermost first; f returns nil for
// what stays as it is.
func (e *Expr) Rewrite(f func(*Expr) *Expr, done map[*Expr]*Expr) *Expr {
	if r, ok := done[e]; ok {
		return r
	}
	r := e.rewriteArgs(func(a *Expr) *Expr { return a.Rewrite(f, done) })
	switch r.Op {
	case OpRegister, OpLoad, OpSymbol:
		if n := f(r); n != nil {
			r = n
		}
	}
	done[e] = r
	return r
}

// ReplaceRegisters applies f to the registers of e that are in a set; f returns nil for what
// stays as it is.
func (e *Expr) ReplaceRegisters(set RegisterSet, f func(*Expr) *Expr, done map[*Expr]*Expr) *Expr {
	if e.registers&set == 0 {
		return e
	}
	if r, ok := done[e]; ok {
		return r
	}
	r := e.rewriteArgs(func(a *Expr) *Expr { return a.ReplaceRegisters(set, f, done) })
	if r.Op == OpRegister {
		if n := f(r); n != nil {
			r = n
		}
	}
	done[e] = r
	return r
}

// rewriteArgs is e with what f makes of its arguments.
func (e *Expr) rewriteArgs(f func(*Expr) *Expr) *Expr {
	var args []*Expr // nil as long as nothing has changed
	for i, a := range e.Args {
		n := f(a)
		if n != a && args == nil {
			args = append(make([]*Expr, 0, len(e.Args)), e.Args[:i]...)
		}
		if args != nil {
			args = append(args, n)
		}
	}
	if args == nil {
		return e
	}
	return e.withArgs(args)
}

// InContext gives the registers of e the context c.
func (e *Expr) InContext(c *Context) *Expr {
	if e == nil || e.registers == 0 {
		return e
	}
	return e.ReplaceRegisters(e.registers, func(x *Expr) *Expr {
		n := *x
		n.Context = c
		return sealExpr(&n)
	}, map[*Expr]*Expr{})
}
