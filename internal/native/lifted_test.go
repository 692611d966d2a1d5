//go:build linux && amd64

package native

import "testing"

func TestLiftedInstructionsDoWhatTheEmulatorDoes(t *testing.T) {
	n := 6_000
	if testing.Short() {
		n = 2_000
	}
	r, err := Lifted(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Differences {
		t.Error(d)
	}
	t.Logf("%d instructions of %d forms; not lifted: %v", r.Instructions, r.Forms, r.Skipped)
	if r.Forms < 400 {
		t.Errorf("only %d forms were compared", r.Forms)
	}
}
