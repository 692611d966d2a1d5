//go:build amd64 && !race

package rt

import "unsafe"

// Only the goroutine that g names and the watchdog change the token while it is g, and with
// GOMAXPROCS at 1 they do not run at the same time. So hooks do without atomic operations,
// which would be a good part of what an access costs. But a goroutine that was preempted
// between finding that it has the token and taking it must not go on: on a busy machine the
// watchdog may have given the token to another meanwhile, and both would be inside. So
// takeToken cannot be preempted: neither can a function without a stack check, nor, in
// instrumented programs, one of package runtime (runtime.CofferdamTake), which is inlined.

// takeToken takes g, if that is what runs, inside.
//
//go:nosplit
//go:noinline
func takeToken(g uintptr) bool { return takeAlone((*uintptr)(unsafe.Pointer(&token)), g) }

//go:nosplit
func takeAlone(token *uintptr, g uintptr) bool {
	if *token != g {
		return false
	}
	*token = g | inside
	return true
}

// setToken is called by the goroutine that has the token.
func setToken(t uintptr) { *(*uintptr)(unsafe.Pointer(&token)) = t }
