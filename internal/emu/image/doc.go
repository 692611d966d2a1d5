// Package image puts ELF programs into the memory of an emulated process, as the kernel does
// before the first instruction: their segments, and a first stack with arguments, environment
// and auxiliary vector. A dynamic linker is loaded in the same way, and does the rest itself.
//
// Addresses are fixed, as on a machine that does not randomise, so that every run of a program
// has the same.
//
//	load.go   segments
//	stack.go  the first stack
package image
