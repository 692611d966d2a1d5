//go:build !race

package isolate

// blinded is what the race detector does not see: there is none.
const blinded = ""
