// Trie is figure 10 of the Isolator paper: a violation in code of a library. The program looks
// for a prefix while another goroutine removes it. Match of package prefix reads two fields
// without the lock under which Remove changes them, and finds a prefix that has no value.
//
//	go run ./examples/trie
//	go run ./cmd/cofferdam run -protect ./examples/trie
//
// In the second run each such read waits until Remove has ended, and is reported with its line
// in the library.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cofferdam-go/cofferdam/examples/trie/prefix"
)

func main() { os.Exit(run(os.Stdout)) }

func run(stdout io.Writer) int {
	const rounds = 10
	broken := 0
	for range rounds {
		t := new(prefix.Trie)
		t.Add(7)
		pace, done := new(prefix.Pace), make(chan bool)
		go func() {
			for !pace.Removing {
				time.Sleep(time.Millisecond)
			}
			if value, ok := t.Match("text"); ok && value != 7 {
				broken++
			}
			pace.Matched = true
			close(done)
		}()
		t.Remove(pace)
		<-done
	}
	fmt.Fprintf(stdout, "in %d of %d rounds a prefix was found that has no value\n", broken, rounds)
	return 0
}
