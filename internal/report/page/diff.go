package page

import (
	"fmt"
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
	var files []FileDiff
	var file *FileDiff
	var gone, added []DiffRow
	oldLine, newLine := 0, 0
	flush := func() {
		for i := range max(len(gone), len(added)) {
			row := DiffRow{OldClass: "none", NewClass: "none"}
			if i < len(gone) {
				row.OldLine, row.Old, row.OldClass = gone[i].OldLine, gone[i].Old, "gone"
			}
			if i < len(added) {
				row.NewLine, row.New, row.NewClass = added[i].NewLine, added[i].New, "new"
			}
			file.Rows = append(file.Rows, row)
		}
		gone, added = nil, nil
	}
	for _, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "--- "):
			if file != nil {
				flush()
			}
			files = append(files, FileDiff{Name: strings.TrimPrefix(strings.TrimPrefix(line, "--- "), "a/")})
			file = &files[len(files)-1]
		case strings.HasPrefix(line, "+++ ") && file != nil && len(file.Rows) == 0 && len(gone)+len(added) == 0:
			if name := strings.TrimPrefix(line, "+++ "); name != "/dev/null" {
				file.Name = strings.TrimPrefix(name, "b/")
			}
		case file == nil: // what stands above the first file
		case strings.HasPrefix(line, "@@"):
			flush()
			var oldCount, newCount int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &oldLine, &oldCount, &newLine, &newCount); err != nil {
				oldLine, newLine = 1, 1
			}
			file.Rows = append(file.Rows, DiffRow{Hunk: line})
		case strings.HasPrefix(line, "-"):
			gone = append(gone, DiffRow{OldLine: oldLine, Old: line[1:]})
			oldLine++
		case strings.HasPrefix(line, "+"):
			added = append(added, DiffRow{NewLine: newLine, New: line[1:]})
			newLine++
		case strings.HasPrefix(line, " ") || line == "":
			flush()
			text := strings.TrimPrefix(line, " ")
			file.Rows = append(file.Rows, DiffRow{OldLine: oldLine, NewLine: newLine, Old: text, New: text})
			oldLine++
			newLine++
		}
	}
	if file != nil {
		flush()
	}
	return files
}
