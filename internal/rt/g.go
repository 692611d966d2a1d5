//go:build amd64 || arm64

package rt

// Supported reports whether programs can be brought under control on this platform.
// Where they cannot, every hook does the plain operation and Run panics.
func Supported() bool { return seesClosed }

// here names the running goroutine, by the address of its g, and its stack.
func here() (who, lo, hi uintptr)

// returns walks up the stack: where the calls return to, the innermost first, and at most
// so many.
//
//go:noescape
func returns(pcs *[8]uintptr, most int) int

// framePointer returns the frame pointer of its caller or of the caller's caller. It points
// to two words on the stack, the frame pointer of the next frame and the return address.
func framePointer() uintptr
