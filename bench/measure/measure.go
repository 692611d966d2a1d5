// Package measure runs the same program in several variants side by side and
// says how their times compare, and how sure that is.
//
// # Terms
//
// A [Case] is one program with its parameters: a list with 4 goroutines and half
// of the operations writing. It is run by several contenders, one per [Variant]:
// stock, ours, and what lies between. A trial is one run of one contender on
// fresh state. A round is one trial of each contender.
//
// # How it measures
//
// Rounds are interleaved (ABC, CBA, BCA, ACB, ...) so that whatever drifts on the machine hits all variants
// alike, and nobody always follows the same other. The first round warms up and is thrown away, as in the
// Isolator paper. What is reported is the median time of each variant, and the ratio of two medians with its
// spread: the range that holds 90 % of the ratios found by drawing rounds anew, with replacement (a paired
// bootstrap, whose draws are the same in every run of the command).
//
// A round during which other programs used the processors is thrown away as a
// whole and run again, a few times at most. Whether it is, does not depend on
// what it measured, so that no variant gains by it. Children of this program are
// not others.
//
// The baseline can be entered twice, the second time as [Again]. Its ratio to
// itself is what this machine makes of two equal programs: no smaller difference
// means anything.
//
// # Adding a program
//
// A package with programs to measure has a function of type [Source] (for the
// applications of figure 11 that is apps.Cases), and touches nothing else. A
// case is written like this:
//
//	measure.Case{
//		Figure:   "11",
//		Name:     "pfscan",
//		Params:   measure.Params{measure.Goroutines: 4},
//		Ops:      files,
//		Baseline: measure.SameMemory,
//		Contenders: []measure.Contender{
//			{measure.Heap, prepareHeap},
//			{measure.SameMemory, prepareSameMemory},
//			{measure.Isolate, prepareIsolate},
//		},
//	}
//
// Prepare builds the state, which is not timed; Trial.Run is timed;
// Trial.Close checks the outcome and gives memory back, which is not timed
// either. A wrong outcome ends the benchmark: a time of a wrong program is worth
// nothing.
//
// # Files
//
//	measure.go             cases, contenders, results
//	run.go                 rounds and trials
//	child.go               trials in other processes
//	instructions.go        what functions execute, where times say too little
//	load.go machine.go     what else the machine does, and which it is
//	stats.go               medians, ratios, the bootstrap
//	session.go progress.go a benchmark of several figures, and how far it is
//	report.go table.go target.go  what is printed
package measure

// A Variant is one way to run a case.
type Variant string

// The variants that figures are made of.
const (
	Heap       Variant = "go heap"     // sync.Mutex, ordinary pointers
	SameMemory Variant = "same memory" // sync.Mutex, on guarded pages that are never sealed
	Again      Variant = "again"       // the baseline a second time: the noise
	Isolate    Variant = "isolate"     // isolate.Mutex
	Race       Variant = "race"        // Heap, built with -race
)

// Params are the numbers that tell the cases of a program apart.
type Params map[string]float64

// The parameters that figures are made of.
const (
	Goroutines = "goroutines" // careful goroutines
	Writes     = "writes"     // fraction of the operations that write
	Careless   = "careless"   // fraction of the operations by the careless goroutine
	Guards     = "guards"     // guards that exist
)

// A Source returns cases to measure. A quick one is for a look, and has fewer
// or smaller ones.
type Source func(quick bool) []Case

// A Case is one program with its parameters, and the ways to run it.
type Case struct {
	Figure     string // "8"
	Name       string // "list"
	Params     Params
	Ops        int     // operations of one trial
	Baseline   Variant // what the others are compared with
	Contenders []Contender
}

// A Contender is a case in one variant.
type Contender struct {
	Variant Variant
	Prepare func() Trial
}

// A Trial is one run of a contender. Run is always there.
type Trial struct {
	Run   func()       // timed
	Close func() error // an error says that Run did something wrong

	// Seconds is what Ops operations took, where Run knows that better than a clock
	// around it: it runs in another process, or does another number of operations.
	Seconds func() float64

	// Counters are what this trial counted, after Run, for Timing.Counters.
	Counters func() map[string]float64
}

// A Result is what came of a case.
type Result struct {
	Figure   string   `json:"figure"`
	Name     string   `json:"name"`
	Params   Params   `json:"params,omitempty"`
	Ops      int      `json:"ops"`
	Timings  []Timing `json:"timings"`
	Ratios   []Ratio  `json:"ratios,omitempty"`
	Repeated int      `json:"repeated,omitempty"` // rounds thrown away because other programs were busy
}

// A Timing is what one variant took.
type Timing struct {
	Variant  Variant            `json:"variant"`
	Seconds  []float64          `json:"seconds"` // one per round
	Median   float64            `json:"median"`
	PerOp    float64            `json:"nsPerOp"`
	Counters map[string]float64 `json:"counters,omitempty"` // mean per trial
}

// A Ratio is the median time of a variant over that of another.
type Ratio struct {
	Of   Variant `json:"of"`
	To   Variant `json:"to"`
	Mid  float64 `json:"mid"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Timing returns what a variant took; ok is false if it was not run.
func (r *Result) Timing(v Variant) (t Timing, ok bool) {
	for _, t := range r.Timings {
		if t.Variant == v {
			return t, true
		}
	}
	return Timing{}, false
}

// Ratio returns how two variants compare; ok is false if one was not run.
func (r *Result) Ratio(of, to Variant) (ratio Ratio, ok bool) {
	for _, ratio := range r.Ratios {
		if ratio.Of == of && ratio.To == to {
			return ratio, true
		}
	}
	a, okA := r.Timing(of)
	b, okB := r.Timing(to)
	if !okA || !okB {
		return Ratio{}, false
	}
	return Compare(a, b), true
}
