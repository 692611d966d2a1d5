package transactions

import (
	"bytes"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Transactions that log nothing are told to read what those with a log do: one of ssca2 reads
// more than one word.
func TestReadsAreCountedWhereNoneAreLogged(t *testing.T) {
	s := inMemory(t, quick, new(bytes.Buffer))
	r := measure.Result{Figure: figureStamp, Name: "ssca2", Timings: []measure.Timing{{Variant: Sequential}, {Variant: Eager, Counters: map[string]float64{commits: 10}}}}
	if err := s.enterReads(&r); err != nil {
		t.Fatal(err)
	}
	if eager, _ := r.Timing(Eager); eager.Counters[readWords] < 10 || eager.Counters[readWords] > 100 {
		t.Errorf("ten transactions read %v words", eager.Counters[readWords])
	}
	r.Timings = append(r.Timings, measure.Timing{Variant: Helper, Counters: map[string]float64{commits: 2, readWords: 14}})
	if s.enterReads(&r); r.Timings[1].Counters[readWords] != 70 {
		t.Errorf("ten transactions read %v words, and two of helper 14", r.Timings[1].Counters[readWords])
	}
}
