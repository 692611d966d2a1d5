package drive

import (
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestAThreadThatComputesIsBusyAndOneThatWaitsIsNot asks until it is so: when another thread
// gets a processor is up to the machine.
func TestAThreadThatComputesIsBusyAndOneThatWaitsIsNot(t *testing.T) {
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	waits, ended := make(chan struct{}), make(chan struct{})
	var seen atomic.Bool // that it is busy
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		for begin := processorTime(); !seen.Load() && processorTime() < begin+int64(10*time.Second); {
		}
		close(waits)
		syscall.Read(pipe[0], make([]byte, 1))
	}()
	for busy := false; !busy; {
		select {
		case <-waits:
			t.Fatal("a thread has computed, and none was busy")
		default:
			busy = threadsBusy()
		}
	}
	seen.Store(true)
	<-waits
	for threadsBusy() {
		runtime.Gosched()
	}
	if worked, _ := sleep(int64(time.Millisecond)); worked < 0 {
		t.Errorf("worked %d ns", worked)
	}
	syscall.Close(pipe[1])
	<-ended
	syscall.Close(pipe[0])
}

func TestAChildIsThereUntilItWasWaitedFor(t *testing.T) {
	if hasChildren() {
		t.Fatal("a test before has left a child")
	}
	child := exec.Command("cat")
	input, err := child.StdinPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if !hasChildren() {
		t.Error("one that runs is not seen")
	}
	input.Close()
	if err := child.Wait(); err != nil || hasChildren() {
		t.Errorf("%v; there are children: %v", err, hasChildren())
	}
}
