package transactions

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/stm"
)

// A long reader beside a neighbour who commits: the neighbour writes what the
// reader does not read, so that nothing conflicts, but an eager reader validates
// all that it has read after each of the commits.

const figureContended = "contended"

// pause is the parameter of the cases: what the neighbour does between two commits,
// in spins of about a nanosecond.
const pause = "pause"

var pauses = []int{300, 1_000, 4_000, 16_000}

// Readers are read-only; in the last case there is one that writes as well.
const (
	readOnly  = "1,000 reads"
	readWrite = "1,000 reads and a write"
)

func contendedCases(s size) []measure.Case {
	ops, times := 10_000, pauses
	if s == quick {
		ops, times = 2_500, pauses[:2]
	}
	var cases []measure.Case
	for _, p := range times {
		cases = append(cases, contendedCase(readOnly, p, ops))
	}
	return append(cases, contendedCase(readWrite, pauses[1], ops))
}

func contendedCase(name string, p, ops int) measure.Case {
	c := measure.Case{Figure: figureContended, Name: name, Params: measure.Params{pause: float64(p)}, Ops: ops, Baseline: Eager}
	for _, v := range []measure.Variant{Mutex, Eager, Timer, Helper, Clone} {
		if needs(v)+1 <= max(2, runtime.GOMAXPROCS(0)) {
			c.Contenders = append(c.Contenders, reader{name, v, p, ops}.contender())
		}
	}
	return c
}

// needs is the number of processors that one goroutine with transactions keeps busy.
func needs(v measure.Variant) int {
	if v == Helper || v == Clone {
		return 2
	}
	return 1
}

// A reader is a configuration of this figure.
type reader struct {
	name    string
	variant measure.Variant
	pause   int
	ops     int
}

func (r reader) contender() measure.Contender {
	return measure.Contender{Variant: r.variant, Prepare: func() measure.Trial {
		b := newBank()
		var stop atomic.Bool
		commits := 0
		return work{
			ops: r.ops, times: 1, threads: 1 + needs(r.variant),
			run: func() time.Duration {
				var all sync.WaitGroup
				running := make(chan struct{})
				all.Go(func() {
					close(running)
					for ; !stop.Load(); commits++ {
						r.neighbour(b)
						sink(int(spin(r.pause)))
					}
				})
				<-running
				start := time.Now()
				r.read(b)
				elapsed := time.Since(start)
				stop.Store(true)
				all.Wait()
				return elapsed
			},
			check: func() error {
				if r.name == readWrite {
					if err := b.check(readThousand, 0); err != nil {
						return err
					}
				}
				return b.check(counter, commits)
			},
		}.trial()
	}}
}

// neighbour commits once.
func (r reader) neighbour(b *bank) {
	if r.variant == Mutex {
		b.lockCounter(1, 0)
		return
	}
	b.eagerCounter(1, 0)
}

func (r reader) read(b *bank) {
	body := func(tx *stm.Tx) error {
		sum := b.sum(tx)
		sink(sum)
		if r.name == readWrite {
			stm.Store(tx, &b.total, sum)
		}
		return nil
	}
	o := stm.Options{Mode: modes[r.variant]}
	for range r.ops {
		if r.variant == Mutex {
			b.lockThousand(1, 0)
		} else {
			o.Atomically(body)
		}
	}
}

func (s *session) contended() error {
	if cores := runtime.GOMAXPROCS(0); cores < 3 {
		s.Note("helper and clone beside a neighbour: they need a processor each for the reader, its helper and the neighbour, and there are %d", cores)
	}
	err := s.measure(8*time.Second, contendedCases(s.size))
	s.printContended()
	return err
}

func (s *session) printContended() {
	results := s.Report.Of(figureContended)
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\nContended: a reader beside a neighbour who commits something else, pauses for so many spins, and so on.\n"+
		"Median ns per transaction of the reader; the neighbour's commits and the reader's validations during one.\n\n")
	t := measure.Table{Head: []string{"transaction", "pause", "mutex", "eager", "timer", "helper", "clone", "commits", "eager validates", "timer validates", "timer is faster by", "two cores"}}
	for _, r := range results {
		faster, _ := r.Ratio(Eager, Timer)
		eager, _ := r.Timing(Eager)
		timer, _ := r.Timing(Timer)
		per := func(t measure.Timing, name string) string {
			return fmt.Sprintf("%.1f", t.Counters[name]/float64(r.Ops))
		}
		t.Row(r.Name, r.Params[pause], perOp(r, Mutex), perOp(r, Eager), perOp(r, Timer), perOp(r, Helper), perOp(r, Clone),
			fmt.Sprintf("%.1f", max(0, eager.Counters[commits]/float64(r.Ops)-1)), per(eager, validations), per(timer, validations),
			faster.Times(), fmt.Sprintf("%.2f", eager.Counters[coreRatio]))
	}
	t.Write(s.Out)
}
