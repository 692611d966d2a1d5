package locks

import (
	"fmt"
	"go/types"
	"slices"
)

// A Verb says what an operation does to a lock.
type Verb uint8

const (
	Acquire Verb = iota + 1
	Try          // acquires if that is possible at once, and returns whether it did
	Release
)

func (v Verb) String() string {
	switch v {
	case Acquire:
		return "acquire"
	case Try:
		return "try"
	case Release:
		return "release"
	}
	panic(fmt.Sprintf("locks: verb %d", int(v)))
}

// A Mode says how a lock is held. Write excludes everybody else, Read excludes Write.
type Mode uint8

const (
	Read Mode = iota
	Write
)

func (m Mode) String() string {
	switch m {
	case Read:
		return "read"
	case Write:
		return "write"
	}
	panic(fmt.Sprintf("locks: mode %d", int(m)))
}

// A Method is what a method of a lock does.
type Method struct {
	Verb Verb
	Mode Mode
}

var methods = map[string]Method{
	"Lock": {Acquire, Write}, "Unlock": {Release, Write}, "TryLock": {Try, Write},
	"RLock": {Acquire, Read}, "RUnlock": {Release, Read}, "TryRLock": {Try, Read},
}

// MethodOf says what a method does to the lock that is its receiver. A method is one of a
// lock if it has the name, takes nothing, returns nothing (or, to try, a bool), and its
// receiver has the method that undoes it. The methods of package sync are such methods,
// and so are those of sync.Locker, of another package's spin lock, and of a type that
// wraps a mutex in methods of its own.
func MethodOf(fn *types.Func) (Method, bool) {
	m, ok := methods[fn.Name()]
	recv := fn.Signature().Recv()
	if !ok || recv == nil || !hasShape(fn, m.Verb) {
		return Method{}, false
	}
	inverse := "Unlock"
	switch {
	case m.Verb == Release && m.Mode == Read:
		inverse = "RLock"
	case m.Verb == Release:
		inverse = "Lock"
	case m.Mode == Read:
		inverse = "RUnlock"
	}
	return m, hasMethod(recv.Type(), inverse)
}

// IsStandard reports whether a method is one of sync.Mutex or sync.RWMutex: the ones that
// no body needs to be looked at for.
func IsStandard(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && IsMutex(recv.Type())
}

// hasShape reports whether a method takes and returns what the verb's methods do.
func hasShape(fn *types.Func, v Verb) bool {
	sig := fn.Signature()
	if sig.Params().Len() != 0 {
		return false
	}
	if v != Try {
		return sig.Results().Len() == 0
	}
	return sig.Results().Len() == 1 && types.Identical(sig.Results().At(0).Type().Underlying(), types.Typ[types.Bool])
}

// IsMutex reports whether a type, or what it points to, is sync.Mutex or sync.RWMutex.
func IsMutex(t types.Type) bool { return isSync(deref(t), "Mutex", "RWMutex") }

// IsRWMutex reports whether a type, or what it points to, is sync.RWMutex.
func IsRWMutex(t types.Type) bool { return isSync(deref(t), "RWMutex") }

// IsLock reports whether values of a type, or what they point to, are locks: the standard
// ones, and every other named type with the methods Lock and Unlock. A struct that has
// these methods from an embedded lock, and other fields besides, is an object with a lock
// and not a lock.
func IsLock(t types.Type) bool {
	t = deref(t)
	if isSync(t, "Mutex", "RWMutex", "Locker") {
		return true
	}
	if _, ok := types.Unalias(t).(*types.Named); !ok {
		return false
	}
	if s, ok := t.Underlying().(*types.Struct); ok && s.NumFields() > 1 {
		for f := range s.Fields() {
			if f.Embedded() && IsLock(f.Type()) {
				return false
			}
		}
	}
	return hasMethod(t, "Lock") && hasMethod(t, "Unlock")
}

// Promoted returns the embedded fields by way of which a type has the method Lock, from
// the outside in; nil if it has none or declares it itself. The lock that a struct with an
// embedded sync.Mutex stands for, where it is used as a sync.Locker, is that field.
func Promoted(t types.Type) []*types.Var {
	if types.IsInterface(t) {
		return nil
	}
	o, index, _ := types.LookupFieldOrMethod(t, true, nil, "Lock")
	if _, ok := o.(*types.Func); !ok || len(index) < 2 {
		return nil
	}
	return fieldsAt(t, index[:len(index)-1])
}

// fieldsAt returns the fields that a selection's indices lead over, nil if one of them is
// none of a struct.
func fieldsAt(t types.Type, index []int) []*types.Var {
	var all []*types.Var
	for _, i := range index {
		s, ok := underlyingStruct(t)
		if !ok {
			return nil
		}
		all = append(all, s.Field(i))
		t = s.Field(i).Type()
	}
	return all
}

// underlyingStruct returns the struct that a type, or what it points to, is made of. The
// types that a type parameter stands for may share one.
func underlyingStruct(t types.Type) (*types.Struct, bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if tp, ok := types.Unalias(t).(*types.TypeParam); ok {
		u, ok := tp.Constraint().Underlying().(*types.Interface)
		if !ok || u.NumEmbeddeds() == 0 {
			return nil, false
		}
		return underlyingStruct(u.EmbeddedType(0))
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		// The constraint of a type parameter may be a union of one term.
		if u, isUnion := t.(*types.Union); isUnion && u.Len() == 1 {
			return underlyingStruct(u.Term(0).Type())
		}
	}
	return s, ok
}

func hasMethod(t types.Type, name string) bool {
	t = deref(t)
	if !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	o, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
	f, ok := o.(*types.Func)
	return ok && hasShape(f, methods[name].Verb)
}

// isSync reports whether a type is declared in package sync under one of the names.
func isSync(t types.Type, names ...string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "sync" && slices.Contains(names, n.Obj().Name())
}

func deref(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// IsReference reports whether copying a value of a type leaves both copies naming the same
// place.
func IsReference(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Map, *types.Slice, *types.Chan, *types.Signature:
		return true
	}
	return false
}
