//go:build amd64 || arm64

package page

// G names the running goroutine: the address of its g, which the runtime uses again
// only for another goroutine after this one has ended.
func G() uintptr

// StackDepth is how much of its stack the running goroutine uses, in bytes.
func StackDepth() uintptr
