// Package handover has tests whose goroutines go outside control and come back: they wait for
// processes, and for what goes through pipes. Each counts what comes back.
package handover

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

const workers = 3

// TestProcesses: what comes back from a process goes over a channel at which another goroutine
// waits.
func TestProcesses(t *testing.T) {
	ends := make(chan error)
	for range workers {
		go func() { ends <- exec.Command("true").Run() }()
	}
	for range workers {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
}

// TestPipes: goroutines read and write pipes, and hand on what they read.
func TestPipes(t *testing.T) {
	lines := make(chan string)
	for i := range workers {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			fmt.Fprintln(w, i)
			w.Close()
		}()
		go func() {
			defer r.Close()
			for s := bufio.NewScanner(r); s.Scan(); {
				lines <- s.Text()
			}
		}()
	}
	seen := map[string]bool{}
	for range workers {
		seen[<-lines] = true
	}
	if len(seen) != workers {
		t.Errorf("%d lines", len(seen))
	}
}

// TestLocksAround: a lock is held while a process is waited for.
func TestLocksAround(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	for range workers {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			if err := exec.Command("true").Run(); err == nil {
				n++
			}
		})
	}
	wg.Wait()
	if n != workers {
		t.Errorf("%d processes", n)
	}
}

// TestTimeouts: a process against a timer that is far away.
func TestTimeouts(t *testing.T) {
	end := make(chan error, 1)
	go func() { end <- exec.Command("true").Run() }()
	select {
	case err := <-end:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Hour):
		t.Error("an hour has passed")
	}
}
