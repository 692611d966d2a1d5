// Package mem is the memory of an emulated process.
//
// A [Space] is an address space: areas, each with a protection and what it is filled
// with, and pages, which come into being when they are touched. A page belongs to the
// generation of the space that made it. Older pages are never written: a store to one
// copies it first. That is what makes a snapshot free: [Space.Snapshot] starts a new
// generation and remembers where in the journal it was; [Space.Restore] takes the pages
// of the newer generations out again, in the order of the journal. The cost of both is in
// proportion to the pages written in between. Pages of files and the page of zeroes belong
// to no generation and are shared by all spaces.
//
// # Access
//
// Loads and stores look into a small table of the pages used last, which also says what
// may be done to them; all else is on the slow path: page faults, protection, accesses
// across the end of a page, copies. An access that is not allowed panics with a [Fault],
// which the processor turns into a signal: the alternative, an error result on every
// access, would be paid for by every one that is allowed.
//
// [Space.Watch] has every access written down, with the value before and after. It
// swaps the table for one that is always empty, so that accesses take the slow path by
// themselves and an unwatched access does not pay for the possibility.
//
// # Code
//
// Instructions are read with [Space.Fetch]. A store to a page that code was
// fetched from, and a change of an executable area, changes [Space.CodeVersion].
//
// A Space is used by one goroutine at a time. Spaces made by [Space.Clone] share pages
// that none of them writes, and are independent of each other.
//
//	page.go      pages, files, and the table of the pages used last
//	space.go     areas: mapping, protection
//	access.go    loads and stores of instructions
//	bytes.go     those of everything else
//	snapshot.go  generations and the journal
package mem
