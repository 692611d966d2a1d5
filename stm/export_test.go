package stm

// What the tests in package stm_test may know of the inside.

// Patience is the number of conflicts after which a transaction runs alone.
const Patience = patience

// TimerRuns reports whether the timer of Timer mode is running.
func TimerRuns() bool { return timer.running.Load() }

// NextTick is the time to the timer's next tick.
var NextTick = nextTick

// RaceDetector says that this is a build with -race.
const RaceDetector = vigilant

// BeLean has the next transaction of the calling goroutine log no reads, as if many had met no
// commit of another. It reports false if this build has no such transactions.
func BeLean() bool {
	tx := mine()
	tx.quiet = tx.trust
	tx.given()
	return canBeLean
}

// LeastTrust is the number of undisturbed transactions after which the next one logs no reads.
const LeastTrust = leastTrust
