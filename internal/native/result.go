package native

import "errors"

// ErrRefused means that this machine does not allow ptrace, or has another processor.
var ErrRefused = errors.New("ptrace is refused here")

// A Result is what a comparison came to.
type Result struct {
	// Instructions is how many were compared, Forms how many different ones: operation,
	// places and sizes of operands, prefixes.
	Instructions, Forms int
	// Differences describe the first few that were found; Different counts them all.
	Differences []string
	Different   int
	// Skipped are operations that this processor does not have.
	Skipped []string
}

// maxDifferences is how many differences are described.
const maxDifferences = 20

func (r *Result) differ(text string) {
	if r.Different++; len(r.Differences) < maxDifferences {
		r.Differences = append(r.Differences, text)
	}
}
