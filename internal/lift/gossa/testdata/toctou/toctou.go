// Package toctou is the paper's time-of-check, time-of-use race: one goroutine
// increments a counter, another loads it twice and wants the same value.
package toctou

var counter int

func Run() {
	go count(6)
	check(6)
}

func count(n int) {
	for range n {
		counter++ // write back
	}
}

func check(n int) {
	for range n {
		a := counter // first
		b := counter // second
		if a != b {
			panic("the counter changed")
		}
	}
}
