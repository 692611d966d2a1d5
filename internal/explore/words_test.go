package explore_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/report/runtest"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// TestFindingsSayWhatWasDone, and each thing once.
func TestFindingsSayWhatWasDone(t *testing.T) {
	var got []string
	for _, record := range []func(*testing.T, string) string{runtest.Closed, runtest.Printed} {
		r, err := trace.Open(record(t, t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, f := range explore.Findings(r, "") {
			got = append(got, string(f.Kind)+": "+f.Summary())
		}
	}
	want := []string{
		"panic: at feed.go:20",
		"data race: close(f.out) at feed.go:28, and f.out <- s at feed.go:20, with nothing to order them",
		"data race: write of f.sent at feed.go:35, and read at feed.go:38, with nothing to order them",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
