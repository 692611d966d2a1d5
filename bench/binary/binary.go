// Package binary measures what works on programs without source: how the emulator
// compares with the processor, how fast it is, and whether real programs run in it to the
// right output.
//
// binary.go has the flags and prints, differential.go, lifting.go, speed.go, programs.go,
// exploring.go, fixing.go, analysis.go, section.go and corpus.go measure.
package binary

import (
	"flag"
	"fmt"
	"regexp"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/command"
)

// Benchmark is what go run ./bench binary runs.
var Benchmark = &command.Benchmark{
	Name:  "binary",
	About: "programs without source: the emulator beside the processor, its speed, and real programs in it",
	Usage: "[-figure NAMES] [-run REGEXP] [-instructions N] [-seed N] ",
	Help: `The figures are
  differential  random instructions of every form, and the starts of programs, on the
                processor and in the emulator: registers, flags, vectors, memory
  speed         instructions a second of processor time, recorded and not
  programs      programs of the system in the emulator, and what they put out beside
                what they put out without it
  explore       the six bugs of the paper, found in stripped programs
  lift          common programs as the engine's instructions, and random instructions
                executed by the engine beside the emulator
  fix           the six bugs of the paper, fixed in stripped programs, beside the paper's
                tables 1 and 2
  analysis      how long the analysis of a long run takes
  section       what a section of a patch costs
  corpus        the same bugs by all compilers and levels of optimisation that are here, and
                the programs of examples/binary/more; some half an hour`,
	Quick: "compare a twentieth of the instructions, on smaller inputs",
	New: func(flags *flag.FlagSet) command.Measurement {
		m := &measurement{figures: command.NewChoice(flags, "figure", figures), run: command.Pattern(flags, "run", "of the corpus, only the programs whose names match this `regexp`")}
		flags.IntVar(&m.instructions, "instructions", 10_000_000, "compare at least this `number` of random instructions")
		flags.Uint64Var(&m.seed, "seed", 1, "make the random instructions from this `number`")
		return m
	},
}

var figures = []string{"differential", "speed", "programs", "explore", "lift", "fix", "analysis", "section", "corpus"}

type measurement struct {
	figures      *command.Choice
	run          *regexp.Regexp
	instructions int
	seed         uint64
}

// A Report is what -json writes.
type Report struct {
	Differential *Differential `json:"differential,omitempty"`
	Speed        []Speed       `json:"speed,omitempty"`
	Programs     []Program     `json:"programs,omitempty"`
	Explore      []Exploration `json:"explore,omitempty"`
	Lift         *Lifting      `json:"lift,omitempty"`
	Fix          []Fixing      `json:"fix,omitempty"`
	Analysis     *Analysis     `json:"analysis,omitempty"`
	Section      *SectionCost  `json:"section,omitempty"`
	Corpus       *Corpus       `json:"corpus,omitempty"`
}

func (m *measurement) Check(quick bool) error {
	if quick {
		m.instructions /= 20
	}
	return command.AtLeastOne("instructions", m.instructions)
}

func (m *measurement) Measure(s *command.Session) (any, error) {
	report := &Report{}
	if m.figures.Has("differential") {
		d, err := m.differential(s)
		if err != nil {
			return report, err
		}
		report.Differential = d
	}
	if m.figures.Has("speed") {
		speeds, err := measureSpeed(s)
		if err != nil {
			return report, err
		}
		report.Speed = speeds
	}
	if m.figures.Has("programs") {
		programs, err := runPrograms(s)
		if err != nil {
			return report, err
		}
		report.Programs = programs
	}
	if m.figures.Has("explore") {
		found, err := exploreExamples(s)
		if err != nil {
			return report, err
		}
		report.Explore = found
	}
	if m.figures.Has("lift") {
		lifted, err := m.lift(s)
		if err != nil {
			return report, err
		}
		report.Lift = lifted
	}
	if m.figures.Has("fix") {
		fixed, err := fixExamples(s)
		if err != nil {
			return report, err
		}
		report.Fix = fixed
	}
	if m.figures.Has("analysis") {
		analysis, err := measureAnalysis(s)
		if err != nil {
			return report, err
		}
		report.Analysis = analysis
	}
	if m.figures.Has("section") {
		cost, err := sectionCost(s)
		if err != nil {
			return report, err
		}
		report.Section = cost
	}
	if m.figures.Has("corpus") {
		corpus, err := fixCorpus(s, m.run)
		if err != nil {
			return report, err
		}
		report.Corpus = corpus
	}
	return report, nil
}

// verdict says whether a target is reached.
func verdict(reached bool) string {
	if reached {
		return "reached"
	}
	return "MISSED"
}

// grouped is a number with its thousands apart.
func grouped[T int | uint64](n T) string {
	s := fmt.Sprint(n)
	var groups []string
	for len(s) > 3 {
		groups = append([]string{s[len(s)-3:]}, groups...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, groups...), ",")
}
