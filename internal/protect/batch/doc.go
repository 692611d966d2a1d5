// Package batch finds the expressions of a section that use memory whose address is only known when the section runs: elements of
// slices, fields of nodes, what a pointer leads to; and entries of maps, which have no address. A section has a batch of copies of
// such memory, see package tolerate.
//
//	x.mu.Lock()            x.mu.Lock(); var s tolerate.Batch[int, [2]*int, [2]int]
//	x.list[i]++            (*s.Of(&x.list[i]))++
//	f()                    put(&s); f()
//	use(x.list[i])         use(*s.Of(&x.list[i]))
//	x.mu.Unlock()          put(&s); x.mu.Unlock()
//
// # Why a correct program means the same
//
// A copy is taken when the section first uses the memory, and published before a step that synchronises, so what package plan says of
// variables holds for it: no other goroutine touches the memory in between. All that the section itself does with the
// memory has to go by the batch, or find it published. Nothing is assumed about which slice or pointer leads where. A
// step finds a batch published if an instruction of it, or a function that it calls, may reach memory of the batch's type in any way other than
// by the expressions that are written in another way: through a pointer, by another slice, as a part of something, by the
// name of a variable that a pointer leads to. What is copied, sliced, ranged over or given to the library is reached in that way.
//
//	x.list[i]++; copy(x.list, y)      put(&s); x.list[i]++ ...
//	x.list[i]++; double(x.list)
//	for _, v := range x.list {
//	p := &x.list[i]
//
// A map whose entries have copies has no other name, so all that reaches the entries names the map.
//
// # Order
//
// An expression that becomes a call is evaluated in the order of calls. The compiler evaluates other calls of a
// statement before it loads anything, so none may stand behind an expression. What is assigned is evaluated first, and panics first; so
// does this:
//
//	x.list[i] = f()            func(w int) { *s.Of(&x.list[i]) = w }(f())
//
// Of several values that are assigned together some might have been assigned when an address panics, unless all addresses are
// loaded from first, as by an exchange.
//
// # Units
//
// What has one copy is a unit. It is as small as the section uses it: of x.rows[i].n a copy of n is taken, which other goroutines do not
// touch either, unless the section uses x.rows[i] as a whole, too.
//
// # Files
//
//	section.go   the batches of a section
//	element.go   expressions, and the memory that they are for
//	entries.go   entries of maps
//	loop.go      loops: what is used in each round, and what a loop only passes by
//	order.go     whether an expression can be a call, and how an assignment is written
//	content.go   what of a variable's elements and entries is open, and where
package batch
