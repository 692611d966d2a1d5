// Package whole judges the sections of a lock: whether every access to the data that the
// lock guards lies in one, and whether accesses that belong together lie in the same one.
//
// # Terms
//
//	member     an access to guarded data, or a use of a map or array that guarded data refers to
//	group      members of one function that belong together: one depends on another in its value,
//	           in where it is made, or in whether it is made at all
//	operation  a group with what the function does before and after it
//
// A group is
//
//	open       if a member may be made without the lock
//	split      if the lock may be released between an update's load and its store
//	torn       if the lock may be released between other members that belong together, of one
//	           function or of functions that it calls
//
// A member
//
//	leaves     if it hands a map or slice, which is changed in place, to code without the lock: to
//	           users of the package, to another goroutine, or to a caller that reads it
//	is unknown if a lock of the kind is held, and it cannot be told whether it is that of the object
//	           with the data
//
// # An example
//
//	func (c *Cache) Add(k string, n int) {
//		c.mu.Lock()
//		old := c.m[k]          one group: the value that is stored depends on the one
//		c.mu.Unlock()              that is loaded, and on the map that it is loaded from;
//		log.Print(k, old)          it is split
//		c.mu.Lock()
//		c.m[k] = old + n
//		c.mu.Unlock()
//	}
//
//	func (c *Cache) Len() int {
//		return len(c.m)        another group: it is open
//	}
//
//	func (h *Hist) Mean() int {
//		return h.Sum() / h.Count()     a group over calls: if each of the two takes the
//	}                                  lock for itself, it is torn
//
// # How strong
//
// An update, a store of a variable that depends on a load of the same variable, must never
// be taken apart: what comes between is lost. Other members are better kept together, but
// each by itself is still an access with the lock held. A group therefore has parts, which
// are what must stay together.
//
// An operation of sync/atomic or of a sync.Map is a member that needs no lock by itself. Several
// of them that make an update need one, and then all that write do.
//
// # What it cannot see
//
// Dependence is followed within one function, over local variables, branches and channels, and over
// calls of functions that are known: what their results depend on, and what they change. A call
// through an interface is one of all methods of the program that it may reach, as the types have it.
// Calls of function values have no members. What holds a lock is taken from package
// lockset, with its limits.
//
//	whole.go       groups, and which of them are not whole
//	bond.go        which members belong together
//	split.go       whether the lock is released between them
//	rounds.go      loops: what their rounds have to do with each other
//	object.go      whether a lock that is held is that of the object with the data
//	identity.go    objects that are copied or replaced together with their lock
//	leaving.go     references that are handed to code without the lock
//	waysout.go     the ways by which they leave a function
//	handedout.go   addresses, and objects that another object's lock guards, for users of the package
//	dependence.go  on what an instruction depends
//	beside.go      data near to that of a lock which nothing orders
//	half.go        variables that a lock guards in some places and not in others
//	summary.go     what calls have to do with guarded data
//	outcome.go     and whether they have changed any when they return
package whole
