package page

import (
	"strconv"
	"strings"
)

// A FileDiff is the change of a file, the old text beside the new one.
type FileDiff struct {
	Name string
	Rows []DiffRow
}

// A DiffRow is a line of the old text and a line of the new one; one side may have none. Hunk is
// set for a row that says where the next lines are.
type DiffRow struct {
	Hunk               string
	OldLine, NewLine   int
	Old, New           string
	OldClass, NewClass string
}

// SplitDiff takes a unified diff apart, with removed lines beside those that come in their place:
//
//	 func (m *Meter) Tick() {        func (m *Meter) Tick() {
//	-	m.count++                    	m.mu.Lock()
//	+	m.mu.Lock()                  	m.count++
func SplitDiff(diff string) []FileDiff {
	var d diffSplitter
	for _, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		d.line(line)
	}
	d.flush()
	return d.files
}

// A diffSplitter collects removed and added lines until others follow, and then lays them side by
// side.
type diffSplitter struct {
	files            []FileDiff
	oldLine, newLine int
	// oldLeft and newLeft are how many lines are still to come in the hunk: a removed line may look
	// like the head of a file.
	oldLeft, newLeft int
	gone, added      []DiffRow
}

// file is the one that lines belong to; nil if there is none yet.
func (d *diffSplitter) file() *FileDiff {
	if len(d.files) == 0 {
		return nil
	}
	return &d.files[len(d.files)-1]
}

func (d *diffSplitter) line(line string) {
	if d.oldLeft > 0 || d.newLeft > 0 {
		d.content(line)
		return
	}
	d.flush()
	switch file := d.file(); {
	case strings.HasPrefix(line, "--- "):
		d.files = append(d.files, FileDiff{Name: strings.TrimPrefix(strings.TrimPrefix(line, "--- "), "a/")})
	case file == nil: // what stands above the first file
	case strings.HasPrefix(line, "+++ "):
		if name := strings.TrimPrefix(line, "+++ "); name != "/dev/null" {
			file.Name = strings.TrimPrefix(name, "b/")
		}
	case strings.HasPrefix(line, "@@"):
		d.oldLine, d.oldLeft = hunkRange(line, '-')
		d.newLine, d.newLeft = hunkRange(line, '+')
		file.Rows = append(file.Rows, DiffRow{Hunk: line})
	}
}

// hunkRange is where a hunk begins on a side, and how many lines it has there; one, if it does not
// say.
func hunkRange(line string, side byte) (first, count int) {
	_, rest, _ := strings.Cut(line, " "+string(side))
	rest, _, _ = strings.Cut(rest, " ")
	from, n, counted := strings.Cut(rest, ",")
	first, _ = strconv.Atoi(from)
	if !counted {
		return first, 1
	}
	count, _ = strconv.Atoi(n)
	return first, count
}

// content takes a line of a hunk.
func (d *diffSplitter) content(line string) {
	switch {
	case strings.HasPrefix(line, "-"):
		d.gone = append(d.gone, DiffRow{OldLine: d.oldLine, Old: line[1:]})
		d.oldLine++
		d.oldLeft--
	case strings.HasPrefix(line, "+"):
		d.added = append(d.added, DiffRow{NewLine: d.newLine, New: line[1:]})
		d.newLine++
		d.newLeft--
	case strings.HasPrefix(line, `\`): // a note that a file does not end in a line break
	default:
		d.flush()
		text := strings.TrimPrefix(line, " ")
		file := d.file()
		file.Rows = append(file.Rows, DiffRow{OldLine: d.oldLine, NewLine: d.newLine, Old: text, New: text})
		d.oldLine++
		d.newLine++
		d.oldLeft--
		d.newLeft--
	}
}

func (d *diffSplitter) flush() {
	for i := range max(len(d.gone), len(d.added)) {
		row := DiffRow{OldClass: "none", NewClass: "none"}
		if i < len(d.gone) {
			row.OldLine, row.Old, row.OldClass = d.gone[i].OldLine, d.gone[i].Old, "gone"
		}
		if i < len(d.added) {
			row.NewLine, row.New, row.NewClass = d.added[i].NewLine, d.added[i].New, "new"
		}
		d.file().Rows = append(d.file().Rows, row)
	}
	d.gone, d.added = nil, nil
}
