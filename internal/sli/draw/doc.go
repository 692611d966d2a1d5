// Package draw shows machines to people: as text, as a graph, as a picture, and in words.
//
// The machine of a function that reads a counter twice is, as text,
//
//	at steady:b0.0: s0
//	s0: if load(count@b0.0) != load(count@b0.1) then crash else no-crash
//
// and in words
//
//	It reads count at meter.go:17.
//	It reads count again at meter.go:18.
//	It fails if the second reading of count differs from the first.
//
// Text, graph and picture are in the engine's notation, for -machine and for tests. Sentences have
// the program's own names and nothing of that notation: what has no name is described.
//
// # Files
//
//	text.go      one line for each state
//	notation.go  how to tell such lines from sentences
//	dot.go       a graph for Graphviz, in the engine's notation
//	graph.go     a graph in words, as data for pages
//	svg.go       a picture
//	words.go     a few sentences
//	phrases.go   the words in them
//	doc.go       this comment
package draw
