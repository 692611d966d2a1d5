// Package outside leaves something behind that is not in memory, or not its own, or is run in
// other ways than others.
package outside

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync/atomic"
	"testing"

	"example.com/keeper"
)

func TestEnvironment(t *testing.T) {
	const name = "COFFERDAM_OUTSIDE"
	if os.Getenv(name) != "" {
		t.Fatal("again")
	}
	if err := os.Setenv(name, "1"); err != nil {
		t.Fatal(err)
	}
	beside()
}

// beside does something beside the test, which then has more than one schedule.
func beside() {
	done := make(chan bool)
	go func() { close(done) }()
	<-done
}

// TestNotify has package os/signal start a goroutine, once.
func TestNotify(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	defer signal.Stop(c)
	beside()
}

func TestStartsItself(t *testing.T) {
	if os.Getenv("SECOND") != "" {
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStartsItself$")
	cmd.Env = append(os.Environ(), "SECOND=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	beside()
}

func TestCollectsAndFails(t *testing.T) {
	runtime.GC()
	t.Error("always")
}

func TestLeaksAndMayFail(t *testing.T) {
	runtime.GC() // cannot be taken back
	go func() { select {} }()
	var n atomic.Int32
	go n.Add(1)
	if n.Load() == 1 {
		t.Error("the goroutine came first")
	}
}

func TestIsShort(t *testing.T) {
	if !testing.Short() {
		t.Fatal("not short")
	}
}

// The second run in a process finds what the first one has made.
func TestKeeps(t *testing.T) {
	done := make(chan bool, 1)
	go func() { done <- keeper.Pattern("a+b").MatchString("aab") }()
	if !keeper.Pattern("a+b").MatchString("ab") || !<-done {
		t.Error("it does not match")
	}
}
