// Package variant has functions run with a lock held that take the lock by themselves.
//
// A section that calls such a function would wait for itself. So the function is made two: one
// that takes the lock, for its other callers, and its variant for callers that have the lock.
//
//	func (s *Store) Get(k string) int {     func (s *Store) Get(k string) int {
//		s.mu.RLock()                        	s.mu.RLock()
//		defer s.mu.RUnlock()                	defer s.mu.RUnlock()
//		return s.m[k]                       	return s.getLocked(k)
//	}                                       }
//
//	                                        // getLocked is Get with s.mu held.
//	                                        func (s *Store) getLocked(k string) int {
//	                                        	return s.m[k]
//	                                        }
//
// A function that calls functions which take the lock is one, too. If all of its calls come to
// be made with the lock held, it stays one function, and its comment says so:
//
//	func (s *Store) has(k string) bool {    // has is called with s.mu held.
//		return s.Get(k) > 0                 func (s *Store) has(k string) bool {
//	}                                       	return s.getLocked(k) > 0
//	                                        }
//
//	if !s.has(k) {                          s.mu.Lock()
//		s.mu.Lock()                         if !s.has(k) {
//		s.m[k] = 1                          	s.m[k] = 1
//		s.mu.Unlock()                       }
//	}                                       s.mu.Unlock()
//
// # Terms
//
// A [Section] is statements that run with the lock held once a change is made. A function takes
// the lock if it has operations on the lock or a section of it, or calls one that does. The object
// of a lock is the struct that has it; each function that takes the lock has a place for the object,
// and a call can be one of a variant only if that place is, in the caller's terms, the section's.
//
// # What cannot be
//
// A function stays as it is, and [Plan.Why] says why, that waits for something else, takes the lock
// of several objects, leaves it held or releases one that it did not take, tries to take it, takes
// it in a literal that runs later, cannot name it, is called by way of a value or an interface, or
// is in test code.
//
//	plan.go      which functions become two
//	function.go  what a function does with the lock
//	write.go     the text
package variant
