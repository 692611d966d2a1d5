// Package report makes reports of what the other commands have written: a page for a recorded run,
// for what protected programs have found, for guards, for a campaign, and a list for a folder of them.
//
//	report.go   which kind of file it is, and the document that it becomes
//	run.go      a recorded run, with what came of its fix
//	fixresult.go  what came of a failing test, as fix writes it and report reads it
//	guards.go   what guards -json has printed
//	folder.go   all files of a folder
//	campaign.go the campaign whose state a folder is
//	serve.go    the same over HTTP, as it changes
//	export.go   forms for other programs and for reviews: Chrome traces, Markdown
//
// A file is known by what is in it, not by its name:
//
//	a trace          begins as package trace says
//	a fix            is an object with the keys failure and candidates, as fix -json prints them
//	guards           is an object with the key guards
//	findings         are lines with the keys id, kind and count
//
// Package lanes makes the data of a run, and package page the file. There is no second reader of
// traces or findings here.
package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/report/page"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Kind is what a file holds.
type Kind string

const (
	Run      Kind = "run"
	Fix      Kind = "fix"
	Findings Kind = "findings"
	Guards   Kind = "guards"
	Folder   Kind = "folder"
)

// ErrUnknown is in the error about a file that nothing can be reported of.
var ErrUnknown = errors.New("it is neither a trace, nor findings, nor what fix -json or guards -json print")

// Options are how a report is made.
type Options struct {
	// Progress is called now and then while a long trace is read; it may be nil.
	Progress func(done, all uint64)
	// Warn is called with a trace that lacks its end, of which the report tells what there is; it may
	// be nil.
	Warn func(file string, cut error)
}

func (o *Options) warn(file string, cut error) {
	if cut != nil && o.Warn != nil {
		o.Warn(file, cut)
	}
}

// Detect says what a file holds.
func Detect(path string) (Kind, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	switch {
	case info.IsDir():
		return Folder, nil
	case info.Size() == 0:
		return "", fmt.Errorf("reading %s: it is empty: what was to write it has not, or was interrupted", path)
	}
	r, err := trace.NewReader(f, info.Size())
	switch {
	case err == nil:
		r.Close()
		return Run, nil
	case !errors.Is(err, trace.ErrNotTrace):
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	var first map[string]json.RawMessage
	if err := json.NewDecoder(f).Decode(&first); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, ErrUnknown)
	}
	has := func(keys ...string) bool {
		for _, k := range keys {
			if _, ok := first[k]; !ok {
				return false
			}
		}
		return true
	}
	switch {
	case has("guards"):
		return Guards, nil
	case has("failure", "fixed"):
		return Fix, nil
	case has("id", "kind", "count"):
		return Findings, nil
	}
	return "", fmt.Errorf("reading %s: %w", path, ErrUnknown)
}

// Load makes the document of a file or a folder.
func Load(path string, o Options) (*page.Document, error) {
	kind, err := Detect(path)
	if err != nil {
		return nil, err
	}
	return load(path, kind, o)
}

func load(path string, kind Kind, o Options) (*page.Document, error) {
	switch kind {
	case Run:
		return loadRun(path, o)
	case Fix:
		return loadFix(path, o)
	case Findings:
		return loadFindings(path)
	case Guards:
		return loadGuards(path)
	case Folder:
		list, err := Scan(path)
		if err != nil {
			return nil, err
		}
		return list.Document(), nil
	}
	panic(fmt.Sprintf("report: a file of kind %q", kind))
}

// loadFindings makes the document of what protected programs have found.
func loadFindings(path string) (*page.Document, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	all, err := finding.ReadJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	// A program that runs on appends what is new to its findings: lines of the same finding are one.
	var log finding.Log
	for _, f := range all {
		log.Add(f)
	}
	merged := log.Findings()
	d := &page.Document{Title: filepath.Base(path), Badge: count(len(merged), "finding"), Tone: "warn", Findings: page.NewFindings(merged, all)}
	if len(merged) == 0 {
		d.Badge, d.Tone = "nothing found", "good"
	}
	d.Facts = []page.Fact{{Name: "file", Text: path}}
	return d, nil
}

// count is a number and what is counted.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// firstLine is a text up to its first line break, with a mark if there is more.
func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += " …"
	}
	return line
}
