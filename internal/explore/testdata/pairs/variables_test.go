package pairs

import (
	"sync"
	"testing"
)

// Package-level variables that are filled at the first use, once in a process.

var settings map[string]string

func setting(name string) string {
	if settings == nil {
		settings = map[string]string{}
		settings["mode"] = "fast"
	}
	return settings[name]
}

func TestBugFirstUse(t *testing.T) {
	both(
		func() { setting("mode") },
		func() {
			if got := setting("mode"); got != "fast" {
				t.Error(got)
			}
		})
}

var (
	tables  sync.Once
	squares map[int]int
)

func square(n int) int {
	tables.Do(func() { squares = map[int]int{1: 1, 2: 4} })
	return squares[n]
}

func TestFineFirstUse(t *testing.T) {
	both(
		func() { square(1) },
		func() {
			if got := square(2); got != 4 {
				t.Error(got)
			}
		})
}

// The second of two callers finds the flag set, and not yet what it stands for. Nothing
// races: all accesses are atomic or under the lock.
var (
	openMu  sync.Mutex
	opened  bool
	backend *sync.Map
)

func open() *sync.Map {
	openMu.Lock()
	first := !opened
	opened = true
	openMu.Unlock()
	if first {
		openMu.Lock()
		backend = new(sync.Map)
		openMu.Unlock()
	}
	openMu.Lock()
	defer openMu.Unlock()
	return backend
}

func TestBugFirstUseUnderLock(t *testing.T) {
	both(func() { open().Store("a", 1) }, func() { open().Load("a") })
}

var registry = sync.OnceValue(func() *sync.Map { return new(sync.Map) })

func TestFineFirstUseOfAValue(t *testing.T) {
	both(func() { registry().Store("a", 1) }, func() { registry().Load("a") })
}
