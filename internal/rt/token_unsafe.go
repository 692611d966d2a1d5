//go:build amd64 && !race

package rt

import "unsafe"

// Only the goroutine that g names and the watchdog change the token while it is g,
// and with GOMAXPROCS at 1 they do not run at the same time. So hooks do without atomic
// operations, which would be a good part of what an access costs. What matters is that a
// goroutine which was preempted in the middle of takeToken still has the token when it
// goes on. All that the watchdog does at once is to add suspect, which is lost then, as
// it should be; the token it takes only from a goroutine that had several turns since
// (patience).

// takeToken takes g, if that is what runs, inside.
func takeToken(g uintptr) bool {
	if token.Load() != g {
		return false
	}
	setToken(g | inside)
	return true
}

// setToken is called by the goroutine that has the token.
func setToken(t uintptr) { *(*uintptr)(unsafe.Pointer(&token)) = t }
