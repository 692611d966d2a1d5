// Package reach has tests that go outside control and come back, and tests that do not.
package reach

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A sender sends what is written to it, from a goroutine of package os/exec.
type sender chan string

func (s sender) Write(b []byte) (int, error) {
	s <- string(b)
	return len(b), nil
}

// TestOutsideSends: the test waits natively for a goroutine that waits natively for one that
// is parked.
func TestOutsideSends(t *testing.T) {
	lines, count := make(sender), make(chan int)
	go func() {
		n := 0
		for some := range lines {
			n += strings.Count(some, "\n") // on a busy machine both come at once
		}
		count <- n
	}()
	cmd := exec.Command("/bin/sh", "-c", "echo one; sleep 0.03; echo two")
	cmd.Stdout = lines
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	close(lines)
	if n := <-count; n != 2 {
		t.Errorf("%d lines", n)
	}
}

// A board is written to by a goroutine that is not under control, and read by others.
type board struct {
	mu      sync.Mutex
	changed sync.Cond
	text    bytes.Buffer
}

func (b *board) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p)
	b.changed.Signal()
	return len(p), nil
}

func TestOutsideSignals(t *testing.T) {
	b := &board{}
	b.changed.L = &b.mu
	cmd := exec.Command("/bin/sh", "-c", "echo one; sleep 0.03; echo two")
	cmd.Stdout = b
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	for b.text.Len() < len("one\ntwo\n") {
		b.changed.Wait()
	}
	b.mu.Unlock()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A group is done when a goroutine that is not under control has written to it.
type group struct{ sync.WaitGroup }

func (g *group) Write(p []byte) (int, error) {
	for range bytes.Count(p, []byte("\n")) {
		g.Done()
	}
	return len(p), nil
}

func TestOutsideIsDone(t *testing.T) {
	g := &group{}
	g.Add(2)
	cmd := exec.Command("/bin/sh", "-c", "echo one; sleep 0.03; echo two")
	cmd.Stdout = g
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	g.Wait()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestProcessesAndChannels: goroutines come back from processes and communicate.
func TestProcessesAndChannels(t *testing.T) {
	results, total := make(chan int), new(atomic.Int32)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			out, err := exec.Command("/bin/echo", "hello").Output()
			if err != nil {
				t.Error(err)
			}
			total.Add(1)
			results <- len(out)
		})
	}
	go func() {
		wg.Wait()
		close(results)
	}()
	n := 0
	for r := range results {
		n += r
	}
	if n != 18 || total.Load() != 3 {
		t.Errorf("%d bytes, %d processes", n, total.Load())
	}
}

// TestPipes: what goes through a process and back is read and written under control.
func TestPipes(t *testing.T) {
	cmd := exec.Command("/bin/cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, words := make(chan string), make(chan string, 1)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	go func() {
		defer in.Close()
		for w := range words {
			io.WriteString(in, w+"\n")
		}
	}()
	for _, w := range []string{"one", "two", "three"} {
		words <- w
		if got := <-lines; got != w {
			t.Errorf("got %q", got)
		}
	}
	close(words)
	if _, open := <-lines; open {
		t.Error("one line too many")
	}
	cmd.Wait()
}

// TestFiles: system calls, beside goroutines that hand a lock to each other.
func TestFiles(t *testing.T) {
	var mu sync.Mutex
	turn, cond := 0, sync.NewCond(&mu)
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			f, err := os.Open(os.DevNull)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			mu.Lock()
			defer mu.Unlock()
			for turn != i {
				cond.Wait()
			}
			if _, err := f.Read(make([]byte, 1)); err != io.EOF {
				t.Error(err)
			}
			turn++
			cond.Broadcast()
		})
	}
	wg.Wait()
}
