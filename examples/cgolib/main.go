//go:build cgo

// Cgolib reads a sensor through a C library that writes its readings into memory that
// the program gave it, from a thread of its own, whenever there is a new one. The
// program has a lock for the reading; the library has never heard of it.
//
//	go run ./examples/cgolib
//	go run ./cmd/cofferdam run -protect ./examples/cgolib
//
// In the first run the valve is set for another temperature than the one that was found
// safe. In the second the section works on the reading that it began with.
package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const limit = 100

// A Boiler has a temperature, which the library writes, and a valve.
type Boiler struct {
	mu          sync.Mutex
	temperature int32
	valve       int32
}

// Adjust opens the valve as far as the temperature wants it, and reports whether that
// is less than what the valve can stand.
func (b *Boiler) Adjust(pace *Pace) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.temperature > limit {
		return true // leave it closed
	}
	for pace.Begun = true; !pace.Written; {
		time.Sleep(time.Millisecond)
	}
	b.valve = b.temperature
	return b.valve <= limit
}

// Reset is what the operator does.
func (b *Boiler) Reset(temperature int32) {
	b.mu.Lock()
	b.temperature, b.valve = temperature, 0
	b.mu.Unlock()
}

// A Pace makes sure that the library writes in the middle of the section.
type Pace struct{ Begun, Written bool }

func main() { os.Exit(run(os.Stdout)) }

func run(stdout io.Writer) int {
	const rounds = 10
	broken := 0
	for range rounds {
		b := new(Boiler)
		b.Reset(20)
		pace := new(Pace)
		done := sense(&b.temperature, pace)
		if !b.Adjust(pace) {
			broken++
		}
		<-done
		b.Reset(0)
	}
	fmt.Fprintf(stdout, "in %d of %d rounds the valve was opened too far\n", broken, rounds)
	return 0
}
