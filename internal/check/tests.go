package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// test runs go test and tells of each package as it ends, of each failure all that the
// failed tests printed, and of the slowest tests. Vetting is a step of its own.
func (c *check) test(ctx context.Context, args ...string) error {
	cmd := gotool.New("", nil).Command(ctx, append([]string{"test", "-json", "-vet=off", undebugged, "-timeout", c.timeout.String()}, args...)...)
	cmd.Stderr = c.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return gotool.Check(ctx, cmd, "", err)
	}
	t := tests{w: c.stdout, output: map[testName]*strings.Builder{}}
	readErr := t.read(out)
	if err := gotool.Check(ctx, cmd, "", cmd.Wait()); err != nil {
		return err
	}
	t.tellSlowest(c.slowest)
	return readErr
}

// An event is a line of go test -json; see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string
	Elapsed float64 // seconds
	Output  string
}

// A testName names a test, or a package if Test is empty.
type testName struct{ Package, Test string }

// A timing is what a test took.
type timing struct {
	testName
	seconds float64
}

// tests turns events into lines for people.
type tests struct {
	w       io.Writer
	output  map[testName]*strings.Builder // of tests that have not passed yet
	timings []timing
}

// read reads events to the end.
func (t *tests) read(r io.Reader) error {
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		var e event
		if len(line) > 0 {
			if json.Unmarshal(line, &e) == nil {
				t.take(e)
			} else {
				t.w.Write(line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading what go test says: %w", err)
		}
	}
}

func (t *tests) take(e event) {
	name := testName{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		io.WriteString(t.w, e.Output)
	case "output":
		b := t.output[name]
		if b == nil {
			b = new(strings.Builder)
			t.output[name] = b
		}
		b.WriteString(e.Output)
	case "pass", "fail", "skip":
		if e.Test != "" {
			t.timings = append(t.timings, timing{name, e.Elapsed})
		}
		t.end(name, e)
	}
}

// end tells of a package that has ended, or of a test that has failed.
func (t *tests) end(name testName, e event) {
	printed := t.output[name]
	delete(t.output, name)
	switch {
	case e.Action == "fail":
		if e.Test == "" {
			t.tellUnfinished(e.Package)
		}
		if printed != nil {
			io.WriteString(t.w, printed.String())
		}
	case e.Test == "" && e.Action == "pass" && printed != nil:
		// The package's output ends with the line that go test prints for it.
		lines := strings.Split(strings.TrimSpace(printed.String()), "\n")
		fmt.Fprintln(t.w, lines[len(lines)-1])
	}
}

// tellUnfinished prints what tests of a package have printed that ended with it: in a
// crash, or because one of them hung.
func (t *tests) tellUnfinished(pkg string) {
	for name, printed := range t.output {
		if name.Package == pkg && name.Test != "" {
			io.WriteString(t.w, printed.String())
			delete(t.output, name)
		}
	}
}

// tellSlowest prints the tests that took longest. A test with subtests, which are told
// themselves, is among them: it may be what prepares them that takes long.
func (t *tests) tellSlowest(n int) {
	slices.SortFunc(t.timings, func(a, b timing) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, slow := range t.timings[:min(n, len(t.timings))] {
		fmt.Fprintf(t.w, "%7.1fs  %s %s\n", slow.seconds, slow.Package, slow.Test)
	}
}
