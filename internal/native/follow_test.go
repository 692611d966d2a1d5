//go:build linux && amd64

package native

import (
	"errors"
	"testing"
)

// TestThreadsPassPlacesAsOftenAsTheRouteSays: thousands of times, with threads that wait for
// each other in between, and each time the program fails as it must.
func TestThreadsPassPlacesAsOftenAsTheRouteSays(t *testing.T) {
	const (
		program  = "../../examples/binary/bin/toctou.O2"
		store    = 0x85c // of the counter, by thread 2
		second   = 0x88e // load of it, by thread 3
		failing  = 3
		starting = 1
	)
	for range 5 {
		f, err := Follow(&Launched{Path: program, Args: []string{"toctou", "3000"}}, &Route{
			Legs: []Leg{
				{Thread: starting}, // which waits for the others
				{Thread: 2, At: store, Count: 1000}, {Thread: failing, At: second, Count: 1500},
				{Thread: starting}, // and does so still
				{Thread: 2, At: store, Count: 1002},
			},
			Failing: failing,
		})
		if errors.Is(err, ErrRefused) {
			t.Logf("nothing was followed: %v", err)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if f.Why != "" || f.Legs != 5 || f.Signal != "SIGABRT" {
			t.Errorf("%+v", f)
		}
	}
}

// TestWhatCannotBeFollowedIsSaid: a place that is passed less often than the route says.
func TestWhatCannotBeFollowedIsSaid(t *testing.T) {
	f, err := Follow(&Launched{Path: "../../examples/binary/bin/toctou.O2", Args: []string{"toctou", "3"}}, &Route{
		Legs: []Leg{{Thread: 1}, {Thread: 2, At: 0x85c, Count: 4}}, Failing: 2,
	})
	if errors.Is(err, ErrRefused) {
		t.Logf("nothing was followed: %v", err)
		return
	}
	if err != nil || f.Why != "thread 2 comes to 0x85c fewer than 4 times" || f.Legs != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}
