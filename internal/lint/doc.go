// Package lint holds the rules of the house as ordinary tests: which package may
// import which, where unsafe and assembly may be, and what tests must not do.
// There is nothing else in it.
package lint
