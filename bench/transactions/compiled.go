package transactions

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/stm"
)

// The programs of STAMP with transactions that are plain code, compiled with -stm, beside those
// that are written with Load and Store.

const figureCompiled = "compiled"

// Compiled is transactions that are plain code.
const Compiled measure.Variant = "compiled"

func compiledCases(s size) []measure.Case {
	var cases []measure.Case
	for _, p := range programs {
		c := measure.Case{Figure: figureCompiled, Name: p.name, Ops: 1, Baseline: Eager}
		for _, n := range goroutines {
			c.Contenders = append(c.Contenders,
				p.contender(by(Eager, n), s, n, func(in input) outcome { return in.transactional(n, stm.Options{}) }),
				p.contender(by(Compiled, n), s, n, func(in input) outcome { return in.atomic(n) }))
		}
		cases = append(cases, c)
	}
	return cases
}

// compiled builds the worker of this program once more, with -stm, and compares.
func (s *session) compiled() error {
	s.Progress.Show("figure %s: building with -stm", figureCompiled)
	tool, err := s.builder.Cofferdam()
	if err != nil {
		return err
	}
	root, err := s.builder.Root()
	if err != nil {
		return err
	}
	s.compiledWorker = s.builder.Temp("compiledworker")
	build := exec.CommandContext(s.Context, tool, "build", "-stm", "-o", s.compiledWorker, "./transactions/compiledworker")
	build.Dir = filepath.Join(root, "bench")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building with -stm: %w\n%s", err, out)
	}
	err = s.measure(12*time.Second, compiledCases(s.size))
	s.printCompiled()
	return err
}

// workerOf is the program that runs a variant.
func (s *session) workerOf(v measure.Variant, self string) string {
	if v == Compiled || v == byTwo(Compiled) {
		return s.compiledWorker
	}
	return self
}

func (s *session) printCompiled() {
	results := s.Report.Of(figureCompiled)
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\nSTAMP with transactions as plain code, compiled with -stm, beside those with Load and Store, %s sets. Median\n"+
		"ms by one goroutine and by two, and words that a transaction wrote, and read after it had written: others are not counted.\n\n", s.size)
	t := measure.Table{Head: []string{"program", "by hand", "compiled", "compiled / by hand", "by hand, 2", "compiled, 2", "compiled / by hand, 2", "late reads", "compiled", "writes", "compiled"}}
	for _, r := range results {
		hand, _ := r.Timing(Eager)
		plain, _ := r.Timing(Compiled)
		per := func(t measure.Timing, name string) string {
			return fmt.Sprintf("%.1f", t.Counters[name]/max(t.Counters[commits], 1))
		}
		t.Row(r.Name, millis(r, Eager), millis(r, Compiled), times(r, Compiled, Eager), millis(r, byTwo(Eager)), millis(r, byTwo(Compiled)),
			times(r, byTwo(Compiled), byTwo(Eager)), per(hand, readWords), per(plain, readWords), per(hand, writtenWords), per(plain, writtenWords))
	}
	t.Write(s.Out)
}

// limitCompiled is what plain code may take over what is written by hand.
const limitCompiled = 1.3

func (s *session) targetsCompiled() []measure.Target {
	var ts []measure.Target
	for _, r := range s.Report.Of(figureCompiled) {
		if ratio, ok := r.Ratio(Compiled, Eager); ok {
			ts = append(ts, of(ratio, measure.Target{Name: r.Name + ": compiled over written by hand, by one goroutine, at most", Unit: "x", Limit: limitCompiled,
				Doubt: s.doubt(r, Compiled, Eager),
				Cost:  "who writes a transaction by hand knows what never changes, and reads that plainly"}))
		}
	}
	return ts
}
