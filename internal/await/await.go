// Package await lets tests wait for what other goroutines bring about. It is support for
// tests alone.
//
// A test asserts nothing about how long something takes: a machine may be slow, or busy
// with other things. So the only limit is one that ends a test which would otherwise hang,
// and says with the stacks of all goroutines where. It is a share of the time that go test
// gives the whole test binary, and long beside what a busy machine needs.
package await

import (
	"runtime"
	"testing"
	"time"
)

// longest is how long anything is waited for. On a quiet machine all that tests wait for
// happens within a second; a machine with a load of twelve and the race detector together
// made that twenty.
const longest = 2 * time.Minute

// Patience returns how long to wait for something that happens if the code under test is
// right: less than what is left of the time that go test gives the test binary.
func Patience(t testing.TB) time.Duration {
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := d.Deadline(); ok {
			return min(longest, time.Until(deadline)*3/4)
		}
	}
	return longest
}

// Receive waits for a goroutine to deliver. What names the goroutine if it does not.
func Receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	patience := Patience(t)
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("after %v nothing from %s\n%s", patience, what, stacks())
		panic("unreachable")
	}
}

// Until waits for a condition that another goroutine brings about. What says which.
func Until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	patience := Patience(t)
	for deadline := time.Now().Add(patience); !cond(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("after %v it is still not so that %s\n%s", patience, what, stacks())
		}
	}
}

// Start runs f on a goroutine of its own, for [Receive] to wait for.
func Start[T any](f func() T) <-chan T {
	c := make(chan T, 1)
	go func() { c <- f() }()
	return c
}

func stacks() []byte {
	buf := make([]byte, 1<<20)
	return buf[:runtime.Stack(buf, true)]
}
