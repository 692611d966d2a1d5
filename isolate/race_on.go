//go:build race

package isolate

// blinded is what the race detector does not see.
const blinded = "this is a -race build: the race detector knows memory by its address, and takes the two views of guarded memory for different memory, " +
	"so that it does not report races between sections and careless code"
