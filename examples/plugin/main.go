// Plugin is a server of licences that hosts a careless plug-in. The server is careful:
// it hands out a licence only if there is one left, and looks and takes in one section.
// The plug-in, in plugin.go, was written by another team. It "synchronises" the number
// of licences with another system whenever it likes, and knows of no lock.
//
//	go run ./examples/plugin
//	go run ./cmd/cofferdam run -protect ./examples/plugin
//
// In the first run the server hands out licences that it does not have. In the second
// it never does, although neither the server nor the plug-in was changed.
package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A Server counts licences.
type Server struct {
	mu    sync.Mutex // guards total and given
	total int        // licences that there are
	given int        // licences that were handed out
}

// Give hands out a licence, and reports whether there was one when it did. To write
// the contract takes a while, and that is when the plug-in runs.
func (s *Server) Give(pace *Pace) (honest bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given >= s.total {
		return true
	}
	pace.Begun = true
	for range 20 {
		if !pace.Interfered {
			time.Sleep(time.Millisecond)
		}
	}
	s.given++
	return s.given <= s.total
}

// Return takes a licence back.
func (s *Server) Return() {
	s.mu.Lock()
	s.given--
	s.mu.Unlock()
}

// Buy adds licences.
func (s *Server) Buy(n int) {
	s.mu.Lock()
	s.total += n
	s.mu.Unlock()
}

// A Pace makes sure that the plug-in runs in the middle of the section, unless it is
// kept out: the interleaving that happens once in a million runs.
type Pace struct{ Begun, Interfered bool }

func main() { os.Exit(run(os.Stdout)) }

func run(stdout io.Writer) int {
	const rounds = 10
	broken := 0
	for range rounds {
		s := new(Server)
		s.Buy(1)
		pace := new(Pace)
		done := make(chan bool)
		go func() {
			synchronise(s, pace)
			close(done)
		}()
		if !s.Give(pace) {
			broken++
		}
		<-done
		s.Return()
	}
	fmt.Fprintf(stdout, "in %d of %d rounds a licence was handed out that was not there\n", broken, rounds)
	return 0
}
