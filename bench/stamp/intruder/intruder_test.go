package intruder

import (
	"reflect"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/stamp/stamptest"
	"github.com/cofferdam-go/cofferdam/stm"
)

// small is for what needs no work to be done.
var small = Params{Attacks: 10, Length: 8, Flows: 300, Seed: 1}

func verify(t *testing.T, in *Input, r *Result) {
	t.Helper()
	stamptest.Verify(t, in.Verify(r), r.Elapsed)
}

func TestAttacksAreFound(t *testing.T) {
	in := Generate(Simulator)
	stamptest.Program[*Result]{
		Sequential:    func() *Result { return Sequential(in) },
		Mutex:         func(goroutines int) *Result { return Mutex(in, goroutines) },
		Transactional: func(goroutines int, o stm.Options) *Result { return Transactional(in, goroutines, o) },
		Atomic:        func(goroutines int) *Result { return Atomic(in, goroutines) },
		Verify:        func(t *testing.T, r *Result) { verify(t, in, r) },
	}.Run(t)
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
