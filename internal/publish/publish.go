// Package publish writes findings, and what came of tests, in the forms that other tools read.
//
//	publish.go    what is published: results, with the way to them and what mends them
//	sarif.go      SARIF 2.1.0, for code scanning and editors
//	flows.go      the part of it that shows how goroutines meet
//	rules.go      the part of it that says what each kind of finding is
//	replace.go    a changed file as the lines that are replaced
//	github.go     annotations that GitHub shows beside the lines of a pull request
//	tests.go      what came of a test
//	junit.go      JUnit's XML, for the reports of CI systems
//	test2json.go  the events of go test -json, for what reads these
//
// All parts of Cofferdam report in the one model of [finding.Finding]; a [Result] adds what a
// finding has no room for because it is linked into users' programs: the steps of a run and a
// change of the source. A data race, for example,
//
//	data race at toctou.go:12: write of count, and read of count at toctou.go:17, with nothing to order them
//
// becomes a SARIF result with the rule data-race, a location, a fingerprint that stays the same
// when lines move, one thread flow for each goroutine with its steps in the order of the run, and
// the proven fix as replacements of lines.
package publish

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// A Result is a finding with what leads to it and what mends it.
type Result struct {
	finding.Finding
	// Steps are the end of the run that shows it, in its order.
	Steps []Step
	Fix   *Fix
}

// A Step is what a goroutine did on the way to a failure.
type Step struct {
	Goroutine uint64 // 0 for what none does, such as that time passes
	Lane      string // the goroutine as people are told of it
	What      string
	At        finding.Frame
}

// A Fix is a change of the source that mends a finding.
type Fix struct {
	Description string
	Files       []File
}

// A File is one that a fix changes.
type File struct {
	Name          string
	Before, After []byte
}

// Results are findings alone.
func Results(findings []finding.Finding) []Result {
	all := make([]Result, len(findings))
	for i := range findings {
		all[i].Finding = findings[i]
	}
	return all
}

// Message says in sentences what a result is.
func (r *Result) Message() string {
	switch {
	case len(r.Accesses) > 0 && r.Accesses[0].Op == finding.Step && isOfSource(r.Kind):
		return r.Explanation // what an analyzer says is whole
	case r.Kind.OfRun():
		return r.Sentence()
	}
	text := string(r.Kind) + ": " + r.Summary()
	if r.Explanation != "" {
		text += ". " + r.Explanation
	}
	return text
}

// isOfSource reports whether findings of a kind are seen in the source, without a run.
func isOfSource(k finding.Kind) bool {
	return k == finding.Deviation || k == finding.SplitSection || k == finding.TransactionMisuse
}

// Root returns the directory that names of files are relative to, from which services resolve
// them: that of the repository around a directory, without one that of the workspace or module,
// without these the directory itself.
func Root(dir string) string {
	for _, mark := range []string{".git", "go.work", "go.mod"} {
		for at := dir; ; at = filepath.Dir(at) {
			if _, err := os.Stat(filepath.Join(at, mark)); err == nil {
				return at
			}
			if filepath.Dir(at) == at {
				break
			}
		}
	}
	return dir
}

// relative is the name of a file from a directory, with slashes; ok is false if it is not below it.
// A name that is relative already is from the current directory.
func relative(root, name string) (short string, ok bool) {
	if !filepath.IsAbs(name) {
		absolute, err := filepath.Abs(name)
		if err != nil {
			return filepath.ToSlash(name), false
		}
		name = absolute
	}
	if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel), true
	}
	return filepath.ToSlash(name), false
}

// fileURI is the address of a file or, with a slash at its end, of a directory.
func fileURI(name string) string {
	name = filepath.ToSlash(name)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // C:/x is file:///C:/x
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}

// text reads the lines of a file; nil if it cannot be read, as of a program from elsewhere.
func text(name string) []string {
	if info, err := os.Stat(name); err != nil || info.Mode()&fs.ModeType != 0 {
		return nil
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return strings.SplitAfter(string(content), "\n")
}
