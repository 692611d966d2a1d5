package explore

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Recorded is one of the failures that a search for all has gathered.
type Recorded struct {
	Failure trace.Failure
	Where   string // the places in the source that it is about; "" if none is known
	// First is the number of the first run that failed so, and Runs how many did.
	First, Runs int
	// Schedule is the smallest that fails so, and Trace the file with the run by it. Failures
	// whose smallest schedule is the same are of one run, and have one file.
	Schedule string
	Trace    string
	// Death is how the program died, if that is the failure; there is no trace of it then.
	Death *DeathError
}

// RecordAll has each failure that a search for all has gathered shrunk, run again in a fresh
// process, and recorded to the file of its number, from 0. The most telling failures come
// first. It also returns how many did not come back, and are not believed.
func (s *Search) RecordAll(ctx context.Context, file func(n int) string) (all []Recorded, doubted int, err error) {
	defer s.idle.close()
	files := 0
	for _, g := range s.gathered() {
		if slices.ContainsFunc(all, func(r Recorded) bool { return r.Failure.Same(&g.found.Failure) }) {
			continue
		}
		r := Recorded{Failure: g.found.Failure, Where: s.p.places(&g.found.Failure), First: g.found.At, Runs: g.found.Runs, Schedule: g.found.Schedule}
		if r.Death = g.pass.deaths[r.Failure.Message]; r.Death != nil && r.Schedule == "" {
			all = append(all, r)
			continue
		}
		if !g.pass.fresh {
			small, _, err := s.shrink(ctx, &g.found)
			if err != nil {
				return all, doubted, err
			}
			r.Schedule = small.Schedule.String()
		}
		if same := slices.IndexFunc(all, func(other Recorded) bool { return other.Trace != "" && other.Schedule == r.Schedule }); same >= 0 {
			r.Trace = all[same].Trace
			all = append(all, r)
			continue
		}
		r.Trace = file(files)
		one := *s.o
		one.warmUp = g.pass.Sum.Residue == wire.ChangesSteps
		done, err := s.p.Record(ctx, s.target, r.Schedule, &one, r.Trace)
		switch {
		case err != nil:
			return all, doubted, err
		case done.Outcome.FailsLike(&r.Failure, true):
			files++
			all = append(all, r)
		case r.Failure.Kind != event.FailureLeak: // which a run that fails otherwise may leave
			doubted++
		}
	}
	return all, doubted, nil
}

// places are those in the source that a failure is about.
func (p *Program) places(f *trace.Failure) string {
	var all []string
	for _, point := range points(f) {
		if s, ok := p.Site(point.Site); ok {
			if place := fmt.Sprintf("%s:%d", filepath.Base(s.File), s.Line); !slices.Contains(all, place) {
				all = append(all, place)
			}
		}
	}
	return strings.Join(all, " and ")
}

// A gathered failure is one of a pass.
type gathered struct {
	found wire.Found
	pass  *pass
}

// gathered returns the failures of all runs that count, those of the worst kind first.
func (s *Search) gathered() []gathered {
	var all []gathered
	before := 0
	for _, x := range []*pass{s.warm, s.cold} {
		if x == nil || x == s.warm && s.all {
			continue
		}
		for _, f := range x.Sum.Failures {
			f.At += before
			all = append(all, gathered{f, x})
		}
		before = x.Sum.Runs
	}
	slices.SortStableFunc(all, func(f, g gathered) int { return cmp.Compare(g.found.Kind, f.found.Kind) })
	return all
}
