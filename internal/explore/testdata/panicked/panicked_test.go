// Package panicked holds tests that end with a panic whose value was recovered before it reached the end of
// its goroutine. The last word of each test's name is the function in which the panic begins.
package panicked

import (
	"errors"
	"sync"
	"testing"
)

func store(m map[string]int) { m["a"] = 1 }

func give() { panic(errors.New("no")) }

// holdUp recovers a panic, and panics with the same value again.
func holdUp(f func()) {
	defer func() {
		if v := recover(); v != nil {
			panic(v)
		}
	}()
	f()
}

// rename recovers a panic, and panics with another value.
func rename(f func()) {
	defer func() {
		if v := recover(); v != nil {
			panic("renamed")
		}
	}()
	f()
}

// swallow recovers a panic, and goes on.
func swallow(f func()) {
	defer func() { _ = recover() }()
	f()
}

func TestWaitGroup_store(t *testing.T) {
	var wg sync.WaitGroup
	wg.Go(func() { store(nil) })
	wg.Wait()
}

func TestHeldUp_give(t *testing.T) { holdUp(give) }

func TestHeldUpTwice_give(t *testing.T) {
	var wg sync.WaitGroup
	wg.Go(func() { holdUp(func() { holdUp(give) }) })
	wg.Wait()
}

func TestRenamed_rename(t *testing.T) { holdUp(func() { rename(give) }) }

func TestAfterAnother_store(t *testing.T) {
	swallow(give)
	holdUp(func() {
		swallow(give)
		store(nil)
	})
}
