// Package unwind initialises lazily by two flags: the kernel of glibc bug 2644, as
// the compiler had optimised it.
package unwind

var (
	unwinder func() int
	done     bool
)

func force() int { return 1 }

// Unwind calls the unwinder, which the first caller installs. A caller that finds
// it missing believes the other flag, and calls what it saw.
func Unwind() int {
	f := unwinder
	if f == nil && !done {
		f = force
		unwinder = f
		done = true
	}
	return f()
}

// Reset forgets the unwinder. Nobody may be unwinding.
func Reset() {
	done = false
	unwinder = nil
}
