// Package fixfuzz tries fixes on many random packages, against a judge that shares no code
// with the fixer (internal/truth/fixes). It owns no logic: it draws packages from a seed, hands
// them over in lots that are built together, some lots side by side, and counts.
package fixfuzz

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/lots"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/randprog/compound"
	"github.com/cofferdam-go/cofferdam/internal/truth/fixes"
)

// Benchmark is go run ./bench fix-fuzz.
var Benchmark = &command.Benchmark{
	Name:  "fix-fuzz",
	About: "fixes of random packages, judged by tests that they were not shown",
	Usage: "[-packages N] [-compounds N] [-mistakes N] [-seed N] [-states N] [-budget 2s] [-j N] [-matching REGEXP] [-show] ",
	Help: `Fixes random packages whose methods race, shown one failing test each, and judges each
fix by all other pairs of methods under every schedule: lost updates, deadlocks, leaks,
races. Then come packages whose operations are made of each other (reads over several calls, a
check in one helper and an act in another, loops whose condition reads shared data, inner
types, a second package, objects that are replaced, copied and moved, interfaces, embedded and
generic types, contexts, jobs that are claimed, iterators): what two operations return and leave together must be what they do in
one of the two orders. Last come random packages with mistakes for which no lock is missing (order, channels,
locks, captured variables), each judged by functions that use it otherwise than its test. A
false fix is printed with its seed.`,
	Quick: "20 packages of each kind, for a look",
	New:   newMeasurement,
}

type options struct {
	lots.Options
	mistakes, compounds, jobs int
	budget                    time.Duration
	show                      bool
	matching                  string // a regular expression
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{Options: lots.Options{What: "packages", Size: 25, Quick: 20, Optional: true}}
	o.Flags(flags, 1000, 50_000)
	flags.IntVar(&o.compounds, "compounds", 1000, "how many packages with operations made of `others` to try")
	flags.IntVar(&o.mistakes, "mistakes", 300, "how many packages with other `mistakes` to try")
	flags.DurationVar(&o.budget, "budget", 2*time.Second, "how long to look for a failure")
	flags.IntVar(&o.jobs, "j", runtime.GOMAXPROCS(0), "how many `lots` of packages to try side by side")
	flags.StringVar(&o.matching, "matching", "", "of the packages with operations made of others, try those whose source matches a regular `expression`")
	flags.BoolVar(&o.show, "show", false, "print every package, with its fix or why there is none")
	return o
}

func (o *options) Check(quick bool) error {
	if quick {
		o.mistakes, o.compounds = min(o.mistakes, o.Quick), min(o.compounds, o.Quick)
	}
	if o.mistakes < 0 || o.compounds < 0 || o.Count+o.mistakes+o.compounds == 0 {
		return errors.New("-packages, -compounds and -mistakes are numbers of packages, and not all 0")
	}
	return errors.Join(o.Options.Check(quick), command.AtLeastOne("j", o.jobs), command.SomeTime("budget", o.budget))
}

// A report is what -json writes.
type report struct {
	Seed uint64
	// Objects are packages whose methods race, Compounds those whose operations are made of each
	// other, Mistakes those for which no lock is missing.
	Objects, Compounds, Mistakes *tally
}

// A tally is what came of packages of one kind.
type tally struct {
	Packages, Fixed, Refused, NoFailure, Uncovered, Judged, Unjudged int
	False                                                            []string
	Refusals                                                         []string
	// Families counts mistakes by their kind: those that were mended, and all.
	Families map[string][2]int
}

func (o *options) Measure(s *command.Session) (any, error) {
	r := &report{Seed: o.Seed, Objects: &tally{}, Compounds: &tally{}, Mistakes: &tally{Families: make(map[string][2]int)}}
	err := o.try(s, r.Objects, func(seed uint64) *fixes.Case { return &fixes.Case{Object: randprog.NewObject(seed)} })
	if err == nil {
		compounds := *o
		compounds.What, compounds.Count = "compound packages", o.compounds
		err = compounds.try(s, r.Compounds, func(seed uint64) *fixes.Case {
			return &fixes.Case{Compound: compound.New(seed, fmt.Sprintf("random/p%d", seed))}
		})
	}
	if err == nil {
		mistaken := *o
		mistaken.What, mistaken.Count = "mistaken packages", o.mistakes
		err = mistaken.try(s, r.Mistakes, func(seed uint64) *fixes.Case { return &fixes.Case{Mistake: randprog.NewMistake(seed)} })
	}
	r.Objects.print(s.Out, "racy", o.Seed)
	r.Compounds.print(s.Out, "compound", o.Seed)
	r.Mistakes.print(s.Out, "mistaken", o.Seed)
	for _, family := range slices.Sorted(maps.Keys(r.Mistakes.Families)) {
		n := r.Mistakes.Families[family]
		fmt.Fprintf(s.Out, "  %-13s %d of %d mended\n", family, n[0], n[1])
	}
	return r, err
}

// try tries packages in lots, some side by side: each has a trial of its own, because a judge is for
// one lot at a time.
func (o *options) try(s *command.Session, t *tally, made func(seed uint64) *fixes.Case) error {
	matching, err := regexp.Compile(o.matching)
	if err != nil {
		return fmt.Errorf("-matching: %w", err)
	}
	trials := make([]*fixes.Trial, o.jobs)
	for i := range trials {
		trials[i] = &fixes.Trial{Temp: s.Temp(""), States: o.States, Budget: o.budget}
	}
	var counting sync.Mutex // guards t and what is printed
	_, err = o.EachBeside(s, o.jobs, func(worker int, seeds []uint64) (string, error) {
		var cases []*fixes.Case
		for _, seed := range seeds {
			c := made(seed)
			if c.Compound != nil && !matching.MatchString(c.Compound.Source) {
				continue
			}
			c.Name = fmt.Sprintf("p%d", seed)
			cases = append(cases, c)
		}
		var err error
		if len(cases) > 0 {
			err = trials[worker].Run(s.Context, cases)
		}
		counting.Lock()
		defer counting.Unlock()
		t.Packages += len(cases)
		for _, c := range cases {
			t.count(c)
			if c.False != "" || o.show {
				fmt.Fprintln(s.Out, c)
			}
		}
		return fmt.Sprintf("%d fixed, %d false", t.Fixed, len(t.False)), err
	})
	return err
}

// print prints what came of the packages.
func (t *tally) print(w io.Writer, kind string, seed uint64) {
	if t.Packages > 0 {
		fmt.Fprintf(w, "%d random %s packages from seed %d: %d fixed, %d refused, %d without a failure; %d fixes are false. %d methods are told as not covered; %d pairs and uses were judged, %d are too large\n",
			t.Packages, kind, seed, t.Fixed, t.Refused, t.NoFailure, len(t.False), t.Uncovered, t.Judged, t.Unjudged)
	}
}

// count adds what came of a package.
func (t *tally) count(c *fixes.Case) {
	t.Uncovered += c.Uncovered
	t.Judged += c.Judged
	t.Unjudged += c.Unjudged
	switch {
	case c.NoFailure:
		t.NoFailure++
	case c.Refusal != "":
		t.Refused++
		t.Refusals = append(t.Refusals, c.Name+": "+c.Refusal)
	case c.Diff != "":
		t.Fixed++
	}
	if c.False != "" {
		t.False = append(t.False, c.String())
	}
	if c.Mistake != nil {
		n := t.Families[c.Mistake.Family]
		n[1]++
		if c.Diff != "" {
			n[0]++
		}
		t.Families[c.Mistake.Family] = n
	}
}
