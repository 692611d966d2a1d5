// Package draw shows machines to people.
//
//	text.go   one line for each state
//	dot.go    a graph for Graphviz
//	svg.go    a picture
//	words.go  a few sentences
package draw
