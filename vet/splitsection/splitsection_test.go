package splitsection

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// TestWritesByWhatAnEarlierSectionHasReadAreReported: all of them, also those that may do no harm.
func TestWritesByWhatAnEarlierSectionHasReadAreReported(t *testing.T) {
	if err := Analyzer.Flags.Set("doubtful", "true"); err != nil {
		t.Fatal(err)
	}
	defer Analyzer.Flags.Set("doubtful", "false")
	analysistest.Run(t, analysistest.TestData(), Analyzer, "example.com/cache")
}

// TestOnlyWhatIsLostWhenUsersRunItTwiceIsReportedByDefault: not what one goroutine or one caller does, nor
// what is the same each time.
func TestOnlyWhatIsLostWhenUsersRunItTwiceIsReportedByDefault(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), Analyzer, "example.com/told")
}
