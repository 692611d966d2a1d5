package publish

import "time"

// A Verdict is what came of a test.
type Verdict int

const (
	// Passed is that nothing was found, of all that was to be tried.
	Passed Verdict = iota
	Failed
	// Unexplored is that the test could not be tried, or had nothing to try: it says nothing.
	Unexplored
)

// A Test is what the exploration of a test came to.
type Test struct {
	Package string
	Name    string // "main" for a program
	Verdict Verdict
	Elapsed time.Duration
	// Headline says in a line how it failed, or why it was not explored; "" if it passed.
	Headline string
	// Output is all that was told of it.
	Output string
	At     string // the file and line of the failure; "" if unknown
}
