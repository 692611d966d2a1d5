package vetting

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/go/analysis"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/publish"
)

// A diagnostic is one of those that go vet -json prints, by package and analyzer.
type diagnostic struct {
	Position string    `json:"posn"`
	Message  string    `json:"message"`
	Related  []related `json:"related"`
	Fixes    []struct {
		Message string `json:"message"`
		Edits   []edit `json:"edits"`
	} `json:"suggested_fixes"`
}

type related struct {
	Position string `json:"posn"`
	Message  string `json:"message"`
}

type edit struct {
	Filename   string `json:"filename"`
	Start, End int
	New        string `json:"new"`
}

// newDiagnostic is what an analyzer reports as go vet -json prints it, without fixes.
func newDiagnostic(pass *analysis.Pass, reported *analysis.Diagnostic) *diagnostic {
	d := &diagnostic{Position: pass.Fset.Position(reported.Pos).String(), Message: reported.Message}
	for _, r := range reported.Related {
		d.Related = append(d.Related, related{pass.Fset.Position(r.Pos).String(), r.Message})
	}
	return d
}

// kinds are what the analyzers find.
var kinds = map[string]finding.Kind{"guards": finding.Deviation, "splitsection": finding.SplitSection, "stmcheck": finding.TransactionMisuse}

// readDiagnostics reads what go vet -json prints: objects, with comments that name the packages. A package
// and its variant for tests tell the same.
func readDiagnostics(text []byte) ([]publish.Result, error) {
	var clean bytes.Buffer
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("#")) {
			clean.Write(line)
		}
	}
	var all []publish.Result
	seen := map[string]bool{}
	for d := json.NewDecoder(&clean); ; {
		var packages map[string]map[string]json.RawMessage
		if err := d.Decode(&packages); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading what go vet found: %w", err)
		}
		for _, pkg := range slices.Sorted(maps.Keys(packages)) {
			for _, name := range slices.Sorted(maps.Keys(packages[pkg])) {
				var list []diagnostic
				if err := json.Unmarshal(packages[pkg][name], &list); err != nil {
					return nil, fmt.Errorf("%s in %s: %s", name, pkg, packages[pkg][name])
				}
				for i := range list {
					if key := name + list[i].Position + list[i].Message; !seen[key] {
						seen[key] = true
						all = append(all, list[i].result(kinds[name]))
					}
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b publish.Result) int {
		x, y := a.Accesses[0].Site(), b.Accesses[0].Site()
		return strings.Compare(fmt.Sprintf("%s:%08d", x.File, x.Line), fmt.Sprintf("%s:%08d", y.File, y.Line))
	})
	return all, nil
}

// result is a diagnostic as all parts of Cofferdam tell of what they find.
func (d *diagnostic) result(kind finding.Kind) publish.Result {
	r := publish.Result{Finding: finding.Finding{
		Kind: kind, Explanation: d.Message, History: finding.Once("", 0, time.Time{}),
		Accesses: []finding.Access{{Op: finding.Step, Stack: []finding.Frame{placeOf(d.Position)}}},
	}}
	for _, related := range d.Related {
		r.Accesses = append(r.Accesses, finding.Access{Op: finding.Step, Target: related.Message, Stack: []finding.Frame{placeOf(related.Position)}})
	}
	if len(d.Fixes) > 0 {
		r.Fix = d.fix()
	}
	return r
}

// placeOf takes file:line:column apart.
func placeOf(position string) finding.Frame {
	rest, column, _ := cutLast(position)
	file, line, ok := cutLast(rest)
	if !ok {
		return finding.Frame{File: position}
	}
	l, _ := strconv.Atoi(line)
	c, _ := strconv.Atoi(column)
	return finding.Frame{File: file, Line: l, Column: c}
}

func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// fix is the first fix as changes of files; nil if it does not fit them.
func (d *diagnostic) fix() *publish.Fix {
	fix := &publish.Fix{Description: d.Fixes[0].Message}
	byFile := map[string][]edit{}
	for _, e := range d.Fixes[0].Edits {
		byFile[e.Filename] = append(byFile[e.Filename], e)
	}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		before, err := os.ReadFile(name)
		if err != nil {
			return nil
		}
		after := slices.Clone(before)
		edits := byFile[name]
		slices.SortFunc(edits, func(a, b edit) int { return b.Start - a.Start })
		for _, e := range edits {
			if e.Start < 0 || e.End < e.Start || e.End > len(after) {
				return nil
			}
			after = slices.Concat(after[:e.Start], []byte(e.New), after[e.End:])
		}
		fix.Files = append(fix.Files, publish.File{Name: name, Before: before, After: after})
	}
	return fix
}

// writeText prints results as go vet does, with names from the current directory.
func writeText(w io.Writer, results []publish.Result) {
	dir, _ := os.Getwd()
	for i := range results {
		at := results[i].Accesses[0].Site()
		if rel, err := filepath.Rel(dir, at.File); err == nil && filepath.IsLocal(rel) {
			at.File = rel
		}
		fmt.Fprintf(w, "%s:%d:%d: %s\n", at.File, at.Line, at.Column, results[i].Explanation)
	}
}
