package transactions

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/stm"
)

// The variants that figures are made of, by one goroutine.
const (
	Sequential measure.Variant = "sequential" // no synchronisation at all
	Mutex      measure.Variant = "mutex"      // one sync.Mutex where there would be a transaction
	Eager      measure.Variant = "eager"      // NOrec
	Timer      measure.Variant = "timer"      // NOrecSb
	Helper     measure.Variant = "helper"     // NOrecHt
	Clone      measure.Variant = "clone"      // NOrecCIV
	Peer       measure.Variant = "anacrolix"  // github.com/anacrolix/stm
)

// byTwo is a variant by two goroutines.
func byTwo(v measure.Variant) measure.Variant { return by(v, 2) }

// modes of stm by their variants.
var modes = map[measure.Variant]stm.Mode{Eager: stm.Eager, Timer: stm.Timer, Helper: stm.Helper, Clone: stm.Clone}

// What trials count.
const (
	allocations  = "allocations"  // of one operation
	commits      = "commits"      // transactions that committed; this and the following of all operations
	conflicts    = "conflicts"    // attempts given up
	validations  = "validations"  // read sets compared with memory
	readWords    = "reads"        // words in read sets; of STAMP's transactions all that they read: see reads.go
	writtenWords = "writes"       // words in write sets
	processor    = "processor"    // seconds that threads ran, which others who use the processors do not lengthen
	coreRatio    = "cores"        // time of two spinning goroutines over that of one
	coreMissing  = "cores missed" // 1 if that was too much
)

// work is what a trial does.
type work struct {
	ops     int                  // of the case
	times   float64              // the trial does this many times ops, because it is fast or slow
	threads int                  // that run at the same time
	run     func() time.Duration // returns the time that counts
	check   func() error
}

// trial watches over some work. Whether there are as many processors as it needs is
// looked at right before.
func (w work) trial() measure.Trial {
	counters := map[string]float64{}
	var elapsed time.Duration
	if w.threads > 1 {
		ratio := spinTwo()
		counters[coreRatio] = ratio
		if counters[coreMissing] = 0; ratio > twoCores {
			counters[coreMissing] = 1
		}
	}
	return measure.Trial{
		Run: func() {
			var before, after runtime.MemStats
			first := stm.ReadStats()
			begun := processorSeconds()
			runtime.ReadMemStats(&before)
			elapsed = w.run()
			runtime.ReadMemStats(&after)
			counters[processor] = (processorSeconds() - begun) / w.times
			last := stm.ReadStats()
			counters[allocations] = float64(after.Mallocs-before.Mallocs) / (float64(w.ops) * w.times)
			counters[commits] = float64(last.Commits-first.Commits) / w.times
			counters[conflicts] = float64(last.Conflicts-first.Conflicts) / w.times
			counters[validations] = float64(last.Validations-first.Validations) / w.times
			counters[readWords] = float64(last.Reads-first.Reads) / w.times
			counters[writtenWords] = float64(last.Writes-first.Writes) / w.times
		},
		Seconds:  func() float64 { return elapsed.Seconds() / w.times },
		Counters: func() map[string]float64 { return counters },
		Close:    w.check,
	}
}

// processorSeconds is the time for which the threads of this process have run; 0
// where the kernel does not say.
func processorSeconds() float64 {
	sum := 0.0
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, file := range files {
		data, _ := os.ReadFile(file)
		first, _, _ := strings.Cut(string(data), " ")
		ns, _ := strconv.ParseFloat(first, 64)
		sum += ns / 1e9
	}
	return sum
}
