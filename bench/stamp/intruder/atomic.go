package intruder

import (
	"time"

	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
	"github.com/cofferdam-go/cofferdam/stm"
)

// Atomic runs the program in several goroutines, with transactions that are plain code.
func Atomic(in *Input, goroutines int) *Result {
	d := in.prepare()
	attacks := make([][]int, goroutines)
	start := time.Now()
	team.Run(goroutines, func(member int) {
		var detector detector
		var found []int
		for {
			var p *packet
			if stm.Atomic(func() { p, _ = d.arrived.Pop() }); p == nil {
				break
			}
			var f *flow
			stm.Atomic(func() { d.add(p) })
			stm.Atomic(func() { f, _ = d.complete.Pop() })
			if f != nil && detector.attack(f.data) {
				found = append(found, f.id)
			}
		}
		attacks[member] = found
	})
	return result(time.Since(start), attacks...)
}
