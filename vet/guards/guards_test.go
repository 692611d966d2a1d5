package guards

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// TestAccessesWithoutTheLockAreReportedAndMended: also in another package, which is held to what was
// inferred though no code of it takes the lock, and could not.
func TestAccessesWithoutTheLockAreReportedAndMended(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), Analyzer, "example.com/counter", "example.com/user")
}
