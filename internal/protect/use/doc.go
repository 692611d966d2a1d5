// Package use finds out how uses of variables can be written in another way, from the nodes around them.
//
// # Holding on to objects
//
// The use of an object's field that is on pages has to hold on to the object until it is done. It finds
// the page first, by a pointer that the collector does not know, and then loads or stores. If the
// object became garbage in between, and gave its page back, that would end the program.
//
//	return t.n         can be a call, which holds on to the object until it has the value
//	t.n = v            can be a block, which names the object behind the statement
//	t.n = <-c          has the page for as long as c is empty, and loads other variables after
//	use(t.n, f())      that: to write these in another way would change their order
//	t.a[i]             may be all that is used of t.a by this goroutine: a call would load more
//	for ; ; t.n++ {    has no room for a block
//	p := &t.n          has a pointer that is used later; so has t.a[:]
//
// A section, which is to release the lock that is in the object, holds on to the object, unless the
// compiler may know that it never does.
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
// # Files
//
//	hold.go     how uses hold on to objects
//	visit.go    how uses tell what they do
//	around.go   what is around a use
package use
