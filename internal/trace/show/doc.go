// Package show makes what is in a trace readable.
//
//	text.go      an event as a line for a person
//	json.go      an event as a line for a program
//	value.go     memory as values of Go
//	summary.go   a trace in a few lines
//	timeline.go  a trace as columns of goroutines, steps.go which of its steps
//	access.go    the sides of a race, and the calls in progress
//	waiting.go   goroutines that wait for ever, in words
//
// An event of a trace is numbers and bytes:
//
//	{Seq: 12, G: 2, Kind: Store, Site: 7, Addr: 0xc000012018, Before: 04 00 .., After: 05 00 ..}
//
// With the table of sites and the allocations before it, that becomes
//
//	12  g2  store  (*Counter).Inc  counter.go:12:4  c.n  0xc000012018 obj3+8  4 -> 5
//
// Nothing that is made here is read back: what decides something works on the trace.
package show
