// Package slitest is test support for the engine and its front ends: a simulator that
// runs lifted programs under a given schedule or under all of them, traces in memory, and
// programs made by hand. No product code imports it.
//
// The simulator shares the execution of instructions with the product, and nothing else:
// memory, locks, channels and the choice of the next thread are its own. What it says of a program
// is therefore independent of what recording, exploring or analysing say.
//
//	b := slitest.NewBuilder()
//	inc := b.Func("inc")
//	inc.Store("n", ir.Binary(ir.OpAdd, ir.Signed, inc.Load("n", 8), ir.Number(8, 1)))
//	inc.Return()
//	main := b.Func("main")
//	main.Spawn(inc)
//	main.Spawn(inc)
//	main.Return()
//	p := b.Program()
//	for o := range slitest.Schedules(func() *slitest.Simulation { return slitest.NewSimulation(p) }, main.Func) {
//		// o.Simulation.Peek(...) is 1 or 2
//	}
//
// # Files
//
//	simulate.go  a Host that runs a program and records a trace
//	sync.go      the synchronisation operations of simulated programs
//	extern.go    what simulated programs call outside themselves
//	schedule.go  every schedule of a program
//	build.go     programs made by hand
//	graph.go     functions with a given control flow
//	doc.go       this comment
package slitest
