package transactions

import (
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/stm"
)

// A transaction that nobody disturbs logs no reads, and so none are counted. How many words the
// transactions of a program read is counted in mode helper, where they always log: for a while,
// in a process of its own.

const figureReads = "reads"

// counted is the variant that is watched for its reads.
const counted measure.Variant = "counted"

func readsCases(s size) []measure.Case {
	var cases []measure.Case
	for _, p := range programs {
		cases = append(cases, measure.Case{Figure: figureReads, Name: p.name, Ops: 1, Contenders: []measure.Contender{
			p.contender(counted, s, 1, func(in input) outcome { return in.transactional(1, stm.Options{Mode: stm.Helper}) }),
		}})
	}
	return cases
}

// enterReads has the words that transactions read in the counters of a result of STAMP, by those
// of helper if that was measured.
func (s *session) enterReads(r *measure.Result) error {
	from, ok := r.Timing(Helper)
	if !ok {
		var err error
		if from, err = s.countReads(r.Name); err != nil {
			return err
		}
	}
	each := from.Counters[readWords] / max(from.Counters[commits], 1)
	for _, t := range r.Timings {
		if n := t.Counters[commits]; n > 0 {
			t.Counters[readWords] = each * n
		}
	}
	return nil
}

func (s *session) countReads(program string) (measure.Timing, error) {
	for _, c := range readsCases(s.size) {
		if c.Name != program {
			continue
		}
		if known, ok := s.ledger.has(aloneOf(c, counted)); ok {
			return known.Timings[0], nil
		}
		s.Progress.Drop(-s.weight(figureReads))
		return s.runAlone(c, counted, 1, time.Second)
	}
	return measure.Timing{}, nil
}
