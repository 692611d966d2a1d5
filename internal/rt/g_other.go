//go:build !amd64 && !arm64

package rt

// Supported reports whether programs can be brought under control on this platform. It
// takes a few lines of assembly to tell which goroutine calls a hook, and there are none
// for this one: every hook does the plain operation and Run panics.
func Supported() bool { return false }

func here() (who, lo, hi uintptr) { return 0, 0, 0 }

func returns(*[8]uintptr, int) int { return 0 }

func framePointer() uintptr { return 0 }
