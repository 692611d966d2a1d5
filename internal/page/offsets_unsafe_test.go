//go:build linux && amd64

package page

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestTheRuntimeIsKnownOnABusyMachine: what is found out when a program starts does not depend on how
// long its threads have to wait for a processor.
func TestTheRuntimeIsKnownOnABusyMachine(t *testing.T) {
	Setup()
	const threads = 6
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	var stop atomic.Bool
	defer stop.Store(true)
	for range threads - 2 {
		go func() {
			for !stop.Load() {
			}
		}()
	}
	for range 20 {
		if got := statusOffset(); got == 0 || got != ctl.status {
			t.Errorf("the status is at %d, and %d when the program started", got, ctl.status)
		}
		if got := preemptOffset(); got == 0 || got != ctl.preempt {
			t.Errorf("the wish to preempt is at %d, and %d when the program started", got, ctl.preempt)
		}
	}
}
