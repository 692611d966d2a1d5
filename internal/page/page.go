// Package page is the memory under isolate: an arena that is mapped twice, the
// gates that say which goroutine may reach which part of it, and the signal handler that
// stops an access at the page until its gate lets it pass.
//
// # Terms
//
// The arena is one memory file mapped at two places. The shared view is what
// everybody holds pointers into; its pages can be protected. The own view shows
// the same physical pages one fixed bit of the address away ([OwnBit]); it is
// never protected and is used only by the goroutine that is in a section.
//
// An extent is a run of pages that belongs to one gate. A gate belongs to one
// lock. It is sealed (no page of its shared view can be reached), readable
// (pages may be mapped, but only for reading) or open.
//
// # How it works
//
// Protecting is dropping page-table entries of the shared view, so no byte is
// ever copied and both directions are atomic: the access that comes next either
// finds the page or faults. [Gate.Seal] protects what was opened since the last
// time; it is called by the lock when a section begins and the gate is not
// sealed. A section that ends changes nothing (figure 3 of the Isolator paper):
// in a program without careless accesses a gate is sealed once and for all, and
// a section costs a few stores and one comparison, in [Begin] or [Enter].
//
// A careless access to a sealed page raises a signal on the thread that made
// it. The handler (handler_linux_amd64.s) finds the gate by the page and
//
//   - opens the gate, if nobody is in a section, or the faulting goroutine is
//     itself the holder: the access is retried and succeeds;
//   - otherwise waits for the end of the section, which is a delayed access;
//   - surrenders, when waiting cannot end: the holder waits for a lock that the
//     faulting goroutine holds, the longest wait is over, the runtime wants to stop the
//     goroutine where it cannot be stopped, or all processors are kept by such accesses.
//
// What it did is left in a ring ([Drain]) for a goroutine to report.
//
// # Waiting without a processor
//
// An access that has spun for some microseconds hands its goroutine to the scheduler: the
// handler sets the flag in its g by which the runtime itself asks for a preemption, sends
// the thread the signal for it, and returns. The runtime preempts the goroutine at the
// access, or not, if it cannot; the access comes back when the goroutine runs again. It
// has counted itself out of the wanters by then, because it may never come back: another
// access may have opened the page. So that sections do not always come first, it leaves a
// mark in word when it has waited for long, and the next section to begin steps outside for
// as long as it takes the scheduler to come round. And so that it is not forgotten if it passes unseen, it leaves
// a draft of its record in the ring, which Drain completes when the gate was opened.
//
// # Why a section and an access cannot pass each other
//
// A section takes the lock, then loads word. The handler adds itself to the
// wanters in word, then looks whether the lock is held. Both stores are locked
// instructions, so at least one side sees the other. If the section sees a wanter
// it steps outside, lets the access through and seals again: an access that is in
// the handler waits for the section it fell into, not for the ones queued behind
// it. While there are wanters no seal can begin, and while a seal is under way
// (the busy bit) no wanter looks at the state, so mapping and unmapping never
// overlap.
//
// That the handler looks at the lock itself, one bit of a sync.Mutex, saves a
// second locked instruction in every section. Where the lock cannot be looked at
// (an RWMutex, or a sync.Mutex that a newer Go has changed: see mutexIsKnown) a
// section stores holder with an exchange instead, and the handler looks at that.
//
// # The collector never waits for a section
//
// The handler depends on no goroutine: everything it waits for without a bound
// is done in assembly, which the Go scheduler cannot suspend. When the runtime
// wants to stop the goroutine, which its stackguard0 says, the handler sends
// itself the runtime's signal for it and returns at once. An access that comes back three
// times with no trace of a preemption below its stack is where it cannot be preempted
// (memmove, any assembly); two milliseconds after a wish the handler surrenders.
//
// # Files
//
//	arena.go arena_unsafe.go                     the memory, its two views, runs of pages
//	backend_unsafe.go system_unsafe.go           userfaultfd, mprotect, and their system calls
//	plain_unsafe.go other_unsafe.go              where there is no protection
//	gate.go gate_unsafe.go seat_unsafe.go        which goroutine may reach a guard's pages
//	latch.go latch_unsafe.go                     the lock around sections, with its gate
//	race_on.go race_off.go                       whether there is a race detector
//	control_linux_amd64.go runtime_unsafe.go     what the handler knows, shared with its assembly
//	fault.go ring_unsafe.go                      what it did, and how that gets out
//	goroutine.go goroutine_other.go              which goroutine this is
//	wicket.go wicket_amd64.go wicket_other.go    gates of data that is not on pages: see package wicket
//	barrier_linux_amd64.go barrier_other.go      a fence on all processors, for these
package page

// Size is the size of a page. Kernels with larger pages are refused by the
// probe that runs when the arena is made.
const Size = 4096

// Block is the grain of the allocator's table: see [Meta].
const Block = 512
