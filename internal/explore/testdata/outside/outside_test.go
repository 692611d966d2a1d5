// Package outside leaves something behind that is not in memory, or not its own.
package outside

import (
	"os"
	"os/signal"
	"testing"
)

func TestEnvironment(t *testing.T) {
	const name = "COFFERDAM_OUTSIDE"
	if os.Getenv(name) != "" {
		t.Fatal("again")
	}
	if err := os.Setenv(name, "1"); err != nil {
		t.Fatal(err)
	}
}

// TestNotify has package os/signal start a goroutine, once.
func TestNotify(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	defer signal.Stop(c)
	done := make(chan bool)
	go func() { close(done) }()
	<-done
}
