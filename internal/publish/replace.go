package publish

import (
	"strings"
	"unicode/utf8"
)

// A replacement is lines of a file that become others. Its end is the first position behind
// them, counted from 1 as SARIF has it.
type replacement struct {
	startLine, endLine, endColumn int
	text                          string
}

// mostCompared bounds the table by which lines are compared; beyond it all lines between the
// first and the last that differ are one replacement.
const mostCompared = 4 << 20

// replacements returns what turns one text into another, line by line and in order.
//
//	type Meter struct {          type Meter struct {
//		count int                	mu    sync.Mutex       2:1 to 2:1, one line inserted
//	}                            	count int
//	                             }
func replacements(before, after []byte) []replacement {
	a, b := strings.SplitAfter(string(before), "\n"), strings.SplitAfter(string(after), "\n")
	first := 0
	for first < len(a) && first < len(b) && a[first] == b[first] {
		first++
	}
	endA, endB := len(a), len(b)
	for endA > first && endB > first && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	var all []replacement
	add := func(fromA, toA, fromB, toB int) {
		if fromA == toA && fromB == toB {
			return
		}
		r := replacement{startLine: fromA + 1, endLine: toA + 1, endColumn: 1, text: strings.Join(b[fromB:toB], "")}
		if toA == len(a) { // there is no line behind the last
			r.endLine, r.endColumn = toA, utf8.RuneCountInString(a[toA-1])+1
		}
		all = append(all, r)
	}
	n, m := endA-first, endB-first
	if n == 0 || m == 0 || n*m > mostCompared {
		add(first, endA, first, endB)
		return all
	}
	common := commonLines(a[first:endA], b[first:endB])
	i, j := 0, 0
	fromA, fromB := 0, 0
	for i < n && j < m {
		switch {
		case a[first+i] == b[first+j]:
			add(first+fromA, first+i, first+fromB, first+j)
			i, j = i+1, j+1
			fromA, fromB = i, j
		case common[(i+1)*(m+1)+j] >= common[i*(m+1)+j+1]:
			i++
		default:
			j++
		}
	}
	add(first+fromA, endA, first+fromB, endB)
	return all
}

// commonLines has, for each pair of lines, how many the texts from there on have in common.
func commonLines(a, b []string) []int32 {
	n, m := len(a), len(b)
	common := make([]int32, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			at := i*(m+1) + j
			if a[i] == b[j] {
				common[at] = common[at+m+2] + 1
			} else {
				common[at] = max(common[at+m+1], common[at+1])
			}
		}
	}
	return common
}
