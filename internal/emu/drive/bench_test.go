package drive

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// BenchmarkSchedule is one schedule of toctou, from its snapshot to its end.
func BenchmarkSchedule(b *testing.B) {
	p := loadFor(b, examples+"toctou.O2")
	for i := range uint64(20) {
		r := &run{Program: p, strategy: sched.NewRandom(i), learns: true}
		r.execute()
		r.learn()
	}
	s := sched.NewRecorder(sched.NewPCT(1, 0), true)
	instructions, steps := uint64(0), uint64(0)
	for b.Loop() {
		r := &run{Program: p, strategy: s, learns: true}
		r.execute()
		instructions += p.process.Instructions() - p.start.Instructions()
		steps += r.steps
	}
	b.ReportMetric(float64(instructions)/float64(b.N), "instructions/op")
	b.ReportMetric(float64(steps)/float64(b.N), "steps/op")
}
