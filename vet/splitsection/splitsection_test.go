package splitsection

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

func TestWritesByWhatAnEarlierSectionHasReadAreReported(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), Analyzer, "example.com/cache")
}
