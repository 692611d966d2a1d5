// Package locks says what a lock is, which calls operate on one, which place in memory
// names it, and which locks are held where. All of Cofferdam's analyses ask it, so that
// they agree.
//
// # Terms
//
// An operation (Op) is a call that acquires, tries or releases a lock, for reading or for
// writing. A place (Place) is a name of memory: a root and steps, as s.child.mu is. Its
// class is the field or variable that it ends in: all s.mu have the class T.mu. A path (Path)
// is one of the paths by which control may have come to a point, with the locks that are
// held on it; paths that hold different locks are kept apart. An edge (Edge) says that a
// lock of one class is taken while one of another is held.
//
// # An example
//
//	func (s *store) put(k string) error {
//		s.mu.Lock()              // acquire s.mu
//		if s.closed {
//			s.mu.Unlock()        // release s.mu: held before, not after
//			return errClosed     // an exit with nothing held; the outcome is not nil
//		}
//		s.with(func() {          // with takes s.rw for what it runs
//			s.n++                // held: s.mu, s.rw
//		})                       // an edge: store.mu before store.rw
//		return nil               // finding: s.mu left held
//	}
//
// # Three questions
//
// What does this method do? Types alone tell (method.go). A lock is sync.Mutex,
// sync.RWMutex, sync.Locker and every other named type with Lock and Unlock:
//
//	m, ok := locks.MethodOf(fn)     // {Acquire, Write} for Lock
//	locks.IsLock(t), locks.IsMutex(t), locks.Promoted(t)
//
// Which lock does this call operate on? There is a reader of syntax (program.go, syntax.go,
// target.go) and one of SSA form (values.go), and both make the same places:
//
//	p := locks.NewProgram(locks.Unit{Info: info, Files: files})
//	op, ok := p.Op(info, call)      // op.Lock is s.mu, whether s.mu.Lock(), lock := s.mu.Lock
//	                                // or l := sync.Locker(&s.mu) led here
//	v := locks.NewValues(places, functions)
//	op, ok = v.Op(instruction.Common())
//
// Which locks are held here? A Flow follows a function of a Program along its control flow
// graph (flow.go, eval.go, call.go):
//
//	f := p.Flow(decl)
//	f.Held(stmt)        // surely and, marked, maybe
//	f.Before(call)      // the same, path by path
//	f.Findings          // left held, taken twice, not held, wrong mode, not followed and why
//	f.Edges             // the order in which locks are taken
//	f.Exits             // what is held at each return, and what is returned with it
//
// Analyses on SSA form, which go from function to function with what is held, use the same
// paths (path.go, held.go, outcome.go): package guard/lockset does.
//
// # How it works
//
// The paths through a function are followed until nothing changes. A path knows the outcome
// of conditions that more than one branch tests, of TryLock, and of calls whose result
// tells whether they took a lock:
//
//	if c { s.mu.Lock() }            two paths: c and s.mu is held; not c and nothing is
//	if c { s.mu.Unlock() }          each takes its own branch: nothing is held afterwards
//
// Literals are followed where they are called, deferred or given to a function that calls
// them. A function of the program is followed once, with nothing held. Its exits then say
// what a call of it does, in the caller's terms (relate.go): what it holds when it returns,
// which of the caller's locks it released, under which locks it runs its parameters.
// Methods named Lock of types of the program are such functions, so the lock of a type that
// wraps a mutex is the mutex.
//
// A variable that has one value for all of its life is that value: after mu := &s.mu, mu is
// s.mu. So is a field that only ever holds a pointer to a lock that stands nearby, and the
// L of a sync.Cond (alias.go). If a variable changes while a lock is held by way of it, some
// lock of the class is held and which one cannot be told; that is a finding of kind
// NotFollowed.
//
// # What it cannot see
//
// Code outside the program is taken to hold no lock, to leave those that are held alone, and
// to call its callbacks before it returns unless its name says otherwise (later.go), and the methods
// that it looks for in what it is given (calledback.go). A
// pointer field that is assigned while a lock is held by way of it is not noticed. What a
// recursive call does is taken to be nothing. Calls through interfaces count for the order
// of locks, by all methods that implement them, and not for what is held.
//
// The table of all ways to name and use a lock, with the verdict on each, is in
// testdata/uses; package lockstest reads it.
//
// Files: method.go (lock types and their methods), op.go (operations), place.go, relate.go
// (places), alias.go (other names), program.go, syntax.go, target.go (reading syntax),
// values.go (reading SSA form), part.go (structs that only one other leads to), held.go, path.go, outcome.go (what is held), flow.go, eval.go,
// call.go, later.go (following a function), function_value.go (what a call of a value may
// run), calledback.go (what a library calls of what it is given), finding.go (what is wrong, and order).
package locks
