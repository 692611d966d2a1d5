// Package slitest is test support for the engine and its front ends: a simulator that
// runs lifted programs under a given schedule, traces in memory, and a builder of programs and of functions with a
// given control flow. No product code imports it.
//
//	simulate.go  a Host that runs a program and records a trace
//	sync.go      the synchronisation operations of simulated programs
//	extern.go    what simulated programs call outside themselves
//	schedule.go  every schedule of a program
//	log.go       a trace in memory
//	build.go     programs made by hand
//	graph.go     functions with a given control flow
package slitest
