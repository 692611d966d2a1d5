package publish

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The XML that CI systems read, as far as they agree on it.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`

		elapsed time.Duration
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes what came of tests as XML, with a suite for each package in the order of
// their names.
func WriteJUnit(w io.Writer, tests []Test) error {
	all := junitSuites{Name: "cofferdam explore"}
	var total time.Duration
	for _, t := range tests {
		at, found := slices.BinarySearchFunc(all.Suites, t.Package, func(s junitSuite, pkg string) int { return strings.Compare(s.Name, pkg) })
		if !found {
			all.Suites = slices.Insert(all.Suites, at, junitSuite{Name: t.Package})
		}
		suite := &all.Suites[at]
		one := junitCase{Class: t.Package, Name: t.Name, Time: seconds(t.Elapsed)}
		switch t.Verdict {
		case Passed:
			one.Output = clean(t.Output)
		case Failed:
			one.Failure = &junitMessage{Message: clean(t.Headline), Type: "schedule", Text: clean(t.Output)}
			suite.Failures++
			all.Failures++
		case Unexplored:
			one.Skipped = &junitMessage{Message: clean(t.Headline), Text: clean(t.Output)}
			suite.Skipped++
			all.Skipped++
		default:
			panic(fmt.Sprintf("publish: unknown verdict %d", t.Verdict))
		}
		suite.Cases = append(suite.Cases, one)
		suite.Tests++
		suite.elapsed += t.Elapsed
		suite.Time = seconds(suite.elapsed)
		total += t.Elapsed
	}
	all.Tests, all.Time = len(tests), seconds(total)
	text, err := xml.MarshalIndent(all, "", "\t")
	if err == nil {
		_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	}
	if err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	return nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// clean leaves out what XML cannot have, such as the escapes by which terminals show colours.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', r >= 0x20 && r != 0xFFFE && r != 0xFFFF && r != utf8.RuneError:
			return r
		}
		return -1
	}, text)
}
