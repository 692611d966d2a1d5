package intruder

import (
	"reflect"
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

// small is for what needs no work to be done.
var small = Params{Attacks: 10, Length: 8, Flows: 300, Seed: 1}

func verify(t *testing.T, in *Input, r *Result) {
	t.Helper()
	if err := in.Verify(r); err != nil {
		t.Error(err)
	}
	if r.Elapsed <= 0 {
		t.Error("the time was not taken")
	}
}

func TestAttacksAreFound(t *testing.T) {
	in := Generate(Simulator)
	t.Run("sequential", func(t *testing.T) { verify(t, in, Sequential(in)) })
	t.Run("mutex", func(t *testing.T) { verify(t, in, Mutex(in, 2)) })
	for _, mode := range []struct {
		name string
		mode stm.Mode
	}{
		{"eager", stm.Eager},
		{"timer", stm.Timer},
		{"helper", stm.Helper},
		{"clone", stm.Clone},
	} {
		t.Run(mode.name, func(t *testing.T) {
			for _, goroutines := range []int{1, 2, 4} {
				verify(t, in, Transactional(in, goroutines, stm.Options{Mode: mode.mode}))
			}
		})
	}
}

func TestGenerateMakesAttacks(t *testing.T) {
	in := Generate(Simulator)
	if share := 100 * len(in.attacks) / Simulator.Flows; share < 7 || share > 13 {
		t.Errorf("%d%% of the flows are an attack, and %d%% should be", share, Simulator.Attacks)
	}
	if !reflect.DeepEqual(in, Generate(Simulator)) {
		t.Error("two inputs from one seed")
	}
}

func TestVerifyFindsAMissingAndAWrongAttack(t *testing.T) {
	in := Generate(small)
	r := Sequential(in)
	r.Attacks[0]--
	if in.Verify(r) == nil {
		t.Error("an attack that is none passes")
	}
	r.Attacks = r.Attacks[1:]
	if in.Verify(r) == nil {
		t.Error("an attack that was not found passes")
	}
}

func TestDetectorIgnoresCase(t *testing.T) {
	var d detector
	for data, want := range map[string]bool{
		"xxANCHORxx": true, "Sail": true, "anch": false, "": false,
	} {
		if d.attack([]byte(data)) != want {
			t.Errorf("%q: an attack: %v", data, !want)
		}
	}
}
