package native

import (
	"fmt"
	"os"
)

// A Route is where the threads of a run were stopped, in the order in which they ran: what
// [Follow] has threads do on the processor. Addresses are those of the program's file.
type Route struct {
	Legs []Leg
	// Failing is the thread that goes on from the last leg until the program fails, 0 if no
	// thread can go on then. At and Count say where it fails; At is 0 if that is not known.
	Failing uint32
	At      uint64
	Count   int
}

// A Leg is the run of one thread, known by its number: from 1, in the order of creation. It
// ends where the thread comes to an instruction for the Count-th time or, if At is 0, where it
// has to wait or ends.
type Leg struct {
	Thread uint32
	At     uint64
	Count  int
}

// missed says that a thread did not come to the end of its leg.
func (l Leg) missed() string {
	if l.Count == 1 {
		return fmt.Sprintf("thread %d does not come to %#x", l.Thread, l.At)
	}
	return fmt.Sprintf("thread %d comes to %#x fewer than %d times", l.Thread, l.At, l.Count)
}

// Launched is what is run.
type Launched struct {
	Path  string
	Args  []string // with the program's name
	Env   []string
	Dir   string
	Stdin *os.File
}

// Followed is what came of following a route.
type Followed struct {
	// Legs is how many legs were followed, all of them unless Why says why not.
	Legs int
	Why  string
	// Reached: the failing thread came to where it fails.
	Reached bool
	// Signal is what killed the process then, "" if none did.
	Signal string
	// Deadlock: no thread could go on.
	Deadlock bool
}
