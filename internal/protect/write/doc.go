// Package write makes the texts of protected programs: it turns a plan into edits of the
// source. Nothing is decided here. Package plan says what becomes of each hazard and why;
// this package knows how it is spelled.
//
// # Lines
//
// All is written into the lines that it belongs to, so that positions in panics and
// traces stay. Declarations that are added stand at the end of the file, and clones have
// the positions of their originals.
//
//	x.mu.Lock()       x.mu.Lock(); cofferdam0s1v0 := x.n; ...
//
// # Names
//
// All names begin with a word that no identifier of the package begins with. In these,
// i is the number of the variable or slot:
//
//	0s1     section 1 of file 0: whether there are copies
//	0s1vi   the copy, 0s1bi what it was, 0s1ni the entries its map had, 0s1pi its address
//	0s1li   what findings say of it
//	0s1oi   a slot: with p the object, v the copy, b what it was, c a pointer to the copy, f
//	        the function that publishes it
//	0s1hi   a batch: with f the function that publishes it, l what findings say of it, n a number of a copy
//	0s1wi   what is assigned to an element
//	0s1ei   what a step loads of pages before the section is interrupted for it
//	0s1gi   the pages of the object with the lock, or its wicket, and 0s1ji its guard where the function begins
//	0c1f    clone 1 of function f, with its parameters q0, q1
//	g1, p1, o1, x1, t1, v1  what is on pages: guard, shared view or cell, own view, field, type,
//	        type of a cell's value
//	y1, t1, l1, s1, a1      what is behind a wicket: guard, its names, methods that load it, store to it
//	        and say where it is
//	e1, f1, w1, u1, d1, n1  methods for the entries of a map behind a wicket: look one up, find out whether there is
//	        one, store it, update it, delete it, and count them
//	m1x0    methods for parts of what is behind a wicket, and for the elements of a slice
//	r1, c1  methods by which sections read and change a field of a node
//	0s1t    the section by which nodes are stamped, 0s1q what it shares with others, q1 that in the object with the lock
//	k0, w0  cells and values of an assignment
//	k, w, p an update of what is behind a wicket: where that is, the value, the passage
//	k, w    the address and the value of a store without the lock
//	rt, watch, aside, i1    packages
//
// # Files
//
//	write.go     packages and files
//	section.go   sections: taking, publishing, interrupting
//	stranded.go  leaving guards by a panic, where the function begins
//	put.go       publishing one variable
//	slot.go      slots
//	batch.go     batches
//	clone.go     clones and their calls
//	pages.go     data on pages
//	cell.go      pointers on pages, and how uses of them and of what is behind wickets are written
//	wicket.go    fields behind wickets
//	entry.go     entries of maps behind wickets
//	part.go      parts and elements behind wickets
//	node.go      fields of nodes
//	visit.go     uses without the lock, where sections are exact
//	program.go   main
package write
