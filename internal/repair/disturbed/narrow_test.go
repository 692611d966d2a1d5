package disturbed

import (
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// within is calls in progress, by the numbers of their frames, from the operation on.
func within(ids ...uint32) []trace.Frame {
	var calls []trace.Frame
	for _, id := range ids {
		calls = append(calls, trace.Frame{ID: id})
	}
	return calls
}

// TestTheInnermostCallThatIsDisturbedIsFound has an operation, call 1, that counts a hit (word 8) in itself, takes
// from a stock (word 7) in call 2, and counts again, while another operation, call 5, does the same in call 6.
func TestTheInnermostCallThatIsDisturbedIsFound(t *testing.T) {
	pairs := Pairs([]*Operation{
		{1, []Touch{
			{Seq: 1, Word: 8, Write: true, Calls: within(1)},
			{Seq: 2, Word: 7, Calls: within(1, 2)},
			{Seq: 7, Word: 7, Write: true, Calls: within(1, 2)},
			{Seq: 8, Word: 8, Calls: within(1)},
		}},
		{2, []Touch{
			{Seq: 3, Word: 8, Write: true, Calls: within(5)},
			{Seq: 4, Word: 7, Calls: within(5, 6)},
			{Seq: 5, Word: 7, Write: true, Calls: within(5, 6)},
			{Seq: 6, Word: 8, Calls: within(5)},
		}},
	})
	if got, want := Words(pairs), []uint64{7, 8}; !slices.Equal(got, want) {
		t.Errorf("words %v are disturbed, want %v: of deeper calls first", got, want)
	}
	stock := OnWord(pairs, 7)
	if len(stock) != 1 || CommonDepth(stock[0][0]) != 2 || CommonDepth(stock[0][1]) != 2 {
		t.Errorf("the stock is disturbed in %v, want in calls 2 and 6", stock)
	}
	hits := OnWord(pairs, 8)
	if len(hits) != 1 || CommonDepth(hits[0][0]) != 1 {
		t.Errorf("the hits are disturbed in %v, want in call 1", hits)
	}
	for _, pair := range Innermost(pairs) {
		if got := CommonDepth(pair[0]); got != 2 {
			t.Errorf("of both words the innermost disturbed call is at depth %d, want 2", got)
		}
	}
}

// TestAnOperationThatOnlyItsWholeShowsStaysWhole has a move between two words, each of them changed in a call of its
// own, that another operation reads in between.
func TestAnOperationThatOnlyItsWholeShowsStaysWhole(t *testing.T) {
	pairs := Pairs([]*Operation{
		{1, []Touch{
			{Seq: 1, Word: 7, Write: true, Calls: within(1, 2)},
			{Seq: 4, Word: 8, Write: true, Calls: within(1, 3)},
		}},
		{2, []Touch{
			{Seq: 2, Word: 7, Calls: within(5)},
			{Seq: 3, Word: 8, Calls: within(5)},
		}},
	})
	if words := Words(pairs); len(words) != 0 {
		t.Errorf("words %v are disturbed by themselves", words)
	}
	for _, pair := range Innermost(pairs) {
		if len(pair[0]) != 2 || CommonDepth(pair[0]) != 1 {
			t.Errorf("the move is narrowed to %v", pair[0])
		}
	}
}
