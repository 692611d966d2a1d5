// Gamescore is the program of figure 4 of the ToleRace paper. One thread adds to the
// score of a game under a lock; another, of another team, adds to it
// without, in the middle of the section. Both read the score before either has
// written it, so one of the two changes is lost, whichever comes last. No order of
// the two threads explains that.
//
//	go run ./examples/gamescore
//
// runs it with exactly this interleaving: with a plain lock, with package tolerate
// alone, which sees the race and keeps one of the changes, and with the resolver
// that a programmer chooses if scores are only added to.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

const (
	start = 1000
	bonus = 50  // of the careful thread
	prize = 300 // of the careless one
	right = start + bonus + prize
)

func main() { os.Exit(run(os.Stdout, os.Stderr)) }

func run(stdout, stderr io.Writer) int {
	tolerate.Configure(tolerate.Config{Logger: slog.New(slog.DiscardHandler)})

	gameScore := start
	var mu sync.Mutex
	thread1(&mu, func() *int { return &gameScore }, preempted(func() { thread2(&gameScore) }))
	tell(stdout, "plain lock", gameScore)

	gameScore = start
	var guard tolerate.Mutex
	closed := tolerate.Guard(&guard, &gameScore).Named("gameScore")
	thread1(&guard, closed.Own, preempted(func() { thread2(&gameScore) }))
	tell(stdout, "tolerate, closed form", gameScore)

	gameScore = start
	var counting tolerate.Mutex
	delta := tolerate.Guard(&counting, &gameScore, tolerate.Delta).Named("gameScore")
	thread1(&counting, delta.Own, preempted(func() { thread2(&gameScore) }))
	tell(stdout, "tolerate, Delta", gameScore)
	fmt.Fprintln(stdout)

	if err := tolerate.WriteText(stdout, tolerate.Findings()); err != nil {
		fmt.Fprintln(stderr, "gamescore:", err)
		return 1
	}
	return 0
}

func tell(w io.Writer, what string, score int) {
	verdict := "right"
	if score != right {
		verdict = fmt.Sprintf("wrong: %d are missing", right-score)
	}
	fmt.Fprintf(w, "%-22s %d of %d, %s\n", what+":", score, right, verdict)
}

// thread1 is careful. The processor is taken from it after it has read the score.
func thread1(lock sync.Locker, gameScore func() *int, preemption func()) {
	lock.Lock()
	defer lock.Unlock()
	score := *gameScore()
	preemption()
	*gameScore() = score + bonus
}

// thread2 is careless: it should hold the lock.
func thread2(gameScore *int) { *gameScore += prize }

// preempted returns a function that lets another goroutine run f, and comes back
// when it has.
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
