// List is figure 1 of the Isolator paper: one goroutine takes the first item of a list, with the
// lock, and another empties the list without it. If that happens after the first has seen that
// there is an item, it follows a nil pointer.
//
//	go run ./examples/list
//	go run ./cmd/cofferdam run -protect=isolate ./examples/list
//
// In the second run the variable that leads to the list is on a page that the section alone can
// reach: the list is emptied when the section has ended, and the careless line is reported.
package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

type node struct {
	item int
	next *node
}

var (
	listlock sync.Mutex
	list     *node // guarded by listlock
)

// A pace is how far both goroutines are. It is plain, because a goroutine that waits for another
// in a section has no protection while it does.
type pace struct{ looking, emptied bool }

// add is well-behaved.
func add(item int) {
	listlock.Lock()
	defer listlock.Unlock()
	list = &node{item: item, next: list}
}

// wellBehaved returns the first item, and in between looks for the place where it belongs, which
// takes its time.
func wellBehaved(p *pace) (item int, ok bool) {
	listlock.Lock()
	defer listlock.Unlock()
	if list == nil {
		return 0, false
	}
	p.looking = true
	for range 20 {
		if !p.emptied {
			time.Sleep(time.Millisecond)
		}
	}
	item = list.item
	list = list.next
	return item, true
}

// illBehaved removes all items, and knows of no lock.
func illBehaved() { list = nil }

func main() { os.Exit(run(os.Stdout)) }

func run(stdout io.Writer) int {
	const rounds = 10
	crashed := 0
	for range rounds {
		add(1)
		add(2)
		p, done := new(pace), make(chan bool)
		go func() {
			for !p.looking {
				time.Sleep(time.Millisecond)
			}
			illBehaved()
			p.emptied = true
			close(done)
		}()
		if crashes(func() { wellBehaved(p) }) {
			crashed++
		}
		<-done
	}
	fmt.Fprintf(stdout, "in %d of %d rounds the first item was gone\n", crashed, rounds)
	return 0
}

// crashes reports whether a function panics.
func crashes(f func()) (crashed bool) {
	defer func() { crashed = recover() != nil }()
	f()
	return false
}
