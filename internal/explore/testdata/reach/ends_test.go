package reach

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"testing"
)

func compute() (n int) {
	for n = 1; n != 0; n += 2 {
	}
	return n
}

func TestEndComputes(t *testing.T) {
	done := make(chan int)
	go func() { done <- compute() }()
	<-done
}

func TestEndWaitsForAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Read(make([]byte, 1))
}

func TestEndWaitsForAProcess(t *testing.T) {
	done := make(chan int)
	go func() {
		exec.Command("/bin/sleep", "600").Run()
		close(done)
	}()
	<-done
}

func TestEndIsKilled(t *testing.T) { syscall.Kill(os.Getpid(), syscall.SIGKILL) }

// What code outside control does when it is written to.
type (
	exits    struct{}
	panics   struct{}
	overruns struct{}
)

func (exits) Write([]byte) (int, error)  { os.Exit(7); return 0, nil }
func (panics) Write([]byte) (int, error) { panic("outside") }

func (overruns) Write(p []byte) (int, error) {
	debug.SetMaxStack(1 << 20)
	return overrun(len(p)), nil
}

func overrun(n int) int { return overrun(n+1) + 1 }

func writeTo(w interface{ Write([]byte) (int, error) }) {
	cmd := exec.Command("/bin/echo", "x")
	cmd.Stdout = w
	cmd.Run()
}

func TestEndExits(t *testing.T)  { writeTo(exits{}) }
func TestEndPanics(t *testing.T) { writeTo(panics{}) }

func TestEndOverruns(t *testing.T) { writeTo(overruns{}) }

// Two goroutines wait for each other, and neither stores anything any more.
func TestEndSpinsForEver(t *testing.T) {
	var a, b atomic.Bool
	go func() {
		for !a.Load() {
			runtime.Gosched()
		}
		b.Store(true)
	}()
	for !b.Load() {
	}
	a.Store(true)
}

// Nothing waits for the goroutine, which waits for nothing that can come.
func TestEndLeavesASpinner(t *testing.T) {
	var stop atomic.Bool
	go func() {
		for !stop.Load() {
			runtime.Gosched()
		}
	}()
}
