package stm

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// Prefetch has the processor fetch the memory of a variable, or the first 512 bytes of it, which a transaction is about
// to access. Nothing is read, so that it is no access, and may be called anywhere.
//
// It is for programs that know what their next transactions are going to access, in memory that no cache has. In plain
// code a processor looks ahead by itself while it waits. It does not look beyond a commit.
func Prefetch[T any](p *T) {
	first := uintptr(unsafe.Pointer(p))
	page.Prefetch(first, first+min(max(unsafe.Sizeof(*p), 1), farthest)-1)
}

// farthest is how many bytes of a variable are fetched: more would push out of the cache what
// was fetched first.
const farthest = 512
