package protecting

import (
	"flag"
	"fmt"
	"runtime/debug"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/lots"
	"github.com/cofferdam-go/cofferdam/internal/randprog/sharing"
	"github.com/cofferdam-go/cofferdam/internal/truth/protected"
)

// Fuzz is go run ./bench protect-fuzz.
var Fuzz = &command.Benchmark{
	Name:  "protect-fuzz",
	About: "random programs without races, protected in each mode, must print the same",
	Usage: "[-programs N] [-seed N] [-lot N] ",
	Help: `Makes up programs in which critical sections reach the same few objects by pointers,
slices, closures, interfaces, method values, generic functions, lists, entries of maps and
other goroutines, which take turns or run side by side, and compares what they print with
and without protection, in each mode. Nothing may be found in them either. A program that differs is made smaller and printed,
with its seed. In one lot of four the compiler inlines, as it does for users; in the others it does not, which is
cheaper. The last line says how many of the sections were really protected.`,
	Quick: "300 programs, for a look",
	New:   newFuzz,
}

// A fuzzer is one run of the command.
type fuzzer struct{ lots.Options }

func newFuzz(flags *flag.FlagSet) command.Measurement {
	f := &fuzzer{lots.Options{What: "programs", Size: 300, Quick: 300}}
	f.CountFlags(flags, 100_000)
	flags.IntVar(&f.Size, "lot", f.Size, "how many `programs` are built together")
	return f
}

// A fuzzReport is what -json writes.
type fuzzReport struct {
	Programs, Sections, Protected, Whole int
	Seed                                 uint64
	Different                            []string
}

// inlined says how many lots there are to one in whose programs the compiler inlines, as it does for users.
const inlined = 4

// maxShrinks is how often programs of a kind that has been seen are made smaller.
const maxShrinks = 5

func (f *fuzzer) Measure(s *command.Session) (_ any, err error) {
	debug.SetGCPercent(400) // a sixth of the tool's time is the collector's
	r := &fuzzReport{Seed: f.Seed}
	trial := &protected.Trial{Dir: s.Temp(""), Ways: protected.Ways}
	r.Programs, err = f.Each(s, func(seeds []uint64) (string, error) {
		trial.Calls = seeds[0]/uint64(f.Size)%inlined != 0
		var programs []sharing.Program
		for i, seed := range seeds {
			programs = append(programs, sharing.New(fmt.Sprintf("P%d", i), seed))
		}
		result, err := trial.Run(s.Context, programs)
		if err != nil {
			return "", err
		}
		r.Sections, r.Protected, r.Whole = r.Sections+result.Sections, r.Protected+result.Protected, r.Whole+result.Whole
		for _, d := range result.Differences {
			if len(r.Different) < maxShrinks && err == nil {
				d, err = trial.Shrink(s.Context, d, 30)
				fmt.Fprintln(s.Out, d)
			}
			r.Different = append(r.Different, d.String())
		}
		return fmt.Sprintf("%d differ, %d of %d sections protected", len(r.Different), r.Protected, r.Sections), err
	})
	fmt.Fprintf(s.Out, "%d random programs from seed %d, %d ways to protect them: of %d sections %d are protected, %d of them from lock to unlock; %d programs print something else\n",
		r.Programs, r.Seed, len(protected.Ways), r.Sections, r.Protected, r.Whole, len(r.Different))
	return r, err
}
