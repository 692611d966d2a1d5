//go:build unix

package outside

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// A program that takes a moment is not late for a timer that is far away.
func TestAProgramBesideATimer(t *testing.T) {
	done := make(chan error, 1)
	go func() { done <- exec.Command("/bin/sleep", "0.1").Run() }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("late")
	}
}

// What a program takes has passed by the clock, whether a timer is set meanwhile or not.
func TestTheTimeThatAProgramTakes(t *testing.T) {
	start := time.Now()
	if err := exec.Command("/bin/sleep", "0.2").Run(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d < 10*time.Millisecond {
		t.Error(d)
	}
	timeout := time.AfterFunc(20*time.Second, func() { t.Error("late") })
	start = time.Now()
	if err := exec.Command("/bin/sleep", "0.2").Run(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d < 10*time.Millisecond {
		t.Error(d)
	}
	timeout.Stop()
}

// arrives starts a program, without waiting for it, and waits for a signal.
func arrives(t *testing.T, sig os.Signal, script string) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, sig)
	defer signal.Stop(c)
	cmd := exec.Command("/bin/sh", "-c", script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Error("no signal")
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestTheEndOfAProgramIsSignalled(t *testing.T) { arrives(t, syscall.SIGCHLD, "exit 0") }

func TestAProgramSendsASignal(t *testing.T) {
	arrives(t, syscall.SIGUSR1, "kill -USR1 $PPID")
}
