//go:build linux && amd64

package native

import (
	"errors"
	"testing"
)

func TestEveryInstructionFormDoesWhatTheProcessorDoes(t *testing.T) {
	n := 300_000
	if testing.Short() {
		n = 30_000
	}
	r, err := Forms(n, 1)
	if errors.Is(err, ErrRefused) {
		t.Logf("nothing was compared: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Differences {
		t.Error(d)
	}
	t.Logf("%d instructions of %d forms; this processor lacks %v", r.Instructions, r.Forms, r.Skipped)
}

func TestAProgramStartsAsOnTheProcessor(t *testing.T) {
	r, err := Start(15_000, "/bin/true")
	if errors.Is(err, ErrRefused) {
		t.Logf("nothing was compared: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Differences {
		t.Error(d)
	}
	t.Logf("%d instructions of %d forms", r.Instructions, r.Forms)
}
