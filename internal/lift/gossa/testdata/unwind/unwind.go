// Package unwind is the kernel of glibc bug 2644, figure 6 of the paper, as the
// compiler made it: the pointer is loaded once. The harness resets it between
// rounds, when nobody runs.
package unwind

import "sync"

var (
	forcedUnwind func()
	doneInit     bool
)

func impl() {}

func unwind() {
	l := forcedUnwind          // 1
	if l == nil && !doneInit { // 3
		l = impl
		forcedUnwind = impl // 4
		doneInit = true     // 6
	}
	l() // 8
}

func Run() {
	for range 3 {
		var wg sync.WaitGroup
		wg.Add(2)
		for range 2 {
			go func() {
				defer wg.Done()
				unwind()
			}()
		}
		wg.Wait()
		doneInit = false   // 13
		forcedUnwind = nil // 14
	}
}
