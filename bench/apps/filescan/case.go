package filescan

import (
	"errors"
	"fmt"

	"github.com/cofferdam-go/cofferdam/bench/apps/variant"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

const workers = 4

// Case is the scan of as many files as in the paper.
func Case(quick bool) measure.Case {
	files := 4800
	if quick {
		files = 800
	}
	return measure.Case{
		Figure:     "11",
		Name:       "pfscan",
		Params:     measure.Params{measure.Goroutines: workers},
		Ops:        files,
		Baseline:   measure.SameMemory,
		Contenders: variant.Contenders(func(v measure.Variant) measure.Trial { return prepare(v, files) }),
	}
}

func prepare(v measure.Variant, files int) measure.Trial {
	corpus, err := corpusOf(files)
	if err != nil {
		return measure.Trial{Run: func() {}, Close: func() error { return err }}
	}
	scanner := New(v, workers)
	var found Counts
	return measure.Trial{
		Run: func() { found, err = scanner.Scan(corpus.root) },
		Close: func() error {
			if err == nil && found != corpus.counts {
				err = fmt.Errorf("found the keywords %v %v times; they are there %v times", Keywords, found, corpus.counts)
			}
			return errors.Join(err, scanner.Close())
		},
	}
}
