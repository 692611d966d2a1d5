package repair

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
	pairs := disturbed([]*operation{
		{1, []touch{
			{seq: 1, word: 8, write: true, calls: within(1)},
			{seq: 2, word: 7, calls: within(1, 2)},
			{seq: 7, word: 7, write: true, calls: within(1, 2)},
			{seq: 8, word: 8, calls: within(1)},
		}},
		{2, []touch{
			{seq: 3, word: 8, write: true, calls: within(5)},
			{seq: 4, word: 7, calls: within(5, 6)},
			{seq: 5, word: 7, write: true, calls: within(5, 6)},
			{seq: 6, word: 8, calls: within(5)},
		}},
	})
	if got, want := disturbedWords(pairs), []uint64{7, 8}; !slices.Equal(got, want) {
		t.Errorf("words %v are disturbed, want %v: of deeper calls first", got, want)
	}
	stock := onWord(pairs, 7)
	if len(stock) != 1 || commonDepth(stock[0][0]) != 2 || commonDepth(stock[0][1]) != 2 {
		t.Errorf("the stock is disturbed in %v, want in calls 2 and 6", stock)
	}
	hits := onWord(pairs, 8)
	if len(hits) != 1 || commonDepth(hits[0][0]) != 1 {
		t.Errorf("the hits are disturbed in %v, want in call 1", hits)
	}
	for _, pair := range innermost(pairs) {
		if got := commonDepth(pair[0]); got != 2 {
			t.Errorf("of both words the innermost disturbed call is at depth %d, want 2", got)
		}
	}
}

// TestAnOperationThatOnlyItsWholeShowsStaysWhole has a move between two words, each of them changed in a call of its
// own, that another operation reads in between.
func TestAnOperationThatOnlyItsWholeShowsStaysWhole(t *testing.T) {
	pairs := disturbed([]*operation{
		{1, []touch{
			{seq: 1, word: 7, write: true, calls: within(1, 2)},
			{seq: 4, word: 8, write: true, calls: within(1, 3)},
		}},
		{2, []touch{
			{seq: 2, word: 7, calls: within(5)},
			{seq: 3, word: 8, calls: within(5)},
		}},
	})
	if words := disturbedWords(pairs); len(words) != 0 {
		t.Errorf("words %v are disturbed by themselves", words)
	}
	for _, pair := range innermost(pairs) {
		if len(pair[0]) != 2 || commonDepth(pair[0]) != 1 {
			t.Errorf("the move is narrowed to %v", pair[0])
		}
	}
}
