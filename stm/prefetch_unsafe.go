package stm

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// Prefetch says that a transaction is about to access a variable: the processor fetches its
// memory, or the first 512 bytes of it, meanwhile. Nothing is read, so that it is no access, and can be said anywhere.
//
// It is for programs that know what the next transactions are going to access, in memory that
// no cache has. In plain code a processor finds out by itself: it works on what comes next
// while it waits. A commit is where it does not see beyond.
func Prefetch[T any](p *T) {
	first := uintptr(unsafe.Pointer(p))
	page.Prefetch(first, first+min(max(unsafe.Sizeof(*p), 1), farthest)-1)
}

// farthest is how many bytes of a variable are fetched: more would push out of the cache what
// was fetched first.
const farthest = 512
