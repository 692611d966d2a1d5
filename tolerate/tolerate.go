// Package tolerate lets critical sections work on private copies of the data that
// their lock guards. What code that skips the lock does in the meantime cannot reach
// the section; at its end the race is recognised, classified, and tolerated or
// resolved, and reported. It is the system of the paper "ToleRace", for Go.
//
//	var mu tolerate.Mutex
//	balance := tolerate.Guard(&mu, &acct.balance, tolerate.Delta)
//
//	mu.Lock()
//	*balance.Own() += 10 // the section's copy
//	mu.Unlock()          // published here
//
//	acct.balance += 100 // careless: both changes count, and there is a finding
//
// # Terms
//
// A guard is one lock with the variables that it guards. A section is what happens
// between Lock and Unlock. Careful code takes the lock and uses its copies; careless
// code uses the variable as it is. A careless write that falls into a section is a
// race, and makes a [Finding].
//
// The paper calls the variable V, the section's copy V′, and what the section began
// with V″. At the end of the section
//
//   - V = V″: nobody wrote, or it was put back: V becomes V′.
//   - V ≠ V″, and V′ = V″: the section did not change it. V stays: it is as if careless
//     code had run after the section. The race is tolerated.
//   - V ≠ V″, and the section did not depend on what was there ([Var.Set]): V
//     becomes V′: it is as if careless code had run before the section. The race is
//     tolerated.
//   - else both have changed it, and the [Resolver] of the variable decides. Without
//     one V stays, which is the closed form (1) of the paper. The race is resolved.
//
// Each field of a struct, and each element of an array, is such a V by itself, unless
// the variable has a resolver, which gets it as a whole.
//
// # What is promised
//
// A section sees no careless write, and careless code sees no intermediate value of a
// section. Of the classes of races in table 2 of the paper, XwR, WrW, RXwW and RrwR
// end as if the two had run one after the other. WrwX does if the section says that it
// depends on nothing, by Set. RrwX, where both update what they have read, cannot: for
// a counter [Delta] makes it right all the same, and other resolvers for other data.
//
// The values that are left do not always tell which of the classes it was: reads leave
// no trace. A finding names all that it can be ("I, III, IVb or IVc"). A rewriter that has
// all uses of a variable call [Read] and [Write] has it told exactly, and IVc not happen.
//
// Variables are independent of each other: by lemmas 1 and 2 of the paper careless code
// that uses two variables may appear to have done so in another order.
//
// # What may be guarded
//
// Everything: copies are ordinary Go values in memory that the garbage collector knows.
// They are made by assignment. What a variable points to is not copied; for the entries
// of a map, and for slices that are appended to, see [GuardMap] and [GuardSlice].
//
// # The end of a section
//
// A variable of one word (numbers, truth values, pointers, maps, channels, functions) is
// published by a compare-and-swap. A careless write is then either before it, and seen,
// or after it, and stands: there are none of the windows A_P and B_P that the paper has
// to leave open. A struct is published field by field in this way.
//
// Strings, slices, interfaces and complex numbers have two or three words, for which
// there is no compare-and-swap in Go, and so have 64-bit numbers on 32-bit systems.
// They are compared and then assigned, and so are pointers in sections that a rewriter
// has written out, where the compare-and-swap would cost as much as the lock. A careless
// write that falls between, in a few nanoseconds, is lost or torn, as it may be at any
// time without this package; and arrays of more than 1024 parts are compared and
// assigned as a whole. Under the race detector this holds for variables of one and two
// bytes too, which otherwise are swapped with their neighbours in the word.
//
// Copying is repeated, a few times, until two readings agree, so that a section does not
// begin with half of a string.
//
// A resolver is asked again when careless code writes while it decides. Against code that
// writes all the time it would never end: after a thousand times the result is published
// over what is there, and [Stats] counts it as forced. A section that a rewriter has written
// out asks no resolver where it adds to a number, or where its value stands: one instruction
// adds the difference, or exchanges the value, whatever careless code does.
//
// # The memory model
//
// Careless code races, by definition, and the race detector says so: the copies are read
// and published by atomic operations where there are any, but they are not ordered
// with a plain access to the same variable. Programs in which all code is careful have
// no data races, and keep having none.
//
// # What a section costs
//
// With one word in it three times as much as with a sync.Mutex: 15 ns where that takes 5.
// Each further variable of one word adds 8 ns, each field of a struct, and a string, some
// 30 ns. A section that a rewriter has written out ([Label]) takes one and a half times as
// much as with a sync.Mutex.
// Nothing is allocated. A race takes microseconds. These are the least of many short
// runs, on an AMD EPYC:
//
//	go test -run xxx -bench Section -benchtime 3ms -count 60 ./tolerate
//
// # How it is built
//
//	class.go           the classes of races, and what values tell of them
//	resolve.go         resolvers
//	layout_unsafe.go   a type as a list of units; how a unit is loaded and published
//	cell_unsafe.go     a variable in a section: entry, exit, resolution
//	var_unsafe.go      Guard and Var
//	guard.go           the variables of a lock
//	mutex.go, rwmutex.go
//	overlap.go         variables under several locks (section 3.3 of the paper)
//	field_unsafe.go    how a kind of variable is called, copied and resolved
//	merge_unsafe.go    what a straight section makes of a change and a careless one
//	add_unsafe.go      additions without the lock that a rewriter makes atomic
//	map_unsafe.go      maps whose entries a straight section has copied
//	straight_unsafe.go what is written into sections whose variables are known in advance
//	batch.go           memory that such a section finds on its way: elements, fields of nodes
//	entries_unsafe.go  the same for entries of maps
//	exact_unsafe.go    straight sections where all other uses of the variables say what they do
//	report.go          findings and statistics
//
// The oracle of the paper, with its tables and theorems, is in the tests, and the run
// time is compared with it on every interleaving that it enumerates.
//
// Lock order: the user's lock, then RWMutex.reading, then overlap.mu; observer.mu after the user's
// lock, and a careless access has it alone. A guard.mu, and the
// locks of the report, are taken alone or last; none is held while a resolver runs except
// for those first three, and none at all while a subscriber does.
//
// checked.go and unchecked.go say whether a detector watches which bytes are accessed.
package tolerate
