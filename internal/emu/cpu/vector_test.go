package cpu_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/native"
)

// TestRecordedBatchesEndAsOnTheProcessor runs batches of random instructions whose final
// states were recorded on a processor. Package native makes them, and compares many more
// where it can.
func TestRecordedBatchesEndAsOnTheProcessor(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []native.Vector
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for i, v := range all {
		if got := v.Emulate(); got != v.End {
			t.Errorf("vector %d (% x) ends in %s, want %s", i, v.Code, got, v.End)
		}
	}
}
