package disturbed

import (
	"slices"
	"testing"
)

// TestOperationsAreDisturbedBetweenTheirAccesses has two operations with accesses at some times to two
// words of memory.
func TestOperationsAreDisturbedBetweenTheirAccesses(t *testing.T) {
	read := func(seq, word uint64) Touch { return Touch{Seq: seq, Word: word} }
	write := func(seq, word uint64) Touch { return Touch{Seq: seq, Word: word, Write: true} }
	for name, test := range map[string]struct {
		all  []*Operation
		want [][2]int // how many accesses of each
	}{
		"one after the other": {[]*Operation{
			{1, []Touch{read(1, 7), write(2, 7)}},
			{2, []Touch{read(3, 7), write(4, 7)}},
		}, nil},
		"a lost update": {[]*Operation{
			{1, []Touch{read(1, 7), write(4, 7)}},
			{2, []Touch{read(2, 7), write(3, 7)}},
		}, [][2]int{{3, 3}}},
		"only read": {[]*Operation{
			{1, []Touch{read(1, 7), read(4, 7)}},
			{2, []Touch{read(2, 7), read(3, 7)}},
		}, nil},
		"between two words": {[]*Operation{
			{1, []Touch{write(1, 7), write(4, 8)}},
			{2, []Touch{read(2, 7), read(3, 8)}},
		}, [][2]int{{2, 2}}},
		"other words": {[]*Operation{
			{1, []Touch{write(1, 7), write(4, 7)}},
			{2, []Touch{write(2, 8), write(3, 8)}},
		}, nil},
		"the same goroutine": {[]*Operation{
			{1, []Touch{write(1, 7), write(4, 7)}},
			{1, []Touch{write(2, 7), write(3, 7)}},
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got [][2]int
			for _, pair := range Pairs(test.all) {
				got = append(got, [2]int{len(pair[0]), len(pair[1])})
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
