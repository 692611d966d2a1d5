//go:build linux && amd64

package native

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "make the vectors anew, on this processor")

const vectors = "../emu/cpu/testdata/vectors.json"

func TestVectorsAreTheProcessors(t *testing.T) {
	n := 20
	if *update {
		n = 150
	}
	all, err := Vectors(n, 1000)
	if errors.Is(err, ErrRefused) {
		t.Logf("nothing was made: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range all {
		if got := v.Emulate(); got != v.End {
			t.Errorf("vector %d: emulated it ends in %s, natively in %s", i, got, v.End)
		}
	}
	if !*update {
		return
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(vectors, append(text, '\n'), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

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
