package transactions

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/stm"
)

// Figures 3 to 9 with STAMP's native sets have 192 configurations: eight programs in four modes
// by six numbers of leaders. Run to their ends, all of them take hours, most of it in modes with
// helpers, where up to 64 goroutines share two processors. They are to be there after one hour,
// so that there are two passes:
//
//	1  Eager and timer run to their ends by one and two leaders. Every other configuration is
//	   watched for some seconds from its first commit on. What the whole takes follows from
//	   the share of the program's transactions that committed in that time, and is printed
//	   with a ~.
//	2  The rest of the hour runs to their ends what was only watched, the shortest first. How
//	   far the estimates were off is told.
//
// By one leader there are up to three rounds, as long as they are short, and otherwise one. A
// configuration is in the ledger as soon as it was measured: a run that is left loses one, and
// each further run with the same file spends its hour on the second pass.

const (
	nativeHour   = 56 * time.Minute // after which no configuration of the second pass is to end
	glance       = 6 * time.Second  // for which a configuration is watched: longer than a collection takes
	roundsBudget = 10 * time.Second // for rounds of a configuration
	aside        = 25 * time.Second // for a configuration's input and the check of its result, at most
)

// figureAlone is what configurations are kept under: they are the same in all figures.
const figureAlone = "configuration"

// watched is how many seconds a configuration was watched for, whose time is an estimate.
const watched = "watched"

// isEstimate reports whether a time follows from a part of a run.
func isEstimate(t measure.Timing) bool { return t.Counters[watched] > 0 }

// aloneOf is a variant of a case as a case of its own.
func aloneOf(c measure.Case, v measure.Variant) measure.Case {
	return measure.Case{Figure: figureAlone, Name: c.Name + ", " + string(v), Ops: 1, Baseline: Eager}
}

