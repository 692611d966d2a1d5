package blocking

import (
	"testing"
)

// TestEveryWaitIsFoundAndNamed: go run ./bench blocking-corpus prints the table.
func TestEveryWaitIsFoundAndNamed(t *testing.T) {
	bugs, fine := 0, 0
	shapes := map[string]bool{}
	err := Run(t.Context(), Options{Temp: t.TempDir(), Seed: 1, Runs: 200}, func(r Result) {
		if r.Bug() {
			bugs++
		} else {
			fine++
		}
		shapes[r.Want] = true
		if !r.Right() {
			t.Errorf("%s: %q, want %q, in %d schedules", r.Test, r.Got, r.Want, r.Schedules)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if bugs < 60 || fine < 60 || len(shapes) < 15 {
		t.Errorf("%d programs with a bug of %d kinds, %d without", bugs, len(shapes), fine)
	}
}
