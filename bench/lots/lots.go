// Package lots has what the benchmarks over random programs share: the flags that say how many programs to
// try, from which seed, and how large they may be, and the loop that hands programs over in lots, because
// many are built together. The programs of a seed are the same each time, so that a run can be divided by
// seeds over several processes or days: the last line of progress has the seed to go on with.
package lots

import (
	"errors"
	"flag"
	"fmt"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
)

// Options are the flags that such benchmarks have.
type Options struct {
	// What is what is drawn: "programs". Size is how many are in a lot, Quick how many there
	// are at most with -quick.
	What        string
	Size, Quick int
	// Optional says that there may be none, because there is something else to try.
	Optional bool

	Count, States int
	Seed          uint64
}

// Flags declares the flags, with what they are if nothing else is said.
func (o *Options) Flags(flags *flag.FlagSet, count, states int) {
	o.CountFlags(flags, count)
	flags.IntVar(&o.States, "states", states, "judge what has at most so many `states`")
}

// CountFlags declares those that have nothing to do with how large a program is, for judges
// that do not care.
func (o *Options) CountFlags(flags *flag.FlagSet, count int) {
	flags.IntVar(&o.Count, o.What, count, "how many `"+o.What+"` to try")
	flags.Uint64Var(&o.Seed, "seed", 1, "the `seed` of the first one")
	o.States = 1
}

// Check is for the method of that name of a measurement.
func (o *Options) Check(quick bool) error {
	if quick {
		o.Count = min(o.Count, o.Quick)
	}
	limits := errors.Join(command.AtLeastOne("states", o.States), command.AtLeastOne("lot", o.Size))
	if o.Optional && o.Count == 0 {
		return limits
	}
	return errors.Join(command.AtLeastOne(o.What, o.Count), limits)
}

// Each calls try with the seeds of one lot after another, until all were tried or there is an
// error, and returns how many were. After each lot it says how far it has come, with what
// try returns.
func (o *Options) Each(s *command.Session, try func(seeds []uint64) (sofar string, err error)) (tried int, err error) {
	return o.EachBeside(s, 1, func(_ int, seeds []uint64) (string, error) { return try(seeds) })
}

// EachBeside is Each with so many lots side by side. It tells try which of the workers calls it,
// from 0 on, and counts the lots before which all others were tried as well.
func (o *Options) EachBeside(s *command.Session, jobs int, try func(worker int, seeds []uint64) (sofar string, err error)) (tried int, err error) {
	start := time.Now()
	var mu sync.Mutex // guards what follows, and tried and err
	next := 0
	done := map[int]int{} // lots by how many seeds are before them, with their sizes
	take := func() (first int, seeds []uint64) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			return 0, nil
		}
		first = next
		for next < o.Count && next < first+o.Size {
			seeds = append(seeds, o.Seed+uint64(next))
			next++
		}
		return first, seeds
	}
	var all sync.WaitGroup
	for worker := range jobs {
		all.Go(func() {
			for first, seeds := take(); len(seeds) > 0; first, seeds = take() {
				sofar, failed := try(worker, seeds)
				mu.Lock()
				if failed == nil {
					done[first] = len(seeds)
				}
				for done[tried] > 0 {
					tried += done[tried]
				}
				err = errors.Join(err, failed)
				fmt.Fprintf(s.Err, "%d %s, %s, %.0f s; next is -seed %d\n", tried, o.What, sofar, time.Since(start).Seconds(), o.Seed+uint64(tried))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return tried, err
}
