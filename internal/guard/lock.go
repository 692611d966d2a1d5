package guard

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// An operation is what a call does to a lock.
type operation int

const (
	noOperation operation = iota
	lock
	unlock
	readLock
	readUnlock
	tryLock
	tryReadLock
)

var operations = map[string]operation{
	"Lock": lock, "Unlock": unlock, "RLock": readLock, "RUnlock": readUnlock, "TryLock": tryLock, "TryRLock": tryReadLock,
}

// isSync reports whether a type is declared in package sync under one of the names.
func isSync(t types.Type, names ...string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "sync" {
		return false
	}
	for _, name := range names {
		if n.Obj().Name() == name {
			return true
		}
	}
	return false
}

func deref(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// isLock reports whether values of a type, or what they point to, are locks: the
// standard ones, and any other type with their methods.
func isLock(t types.Type) bool {
	t = deref(t)
	if isSync(t, "Mutex", "RWMutex", "Locker") {
		return true
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	if _, ok := types.Unalias(t).(*types.Named); !ok {
		return false
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		// A struct that embeds a lock has its methods, and data besides.
		for f := range s.Fields() {
			if f.Embedded() && isLock(f.Type()) && s.NumFields() > 1 {
				return false
			}
		}
	}
	return hasMethod(t, "Lock") && hasMethod(t, "Unlock")
}

func hasMethod(t types.Type, name string) bool {
	if !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	o, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
	f, ok := o.(*types.Func)
	return ok && f.Signature().Params().Len() == 0 && f.Signature().Results().Len() == 0
}

// hasOwnLock reports whether a struct has a lock among its fields: then it takes
// care of itself.
func hasOwnLock(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if isLock(f.Type()) {
			return true
		}
	}
	return false
}

// isData reports whether a variable of the type may need a guard. Locks and what
// package sync and sync/atomic offer need none.
func isData(t types.Type) bool {
	if isLock(t) {
		return false
	}
	n, ok := types.Unalias(deref(t)).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return true
	}
	switch n.Obj().Pkg().Path() {
	case "sync", "sync/atomic", "testing":
		return false
	}
	return !strings.HasSuffix(n.Obj().Pkg().Path(), "/atomic")
}

// embeddedLock returns the field whose methods a struct has by embedding it, nil if
// there is none.
func embeddedLock(t types.Type) *types.Var {
	s, ok := deref(t).Underlying().(*types.Struct)
	if !ok || isLock(t) {
		return nil
	}
	for f := range s.Fields() {
		if f.Embedded() && isLock(f.Type()) {
			return f
		}
	}
	return nil
}

// forReading is the step to what (*sync.RWMutex).RLocker returns: the same lock,
// held for reading.
var forReading = types.NewVar(token.NoPos, nil, "RLocker()", types.Typ[types.Invalid])

// plain returns a lock that is held through its RLocker as itself.
func (h held) plain() held {
	if h.lock.parent != nil && h.lock.step.field == forReading && !h.lock.step.up {
		h.lock, h.write = h.lock.parent, false
	}
	return h
}

// operationOf recognises a call of a lock's method, and returns the lock. A method
// whose body is at hand is followed instead, except those of package sync.
func (a *analysis) operationOf(c *ssa.CallCommon) (operation, ssa.Value) {
	if c.IsInvoke() {
		op := operations[c.Method.Name()]
		if op == noOperation || len(c.Args) > 0 || !hasMethod(c.Value.Type(), "Lock") && !hasMethod(c.Value.Type(), "RLock") {
			return noOperation, nil
		}
		return op, c.Value
	}
	fn := c.StaticCallee()
	if fn == nil || fn.Signature.Recv() == nil || len(c.Args) != 1 {
		return noOperation, nil
	}
	op := operations[fn.Name()]
	if op == noOperation || !isLock(fn.Signature.Recv().Type()) {
		return noOperation, nil
	}
	if len(fn.Blocks) > 0 && !isSync(deref(fn.Signature.Recv().Type()), "Mutex", "RWMutex") {
		return noOperation, nil
	}
	return op, c.Args[0]
}

// alias returns the lock that a path is another name of: that of a sync.Cond, and
// any field that only ever holds a pointer to a lock that stands nearby.
func (a *analysis) alias(p *path) *path {
	if p.parent == nil {
		return nil
	}
	rel := a.aliases[a.aliasKey(p)]
	if rel == nil {
		return nil
	}
	return a.paths.apply(p, rel)
}

// aliasKey is the end of a path: a field, and the one before it if the field is
// that of a sync.Cond, which every sync.Cond shares.
type aliasKey struct{ outer, field types.Object }

func (a *analysis) aliasKey(p *path) aliasKey {
	k := aliasKey{field: p.step.field}
	if p.step.field.Name() == "L" && p.step.field.Pkg() != nil && p.step.field.Pkg().Path() == "sync" {
		k.outer = a.paths.last(p.parent)
	}
	return k
}

// findAliases looks for stores of locks' addresses. A field that is given two
// different locks is no alias.
func (a *analysis) findAliases(fns []*ssa.Function) {
	found := make(map[aliasKey]*path)
	conflict := make(map[aliasKey]bool)
	add := func(at, lock *path) {
		if at == nil || at.parent == nil {
			return
		}
		rel := a.paths.relate(at, lock)
		if rel == nil && lock.parent == nil {
			return
		}
		k := a.aliasKey(at)
		if old, ok := found[k]; ok && old != rel {
			conflict[k] = true
		}
		found[k] = rel
	}
	for _, fn := range fns {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				s, ok := i.(*ssa.Store)
				if !ok {
					continue
				}
				if isLock(s.Val.Type()) {
					add(a.path(s.Addr), a.path(s.Val))
					continue
				}
				c, ok := s.Val.(*ssa.Call)
				if !ok || c.Call.StaticCallee() == nil || c.Call.StaticCallee().RelString(nil) != "sync.NewCond" {
					continue
				}
				for f := range structOf(c.Type()).Fields() {
					if f.Name() == "L" {
						add(a.paths.extend(a.path(s.Addr), step{field: a.paths.canonical(f)}), a.path(c.Call.Args[0]))
					}
				}
			}
		}
	}
	for k, rel := range found {
		if rel != nil && !conflict[k] && rel.parent != nil {
			a.aliases[k] = rel
		}
	}
	if len(a.aliases) > 0 {
		clear(a.pathOf)
		clear(a.resultOf)
	}
}
