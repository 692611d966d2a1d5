// Gscript is the program of figure 1 of the ToleRace paper, after a race in Mozilla.
// One thread holds the lock, looks whether there is a script, and compiles it.
// Another takes the script away without the lock, between the two.
//
//	go run ./examples/gscript
//
// runs it twice, each time with exactly this interleaving. With a plain lock the
// section compiles a script that is gone, and crashes. With package tolerate it
// compiles the script that it has seen, and the script is gone afterwards.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

// A Script is what the threads share.
type Script struct{ source string }

func (s *Script) compile() string { return "compiled " + s.source }

const defaultScript = "the default script"

func main() { os.Exit(run(os.Stdout, os.Stderr)) }

func run(stdout, stderr io.Writer) int {
	tolerate.Configure(tolerate.Config{Logger: slog.New(slog.DiscardHandler)})

	gScript := &Script{"hello.js"}
	var mu sync.Mutex
	result := thread1(&mu, func() *Script { return gScript }, preempted(func() { thread2(&gScript) }))
	fmt.Fprintf(stdout, "plain lock:    %s\n", result)

	gScript = &Script{"hello.js"}
	var guard tolerate.Mutex
	own := tolerate.Guard(&guard, &gScript).Named("gScript")
	result = thread1(&guard, func() *Script { return *own.Own() }, preempted(func() { thread2(&gScript) }))
	fmt.Fprintf(stdout, "with tolerate: %s; afterwards the script is %v\n\n", result, gScript)

	if err := tolerate.WriteText(stdout, tolerate.Findings()); err != nil {
		fmt.Fprintln(stderr, "gscript:", err)
		return 1
	}
	return 0
}

// thread1 is careful: it holds the lock for all that it does with the script. The
// processor is taken from it after the test.
func thread1(lock sync.Locker, gScript func() *Script, preemption func()) (result string) {
	defer func() {
		if cause := recover(); cause != nil {
			result = fmt.Sprintf("crash: %v", cause)
		}
	}()
	lock.Lock()
	defer lock.Unlock()
	if gScript() == nil {
		return "compiled " + defaultScript
	}
	preemption()
	return gScript().compile()
}

// thread2 is careless: it should hold the lock.
func thread2(gScript **Script) { *gScript = nil }

// preempted returns a function that lets another goroutine run f, and comes back
// when it has: the interleaving that happens once in a million runs.
func preempted(f func()) func() {
	begin, end := make(chan bool), make(chan bool)
	go func() {
		<-begin
		f()
		end <- true
	}()
	return func() {
		begin <- true
		<-end
	}
}
