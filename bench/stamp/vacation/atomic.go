package vacation

import (
	"time"

	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
	"github.com/cofferdam-go/cofferdam/stm"
)

// Atomic runs the program in several goroutines, with transactions that are plain code.
func Atomic(in *Input, goroutines int) *Result {
	m := in.prepare()
	tallies := make([]Tally, goroutines)
	start := time.Now()
	team.Run(goroutines, func(member int) {
		client, tally := in.client(), Tally{}
		first, last := team.Share(in.params.Transactions, member, goroutines)
		for i := first; i < last; i++ {
			a := client.next(i)
			var done Tally
			stm.Atomic(func() { done = m.do(a) })
			tally.add(done)
		}
		tallies[member] = tally
	})
	return result(m, time.Since(start), tallies)
}
