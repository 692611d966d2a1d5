//go:build amd64 || arm64

package page

// G names the running goroutine: the address of its g, which the runtime uses again
// only for another goroutine after this one has ended.
func G() uintptr

// StackDepth is how much of its stack the running goroutine uses, in bytes.
func StackDepth() uintptr

// Prefetch has the processor fetch the cache lines of some bytes, and does not wait for them.
// Any address will do: one that is not there is ignored.
func Prefetch(first, last uintptr)
