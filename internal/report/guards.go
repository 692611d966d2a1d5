package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/report/page"
)

// loadGuards makes the document of what guards -json has printed. Its positions are relative to the
// directory that the command ran in, which is taken to be the one that report runs in.
func loadGuards(path string) (*page.Document, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	var in guard.Report
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	out := &page.Guards{}
	for _, g := range in.Guards {
		lock := page.GuardedLock{Name: g.Lock, Type: g.Type, Place: g.Position, Link: sourceLink(g.Position)}
		for _, d := range g.Data {
			lock.Data = append(lock.Data, page.GuardedDatum{
				Name: d.Name, Place: d.Position, Link: sourceLink(d.Position), By: d.By, Confidence: d.Confidence, Signs: strings.Join(d.Signs, ", "),
				With: lineCounts(d.With), Without: lineCounts(d.Without), Deviations: len(d.Deviations),
			})
			out.Data++
			for _, v := range d.Deviations {
				out.Deviations++
				one := page.Deviation{What: v.Kind + " of " + d.Name, Place: v.Position, Link: sourceLink(v.Position), Function: v.Function, Why: "does not hold " + g.Lock, Lines: around(v.Position)}
				if v.Why != "" {
					one.Why = g.Lock + " is " + v.Why
				}
				for _, c := range v.From {
					one.From = append(one.From, c.Function+" at "+c.Position)
				}
				out.DeviationsByPlace = append(out.DeviationsByPlace, one)
			}
		}
		out.Locks = append(out.Locks, lock)
	}
	d := &page.Document{Title: "Guards", Badge: count(out.Deviations, "deviation"), Tone: "warn", Guards: out}
	if out.Deviations == 0 {
		d.Badge, d.Tone = "no deviation", "good"
	}
	d.Facts = []page.Fact{{Name: "file", Text: path}}
	return d, nil
}

func lineCounts(s guard.ReportedSites) string {
	return fmt.Sprintf("%d written, %d read", s.Writes, s.Reads)
}

// splitPosition takes file:line:column apart.
func splitPosition(position string) (file string, line int) {
	parts := strings.Split(position, ":")
	for i := len(parts) - 1; i > 0; i-- {
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return strings.Join(parts[:i+1], ":"), line
		}
		line = n
		file = strings.Join(parts[:i], ":")
	}
	return file, line
}

// sourceLink leads to a file of the disk.
func sourceLink(position string) string {
	file, _ := splitPosition(position)
	full, err := filepath.Abs(file)
	if err != nil || file == "" {
		return "#"
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(full)}).String()
}

// aroundPosition is how many lines are shown on each side of a deviation.
const aroundPosition = 4

// around are the lines of the source at a position; none if the file cannot be read.
func around(position string) []page.SourceLine {
	file, line := splitPosition(position)
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var all []page.SourceLine
	scanner := bufio.NewScanner(f)
	for n := 1; scanner.Scan() && n <= line+aroundPosition; n++ {
		if n >= line-aroundPosition {
			all = append(all, page.SourceLine{Number: n, Text: scanner.Text(), Here: n == line})
		}
	}
	return all
}
