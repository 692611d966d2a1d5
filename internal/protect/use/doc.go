// Package use finds out how uses of variables can be written in another way, from the nodes around them.
//
// # Visits
//
// In exact sections the uses without the lock, visits, tell what they do:
//
//	use(x.n)           use(Read(&x.n, false))
//	use(x.n, f())      use(*Reading(&x.n, false), f()), because the load comes after f
//	x.n += 2           func() { k := &x.n; defer Write(k, true)(); *k += 2 }()
//	x.n = f()          { w := f(); func() { k := &x.n; defer Write(k, false)(); *k = w }() }
//
// A load says true if the function stores to the variable as well: what it stores may depend on the load.
// What is between Write and the end runs under a lock, so it must not call anything; and it must
// not panic where the value would have done so first. Other uses are left as they are: values that
// are made before in a header, assignments of several values, what has no address.
//
// # Nodes
//
// Of uses in sections it is asked whether they write, and of statements whether another goroutine may have an object from then on.
//
// # Files
//
//	visit.go    how uses tell what they do
//	addition.go what is added without the lock, in one step
//	part.go     uses of parts and elements that can be one call
//	pass.go     objects that are written, and passed on
//	early.go    loads that come before all else that a statement does
//	around.go   what is around a use
package use
