// Package isolate keeps data that is guarded by a lock on pages that only the
// lock's holder can reach. Code that skips the lock is stopped at the page until
// the section ends, and reported.
//
//	var mu isolate.Mutex
//	acct := isolate.New[Account](&mu) // anybody may have this pointer
//
//	mu.Lock()
//	a := isolate.Own(&mu, acct) // the holder's view of the same memory
//	a.Balance += 10
//	mu.Unlock()
//
//	acct.Balance = 0 // careless: waits for the section, then happens
//
// # Terms
//
// A guard is one lock ([Mutex] or [RWMutex], or any other: [Foreign]) with the data
// allocated for it. A
// section is what happens between Lock and Unlock. Careful code takes the lock
// and goes through [Own]; careless code uses the pointer as it is. A careless
// access that falls into a section is a violation: it is delayed until the
// section has ended or, where that would hang the program, surrendered, that is
// let through. Either way there is a [Finding].
//
// # What is promised
//
// A section sees no write and shows no intermediate state to careless code, but
// for the accesses that are reported as surrendered. A careless access that
// falls into no section proceeds, and a program without careless accesses runs
// as it would with plain locks. What happens is always something that could
// have happened without this package: accesses are delayed, never changed.
//
// It works for code that cannot be rewritten and was never seen before: plug-ins,
// generated code, C. Only the code inside sections has to know about [Own].
//
// # What a section costs
//
// Two to three nanoseconds more than one with a sync.Mutex, as long as nobody is
// careless. The first careless access after a section costs a fault (4 µs) and the
// next section has to protect the pages again (1.5 µs, or 10 µs in virtual machines
// where another core has to be interrupted). A guard takes at least one page of
// memory, 4 KiB.
//
// # What may be guarded
//
// The garbage collector does not look into guarded memory, so a guarded type
// holds no pointers, strings, slices, maps, channels, functions or interfaces:
// numbers, arrays and structs of these. [New] refuses other types and names the
// field. Guarded objects refer to each other by [Ref].
//
// # Surrender
//
// A careless access waits at most [Config.LongestWait]. It gives up at once if
// the section's goroutine itself waits for a lock of this package that the
// careless goroutine holds, for then nobody would ever go on. And it gives up
// within milliseconds where the garbage collector would have to wait for it: at
// an instruction that cannot be preempted, as in copy and whatever else the
// runtime does in assembly, while it wants to stop the goroutine. The page is open
// from then on to the next Lock.
//
// While it waits it gives its processor to other goroutines, so that sections, timers and
// whatever else the program does go on. At an instruction that cannot be preempted, and
// anywhere under GODEBUG=asyncpreemptoff=1, it keeps the processor; as soon as all
// processors are kept in this way, which is at once with GOMAXPROCS=1, it gives up.
//
// Six readers of an RWMutex are known by name at a time; a cycle through another one is
// found by the longest wait alone.
//
// # System calls
//
// The kernel does not wait at protected pages: a system call that is given
// guarded memory through the shared pointer, such as Read into a guarded
// buffer, fails with EFAULT if the page is protected at that moment. Inside a
// section, give it the own view, which is never protected.
//
// # Platforms
//
// linux/amd64 with userfaultfd(2), or mprotect(2) where that is refused, as in
// some containers. Everywhere else the locks are plain locks and the memory is
// plain memory; [CurrentStatus] says which and why. The environment variable
// COFFERDAM_ISOLATE chooses a backend: userfaultfd, mprotect or none.
//
// With mprotect each guard takes up to two mappings, of which the kernel allows a process
// 65,530 (vm.max_map_count). When there are none left all guarded memory is opened, for good:
// a finding says so, and so does CurrentStatus.
//
// # How it is built
//
// Package page holds the memory and the handler. Here are the locks (mutex.go,
// rwmutex.go, foreign.go), the guard behind a lock (guard.go), its allocator (alloc.go), the
// check of types (layout.go), pointers and references (own_unsafe.go), and the
// report (report.go), with what it tells in builds for the race detector (race_on.go,
// race_off.go).
//
// Lock order: the user's lock, then guard.mu, then the locks of package page. The
// reporter holds none of these while it calls the user's functions.
package isolate

import (
	"fmt"
	"reflect"
	"sync"
)

// A Guard is a lock of this package, a *[Mutex], an *[RWMutex] or a *[Foreign], or a
// pointer to a struct that embeds one.
type Guard interface {
	sync.Locker

	// door returns the way to the guard, and whether the mutex of its latch is all
	// there is around its sections.
	door() (*door, bool)
}

// A Lock is a pointer to a lock of this package.
type Lock interface{ *Mutex | *RWMutex | *Foreign }

// New allocates a zero T that belongs to the guard and returns its shared
// pointer, which everybody may have: careful code gives it to [Own], careless
// code uses it. The lock need not be held. New panics if a T holds pointers, or
// the guard is closed.
func New[T any](l Guard) *T {
	return (*T)(open(l).allocate(reflect.TypeFor[T](), 1))
}

// NewOwn is [New] for a section: it returns the holder's view of the new object,
// for which [RefTo] makes references as for the shared one. The calling goroutine
// must hold the lock.
func NewOwn[T any, L Lock](l L) *T {
	return Own(l, New[T](Guard(l)))
}

// MakeSlice allocates a slice of n zero elements that belongs to the guard. It
// cannot be appended to: append would move the data off the guard's pages.
func MakeSlice[T any](l Guard, n int) []T {
	if n < 0 {
		panic(fmt.Sprintf("isolate: MakeSlice of %d elements", n))
	}
	if n == 0 {
		return []T{}
	}
	return sliceAt[T](open(l).allocate(reflect.TypeFor[T](), n), n)
}

// Free returns the memory of an object to its guard. Nothing may use the object
// any more, in either view. Free panics if p is not the pointer that [New]
// returned, or [Own] made of it, for this guard, or was freed before.
func Free[T any](l Guard, p *T) {
	open(l).free(pointer(p))
}

// FreeSlice is [Free] for what [MakeSlice] returned.
func FreeSlice[T any](l Guard, s []T) {
	if len(s) > 0 {
		Free(l, &s[0])
	}
}
