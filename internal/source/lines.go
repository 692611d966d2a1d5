package source

import (
	"go/token"
	"slices"
	"strings"
)

// Lines say which line of a text each line of a changed version of it comes from. The nil Lines say
// that nothing was changed.
//
//	n := c.n            1      c.mu.Lock()         1    a new line belongs to the one that it
//	c.n = n + 1         2      n := c.n            1    stands before
//	                           c.n = n + 1         2
//	                           c.mu.Unlock()       3
//
// and a line that was broken into several is where all of them come from.
type Lines struct {
	before []int // by the line, counted from 0
}

// NewLines compares two versions of a text.
func NewLines(before, after []byte) *Lines {
	a, b := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	l := &alignment{before: trimmed(a), after: trimmed(b), from: make([]int, len(b))}
	for i := range l.from {
		l.from[i] = -1
	}
	l.align(0, len(a), 0, len(b))
	next := 0 // the line before the change that comes after those matched so far
	for i, from := range l.from {
		switch {
		case from >= 0:
			next = from + 1
		case next > 0 && isPieceOf(l.after[i], l.before[next-1]):
			l.from[i] = next - 1
		default:
			l.from[i] = min(next, len(a)-1)
		}
	}
	return &Lines{l.from}
}

// Before returns the line, counted from 1, that a line comes from.
func (l *Lines) Before(line int) int {
	if l == nil || line < 1 || line > len(l.before) {
		return line
	}
	return l.before[line-1] + 1
}

// LineBefore returns the line of a position in the text before it was changed.
func (f *File) LineBefore(at token.Pos) int { return f.Before.Before(f.Line(at)) }

// LineBefore returns the line that a line of a file has in the text before it was changed.
func (p *Program) LineBefore(name string, line int) int {
	if f := p.File(name); f != nil {
		return f.Before.Before(line)
	}
	return line
}

// An alignment matches lines of two versions, in their order.
type alignment struct {
	before, after []string
	from          []int // of each line after, the line before; -1 for none
}

// isPieceOf reports whether a line has words, all of which stand in another.
func isPieceOf(text, line string) bool {
	pieces, all := words(text), words(line)
	return len(pieces) > 0 && !slices.ContainsFunc(pieces, func(w string) bool { return !slices.Contains(all, w) })
}

func trimmed(lines []string) []string {
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = strings.TrimSpace(line)
	}
	return all
}

// align matches the lines from a to aEnd with those from b to bEnd.
func (l *alignment) align(a, aEnd, b, bEnd int) {
	for a < aEnd && b < bEnd && l.before[a] == l.after[b] {
		l.from[b] = a
		a, b = a+1, b+1
	}
	for a < aEnd && b < bEnd && l.before[aEnd-1] == l.after[bEnd-1] {
		aEnd, bEnd = aEnd-1, bEnd-1
		l.from[bEnd] = aEnd
	}
	if a == aEnd || b == bEnd {
		return
	}
	if fixed := l.unique(a, aEnd, b, bEnd); len(fixed) > 0 {
		for _, p := range fixed {
			l.align(a, p.before, b, p.after)
			l.from[p.after] = p.before
			a, b = p.before+1, p.after+1
		}
		l.align(a, aEnd, b, bEnd)
		return
	}
	if (aEnd-a)*(bEnd-b) <= mostCompared {
		l.alike(a, aEnd, b, bEnd)
	}
}

// mostCompared bounds how many pairs of lines are compared word by word.
const mostCompared = 1 << 18

type linePair struct{ before, after int }

// unique are the lines that each version has once, as many of them as have the same order.
func (l *alignment) unique(a, aEnd, b, bEnd int) []linePair {
	once := func(lines []string, from, to int) map[string]int {
		at := make(map[string]int)
		for i := from; i < to; i++ {
			if _, again := at[lines[i]]; again {
				at[lines[i]] = -1
			} else {
				at[lines[i]] = i
			}
		}
		return at
	}
	inBefore, inAfter := once(l.before, a, aEnd), once(l.after, b, bEnd)
	var pairs []linePair
	for i := b; i < bEnd; i++ {
		if text := l.after[i]; inAfter[text] == i && isTelling(text) {
			if from, ok := inBefore[text]; ok && from >= 0 {
				pairs = append(pairs, linePair{from, i})
			}
		}
	}
	return longestRising(pairs)
}

// isTelling reports whether a line has words: a brace is like every other.
func isTelling(text string) bool { return len(words(text)) > 0 }

// longestRising are the most pairs that are in order in both versions.
func longestRising(pairs []linePair) []linePair {
	var ends, previous []int // the last pair of the best rising row of each length; the one before each pair
	for i, p := range pairs {
		at, _ := slices.BinarySearchFunc(ends, p.before, func(end, line int) int { return pairs[end].before - line })
		if at == len(ends) {
			ends = append(ends, i)
		} else {
			ends[at] = i
		}
		if at > 0 {
			previous = append(previous, ends[at-1])
		} else {
			previous = append(previous, -1)
		}
	}
	var row []linePair
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = previous[i] {
			row = append(row, pairs[i])
		}
	}
	slices.Reverse(row)
	return row
}

// alike matches lines that have words in common, so that these are as many as can be.
func (l *alignment) alike(a, aEnd, b, bEnd int) {
	n, m := aEnd-a, bEnd-b
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if s := likeness(l.before[a+i], l.after[b+j]); s > 0 {
				best[i][j] = max(best[i][j], best[i+1][j+1]+s)
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		s := likeness(l.before[a+i], l.after[b+j])
		switch {
		case s > 0 && best[i][j] == best[i+1][j+1]+s:
			l.from[b+j] = a + i
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
}

// likeness says how alike two lines are; 0 if most of their words differ.
func likeness(before, after string) int {
	if before == after {
		return 2 + 4*len(words(before))
	}
	x, y := words(before), words(after)
	common := 0
	for _, w := range x {
		if slices.Contains(y, w) {
			common++
		}
	}
	if 2*common <= max(len(x), len(y)) {
		return 0
	}
	return 4 * common
}

// words are the names and numbers in a line.
func words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool {
		return !(r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r > 127)
	})
}
