package transactions

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

func TestLedgerHasWhatThisProgramMeasured(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	one := measure.Result{Figure: figureStamp, Name: "genome", Ops: 1, Timings: []measure.Timing{{Variant: Eager, Seconds: []float64{1, 2}, Median: 1.5}}}
	two := measure.Result{Figure: figureScale, Name: "genome", Ops: 1}
	begun, err := openLedger(file, "a")
	if err != nil || len(begun.kept) != 0 {
		t.Fatal("a ledger that was not there has something in it", err)
	}
	for _, r := range []measure.Result{one, two} {
		if err := begun.add(r); err != nil {
			t.Fatal(err)
		}
	}
	cut, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cut.WriteString(`{"run":"a","result":{"figure":"stamp","na`)
	cut.Close()
	again, err := openLedger(file, "a")
	if err != nil {
		t.Fatal(err)
	}
	got, ok := again.has(measure.Case{Figure: figureStamp, Name: "genome"})
	if diff := cmp.Diff(one, got); !ok || diff != "" {
		t.Errorf("what was measured is not there (-want +got):\n%s", diff)
	}
	if _, ok := again.has(measure.Case{Figure: figureStamp, Name: "intruder"}); ok {
		t.Error("what was not measured is there")
	}
	if err := again.add(measure.Result{Figure: figureStamp, Name: "intruder", Ops: 1}); err != nil {
		t.Fatal(err)
	}
	if again, err = openLedger(file, "a"); err != nil || len(again.kept) != 3 {
		t.Errorf("%d cases are there after the run was taken up, want 3: %v", len(again.kept), err)
	}
	other, err := openLedger(file, "b")
	if err != nil || len(other.kept) != 0 {
		t.Error("another program takes over what it has not measured", err)
	}
}

func TestLedgerRefusesWhatIsNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(file, []byte("not a ledger\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := openLedger(file, "a"); err == nil {
		t.Error("a file of another kind was taken for a ledger")
	}
}
