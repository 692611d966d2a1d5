package facts

import (
	"go/ast"
	"go/types"
	"slices"
)

func isLockMethod(f *types.Func, names ...string) bool {
	r := f.Signature().Recv()
	return r != nil && IsSync(Deref(r.Type()), "Mutex", "RWMutex") && slices.Contains(names, f.Name())
}

// IsAcquire reports whether a function takes a lock, or tries to.
func IsAcquire(f *types.Func) bool { return isLockMethod(f, "Lock", "RLock", "TryLock", "TryRLock") }

// IsRelease reports whether a function releases a lock.
func IsRelease(f *types.Func) bool { return isLockMethod(f, "Unlock", "RUnlock") }

// An Operation on a lock.
type Operation struct {
	Name string // Lock, Unlock, RLock, RUnlock, TryLock, TryRLock
	Lock Place  // not known if the lock has no name
}

// Acquires reports whether the lock is held after the operation.
func (o Operation) Acquires() bool { return o.Name == "Lock" || o.Name == "RLock" }

// Releases reports whether the lock is not held after the operation.
func (o Operation) Releases() bool { return o.Name == "Unlock" || o.Name == "RUnlock" }

// Reads reports whether the operation is about holding the lock for reading.
func (o Operation) Reads() bool { return o.Name == "RLock" || o.Name == "RUnlock" }

// Tries reports whether the lock may be held after the operation, or not.
func (o Operation) Tries() bool { return o.Name == "TryLock" || o.Name == "TryRLock" }

// On reports whether the operation is one of a lock.
func (o Operation) On(lock Place) bool { return o.Lock.Known() && o.Lock.Equal(lock) }

// OperationOf recognises a call of a lock's method.
func OperationOf(info *types.Info, c *ast.CallExpr) (Operation, bool) {
	e, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return Operation{}, false
	}
	return SelectedOperation(info, e)
}

// SelectedOperation recognises a lock's method, whether it is called or not.
func SelectedOperation(info *types.Info, e *ast.SelectorExpr) (Operation, bool) {
	s := info.Selections[e]
	if s == nil || s.Kind() != types.MethodVal {
		return Operation{}, false
	}
	f := s.Obj().(*types.Func)
	if !IsAcquire(f) && !IsRelease(f) {
		return Operation{}, false
	}
	o := Operation{Name: f.Name()}
	if p, ok := PlaceOf(info, e.X); ok {
		index := s.Index()
		if p, ok = p.Extend(index[:len(index)-1]); ok {
			o.Lock = p
		}
	}
	return o, true
}
