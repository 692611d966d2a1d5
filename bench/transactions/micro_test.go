package transactions

import (
	"os"
	"os/exec"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// small are the shapes with few operations.
func small() []shape {
	few := make([]shape, len(shapes))
	for i, sh := range shapes {
		sh.ops = 200
		few[i] = sh
	}
	return few
}

func TestEveryShapeIsRightInEveryVariant(t *testing.T) {
	for _, sh := range small() {
		for _, v := range []measure.Variant{Mutex, Eager, Timer, Helper, Clone, Peer} {
			if v == Peer && !sh.peer {
				continue
			}
			trial := sh.contender(v, v, 1).Prepare()
			trial.Run()
			if err := trial.Close(); err != nil {
				t.Errorf("%s by %d, %s: %v", sh.name, sh.goroutines, v, err)
			}
			if trial.Seconds() <= 0 {
				t.Errorf("%s by %d, %s took %v s", sh.name, sh.goroutines, v, trial.Seconds())
			}
		}
	}
}

func TestWrongResultsOfShapesAreErrors(t *testing.T) {
	for shape, spoil := range map[string]func(*bank){
		counter:      func(b *bank) { b.counter++ },
		transfer:     func(b *bank) { b.accounts[7]++ },
		readThousand: func(b *bank) { b.total++ },
		update:       func(b *bank) { b.cells[31]++ },
	} {
		b := newBank()
		b.loop(shape, Mutex)(100, 0)
		if err := b.check(shape, 100); err != nil {
			t.Errorf("%s: %v", shape, err)
		}
		if spoil(b); b.check(shape, 100) == nil {
			t.Errorf("%s: a wrong result is not noticed", shape)
		}
	}
}

func TestPickedAccountsDiffer(t *testing.T) {
	r := uint64(1)
	for range 1000 {
		r = next(r)
		a, b, c, d := pick(r)
		if !(0 <= a && a < b && b < c && c < d && d < 1000) {
			t.Fatalf("%d, %d, %d, %d", a, b, c, d)
		}
	}
}

// TestTrialsCountWhatHappened runs in a process of its own: stm adds up what a transaction read
// only after some more, and those of other tests read thousands of words.
func TestTrialsCountWhatHappened(t *testing.T) {
	const alone = "COFFERDAM_BENCH_ALONE"
	if os.Getenv(alone) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTrialsCountWhatHappened$")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	sh := shape{counter, 1, 1000, false}
	trial := sh.contender(Eager, Eager, 2).Prepare()
	trial.Run()
	got := trial.Counters()
	for name, want := range map[string]float64{commits: 1000, writtenWords: 1000} {
		if d := got[name] - want; d < -64 || d > 64 { // stm adds them up after every 64
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	if got[allocations] > 0.05 {
		t.Errorf("%v allocations per transaction", got[allocations])
	}
}

func TestQuotedFiguresBelongToShapes(t *testing.T) {
	cases := map[string]bool{}
	for _, c := range microCases(quick) {
		cases[c.String()] = true
	}
	for name := range quoted {
		if !cases[name] {
			t.Errorf("there is no case %q", name)
		}
	}
}
