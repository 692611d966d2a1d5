package source

import (
	"strings"
	"testing"
)

// TestLinesComeFromTheLinesBeforeTheChange: a line that stays, moves, is indented or has a word
// replaced comes from itself, and so does each piece of a line that was broken; a new line comes from
// the one that it stands before.
func TestLinesComeFromTheLinesBeforeTheChange(t *testing.T) {
	const before = `type T struct {
	n int
}

func (t *T) Add() int {
	if t.Get() > 3 {
		return 0
	}
	t.n++
	return t.n
}

func (t *T) Get() int { return t.n }

func (t *T) Set(n int) { t.n = n }`
	after := []struct {
		line string
		from int
	}{
		{`import "sync"`, 1},
		{"", 1},
		{"type T struct {", 1},
		{"	mu sync.Mutex // guards n", 2},
		{"	n  int", 2},
		{"}", 3},
		{"", 4},
		{"func (t *T) Add() int {", 5},
		{"	t.mu.Lock()", 6},
		{"	defer t.mu.Unlock()", 6},
		{"	if t.getLocked() > 3 {", 6},
		{"		return 0", 7},
		{"	}", 8},
		{"	t.n++", 9},
		{"	return t.n", 10},
		{"}", 11},
		{"", 12},
		{"func (t *T) Get() int {", 13},
		{"	t.mu.Lock()", 14},
		{"	return t.n", 13},
		{"}", 14},
		{"", 14},
		{"func (t *T) Set(n int) {", 15},
		{"	t.n = n", 15},
	}
	var text []string
	for _, l := range after {
		text = append(text, l.line)
	}
	lines := NewLines([]byte(before), []byte(strings.Join(text, "\n")))
	for i, l := range after {
		if got := lines.Before(i + 1); got != l.from {
			t.Errorf("line %d, %q, comes from %d, want %d", i+1, l.line, got, l.from)
		}
	}
	if none := (*Lines)(nil); none.Before(7) != 7 {
		t.Error("without a change, a line is not its own")
	}
}

// TestLinesOfLongTextsAreFoundInOrder: lines of a text of which some are taken out and some are new
// come from themselves, and never from a later line than those that follow.
func TestLinesOfLongTextsAreFoundInOrder(t *testing.T) {
	var before, after []string
	from := make(map[int]int) // line after, line before
	for i := range 3000 {
		line := strings.Repeat("x", i%7) + " = f(" + strings.Repeat("y", i%11) + ")" + strings.Repeat("z", i)
		before = append(before, line)
		if i%13 == 0 {
			continue
		}
		if i%17 == 0 {
			after = append(after, "mu.Lock()", "mu.Unlock()")
		}
		after = append(after, "\t"+line)
		from[len(after)] = i + 1
	}
	lines := NewLines([]byte(strings.Join(before, "\n")), []byte(strings.Join(after, "\n")))
	last := 0
	for i := range after {
		got := lines.Before(i + 1)
		if want, known := from[i+1]; known && got != want {
			t.Fatalf("line %d comes from %d, want %d", i+1, got, want)
		}
		if got < last {
			t.Fatalf("line %d comes from %d, the one before from %d", i+1, got, last)
		}
		last = got
	}
}
