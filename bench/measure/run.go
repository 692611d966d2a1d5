package measure

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"time"
)

// A Runner runs cases.
type Runner struct {
	Rounds   int // that count; one more warms up, unless Cold is set
	Retries  int // rounds of a case that may be repeated, because other programs disturbed them
	Progress *Progress

	// Budget, if set, ends a case early, after the round in which it is used up, but
	// not before the third round that counts, or the one that Least says. No round is
	// repeated then.
	Budget time.Duration
	Least  int

	// Enough, if set, ends a case early when the times of each contender, two at least, differ
	// by no more than this part of them.
	Enough float64

	// Cold says that no round warms up: for trials that take long, in processes of their own.
	Cold bool

	// Weight is how many steps of the progress a trial is; 0 is 1.
	Weight int

	// Counters, if set, is read around each trial. The differences become
	// Timing.Counters.
	Counters func() map[string]float64
}

// Run measures a case. It returns an error if a trial went wrong, and the case
// then has no result; or if the context was cancelled, and the result is then of
// the rounds until then, which may be none.
func (r *Runner) Run(ctx context.Context, c Case) (Result, error) {
	timings := make([]Timing, len(c.Contenders))
	for i, contender := range c.Contenders {
		timings[i] = Timing{Variant: contender.Variant, Counters: map[string]float64{}}
	}
	retries := r.Retries
	begun := time.Now()
	first := 0
	if r.Cold {
		first = 1
	}
	for round, kept := 0, first; kept <= r.Rounds; round++ {
		late := r.Budget > 0 && time.Since(begun) > r.Budget
		if kept > cmp.Or(r.Least, 3) && late || kept > 2 && r.Enough > 0 && alike(timings, r.Enough) {
			r.Progress.Drop((r.Rounds + 1 - kept) * r.steps(c))
			break
		}
		load := StartLoad()
		samples, err := r.round(ctx, c, round)
		if ctx.Err() != nil && kept > 1 {
			return summary(c, timings), ctx.Err()
		}
		if err != nil {
			return Result{}, err
		}
		if retries > 0 && !late && load.Disturbed() {
			retries--
			continue
		}
		if kept > 0 {
			for i := range timings {
				timings[i].add(samples[i])
			}
		}
		kept++
		r.Progress.Done(r.steps(c))
	}
	res := summary(c, timings)
	res.Repeated = r.Retries - retries
	return res, nil
}

// A sample is what one trial took.
type sample struct {
	seconds  float64
	counters map[string]float64
}

// add enters a sample.
func (t *Timing) add(s sample) {
	t.Seconds = append(t.Seconds, s.seconds)
	for name, n := range s.counters {
		t.Counters[name] += (n - t.Counters[name]) / float64(len(t.Seconds))
	}
}

// round runs each contender once.
func (r *Runner) round(ctx context.Context, c Case, round int) ([]sample, error) {
	samples := make([]sample, len(c.Contenders))
	for k := range samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		i := turn(round, k, len(samples))
		r.Progress.Show("figure %s: %s, %s", c.Figure, c, c.Contenders[i].Variant)
		var err error
		if samples[i], err = r.trial(c.Contenders[i]); err != nil {
			return nil, fmt.Errorf("figure %s: %s, %s: %w", c.Figure, c, c.Contenders[i].Variant, err)
		}
	}
	return samples, nil
}

// turn is who comes at place k of a round: the order rotates, and every other
// round goes backwards, so that nobody always follows the same other.
func turn(round, k, n int) int {
	if round%2 == 1 {
		k = n - 1 - k
	}
	return (round/2 + k) % n
}

// trial runs a contender once.
func (r *Runner) trial(c Contender) (sample, error) {
	trial := c.Prepare()
	before := r.counters()
	// So that no trial pays for the garbage of the one before it.
	runtime.GC()
	start := time.Now()
	trial.Run()
	s := sample{seconds: time.Since(start).Seconds(), counters: r.counters()}
	for name := range s.counters {
		s.counters[name] -= before[name]
	}
	if trial.Seconds != nil {
		s.seconds = trial.Seconds()
	}
	if trial.Counters != nil {
		if s.counters == nil {
			s.counters = map[string]float64{}
		}
		maps.Copy(s.counters, trial.Counters())
	}
	if trial.Close == nil {
		return s, nil
	}
	return s, trial.Close()
}

func (r *Runner) counters() map[string]float64 {
	if r.Counters == nil {
		return nil
	}
	return r.Counters()
}

// Trials is the number of steps that the progress of these cases takes.
func (r *Runner) Trials(cases []Case) int {
	rounds, n := r.Rounds+1, 0
	if r.Cold {
		rounds = r.Rounds
	}
	for _, c := range cases {
		n += r.steps(c) * rounds
	}
	return n
}

// steps is those of a round.
func (r *Runner) steps(c Case) int { return len(c.Contenders) * max(r.Weight, 1) }

// alike reports whether the times of each contender differ by no more than a part of them.
func alike(timings []Timing, part float64) bool {
	return !slices.ContainsFunc(timings, func(t Timing) bool { return t.Spread() > part })
}

// Spread is how far the times lie apart, as a part of the least.
func (t Timing) Spread() float64 {
	if len(t.Seconds) == 0 {
		return math.Inf(1)
	}
	return slices.Max(t.Seconds)/slices.Min(t.Seconds) - 1
}

// summary makes a result of what the contenders took.
func summary(c Case, timings []Timing) Result {
	res := Result{Figure: c.Figure, Name: c.Name, Params: c.Params, Ops: c.Ops}
	for _, t := range timings {
		if len(t.Counters) == 0 {
			t.Counters = nil
		}
		t.Median = Median(t.Seconds)
		t.PerOp = t.Median * 1e9 / float64(c.Ops)
		res.Timings = append(res.Timings, t)
	}
	base, ok := res.Timing(c.Baseline)
	if !ok {
		return res
	}
	for _, t := range res.Timings {
		if t.Variant != c.Baseline {
			res.Ratios = append(res.Ratios, Compare(t, base))
		}
	}
	return res
}
