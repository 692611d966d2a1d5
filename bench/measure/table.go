package measure

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Table is printed with its columns aligned: names to the left, numbers to the
// right.
type Table struct {
	Head []string
	Left int // leading columns that hold names; 0 counts as 1
	rows [][]string
}

// Row adds a line. Cells are printed with %v.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

// Gap adds an empty line.
func (t *Table) Gap() { t.rows = append(t.rows, nil) }

// Write prints the table.
func (t *Table) Write(w io.Writer) {
	widths := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range append([][]string{t.Head}, t.rows...) {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			b.WriteString("  ")
			if i < max(t.Left, 1) {
				b.WriteString(cell + pad)
			} else {
				b.WriteString(pad + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