// configurations is measure for figures 3 to 9 with native sets.
func (s *session) configurations(cases []measure.Case) error {
	defer s.Progress.Clear()
	for _, c := range cases {
		r := measure.Result{Figure: c.Figure, Name: c.Name, Ops: c.Ops}
		var err error
		for _, contender := range c.Contenders {
			var t measure.Timing
			if t, err = s.firstPass(c, contender.Variant); err != nil {
				break
			}
			r.Timings = append(r.Timings, t)
		}
		if _, ok := r.Timing(Helper); ok {
			s.enterReads(&r) // which has nothing to measure then
		}
		if len(r.Timings) > 0 {
			s.Report.Results = append(s.Report.Results, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// firstPass is that over a configuration, or what is known of it already.
func (s *session) firstPass(c measure.Case, v measure.Variant) (measure.Timing, error) {
	if known, ok := s.ledger.has(aloneOf(c, v)); ok {
		s.Progress.Drop(s.weight(c.Figure))
		return known.Timings[0], nil
	}
	switch v {
	case Eager, Timer:
		return s.runAlone(c, v, s.runs, 0)
	case byTwo(Eager), byTwo(Timer):
		return s.runAlone(c, v, 1, 0)
	case Helper, Clone:
		return s.runAlone(c, v, s.runs, glance)
	}
	return s.runAlone(c, v, 1, glance)
}

// runAlone runs a configuration, to its end if it is not only watched, and keeps what came of it.
func (s *session) runAlone(c measure.Case, v measure.Variant, rounds int, watch time.Duration) (measure.Timing, error) {
	self, err := os.Executable()
	if err != nil {
		return measure.Timing{}, fmt.Errorf("this program does not find itself to start children: %w", err)
	}
	conf := &configuration{session: s, program: self, once: true,
		request: request{Figure: c.Figure, Size: s.size, Case: c.String(), Variant: v, Watch: watch}}
	defer conf.end()
	alone := aloneOf(c, v)
	alone.Contenders = []measure.Contender{conf.contender()}
	s.Progress.Show("figure %s, native sets: %s", c.Figure, alone)
	runner := &measure.Runner{Rounds: rounds, Least: 1, Budget: roundsBudget, Enough: alike, Cold: true}
	res, err := runner.Run(s.Context, alone)
	if err != nil {
		return measure.Timing{}, err
	}
	s.Progress.Done(s.weight(c.Figure))
	res.Timings[0] = s.estimated(res.Timings[0], c)
	return res.Timings[0], s.ledger.add(res)
}

// estimated is the time of all of a program's transactions, if some were watched. How many
// there are is known from eager by one leader.
func (s *session) estimated(t measure.Timing, c measure.Case) measure.Timing {
	one, ok := s.ledger.has(aloneOf(c, Eager))
	if !ok || !wasCut(t) || t.Counters[commits] == 0 {
		return t
	}
	share := t.Counters[commits] / one.Timings[0].Counters[commits]
	t.Counters[watched] = t.Median
	for i := range t.Seconds {
		t.Seconds[i] /= share
	}
	t.Median, t.PerOp = t.Median/share, t.PerOp/share
	return t
}

// secondPass is the second pass.
func (s *session) secondPass(cases []measure.Case) error {
	defer s.Progress.Clear()
	type unfinished struct {
		of       measure.Case
		variant  measure.Variant
		estimate float64
	}
	var rest []unfinished
	for _, c := range cases {
		for _, contender := range c.Contenders {
			if known, ok := s.ledger.has(aloneOf(c, contender.Variant)); ok && isEstimate(known.Timings[0]) {
				rest = append(rest, unfinished{c, contender.Variant, known.Timings[0].Median})
			}
		}
	}
	slices.SortFunc(rest, func(a, b unfinished) int { return cmp.Compare(a.estimate, b.estimate) })
	for _, left := range rest {
		takes := aside + time.Duration(1.3*left.estimate*float64(time.Second))
		if time.Since(s.begun)+takes > nativeHour {
			break
		}
		s.Progress.Drop(-s.weight(left.of.Figure))
		t, err := s.runAlone(left.of, left.variant, 1, 0)
		if err != nil {
			return err
		}
		s.heldAgainst = append(s.heldAgainst, left.estimate/t.Median)
		s.replace(left.of.Name, t)
	}
	return nil
}

// replace has a timing in the place of an estimate, in every figure.
func (s *session) replace(program string, t measure.Timing) {
	for _, r := range s.Report.Results {
		for i := range r.Timings {
			if r.Name == program && r.Timings[i].Variant == t.Variant {
				r.Timings[i] = t
			}
		}
	}
}

// printEstimates says how many times are estimates, and how good these are.
func (s *session) printEstimates() {
	all, estimates := 0, 0
	for _, r := range s.Report.Of(figureLeaders) {
		for _, t := range r.Timings {
			if all++; isEstimate(t) {
				estimates++
			}
		}
	}
	if all == 0 || s.size != native {
		return
	}
	fmt.Fprintf(s.Out, "\n%d of %d configurations were run to their ends, and their results verified; %d (~) were watched for %.0f s of their\n"+
		"transactions, and are estimates.", all-estimates, all, estimates, glance.Seconds())
	if n := len(s.heldAgainst); n > 0 {
		slices.Sort(s.heldAgainst)
		fmt.Fprintf(s.Out, " Of %d that were estimated first and then run to their ends, the estimate was %.2f of\nthe time in the middle, %.2f to %.2f at worst.",
			n, measure.Median(s.heldAgainst), s.heldAgainst[0], s.heldAgainst[n-1])
	}
	fmt.Fprintln(s.Out)
}

// watchedRun runs a trial in a worker until it has ended, or was watched for a while from its
// first commit on: what comes before is the program's preparation, which no time has. The
// trial goes on then; the worker is ended by its parent.
func watchedRun(trial measure.Trial, watch time.Duration) measure.Took {
	before := stm.ReadStats()
	ended := make(chan struct{})
	go func() {
		trial.Run()
		close(ended)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var begun time.Time
	for {
		select {
		case <-ended:
			return measure.Took{Seconds: trial.Seconds(), Counters: trial.Counters()}
		case <-tick.C:
			switch now := stm.ReadStats(); {
			case now.Commits == before.Commits:
			case begun.IsZero():
				begun, before = time.Now(), now
			case time.Since(begun) >= watch:
				return measure.Took{Seconds: time.Since(begun).Seconds(), Counters: map[string]float64{
					cutOff: 1, commits: float64(now.Commits - before.Commits), readWords: float64(now.Reads - before.Reads)}}
			}
		}
	}
}
