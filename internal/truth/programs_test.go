package truth

import (
	"fmt"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/judge"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
)

// TestAnyDrawsGiveAProgramThatCompiles: also those that shrinking makes.
func TestAnyDrawsGiveAProgramThatCompiles(t *testing.T) {
	library, err := judge.LoadLibrary(randprog.Imports...)
	if err != nil {
		t.Fatal(err)
	}
	var programs []randprog.Program
	for seed := range uint64(250) {
		o := randprog.Options{RaceFree: seed%3 == 0, Blocking: seed%4 == 0, Library: seed%4 == 3, TimeAndChance: seed%5 == 0, OpenOrder: seed%7 == 0, Alone: seed%11 == 0, Line: seed%13 == 6}
		p := randprog.New(fmt.Sprintf("P%d", seed), seed, o)
		programs = append(programs, p)
		smaller := randprog.Smaller(p.Draws)
		for i := range 2 {
			programs = append(programs, randprog.Again(fmt.Sprintf("P%dS%d", seed, i), smaller[(i*37+int(seed))%len(smaller)], o))
		}
	}
	if _, err := library.Package("random", map[string][]byte{"programs.go": []byte(randprog.File("random", programs))}); err != nil {
		t.Fatal(err)
	}
}
