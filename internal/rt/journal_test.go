package rt_test

import (
	"bytes"
	"testing"

	. "github.com/cofferdam-go/cofferdam/internal/rt"
)

// TestStoresAreTakenBack: of every size, once and again, in pieces that overlap.
func TestStoresAreTakenBack(t *testing.T) {
	was := Patched
	defer func() { Patched = was }()
	Patched.Collections = func() uint32 { return 0 }
	Patched.Old = func(uintptr) bool { return true }
	memory := make([]byte, 20_000)
	for i := range memory {
		memory[i] = byte(i * 7)
	}
	before := bytes.Clone(memory)
	word := heap(uint64(5))
	for seed := range uint64(200) {
		random := &walk{state: seed}
		r := Run(Config{Races: seed%2 != 0, Strategy: &first{}}, func() {
			for range 50 {
				size := 1 + random.next(64)
				if random.next(10) == 0 {
					size += random.next(10_000)
				}
				at := random.next(len(memory) - size)
				if random.next(2) == 0 {
					at, size = at&^7, 8
				}
				part := Clear(memory[at:at+size], 1)
				for i := range part {
					part[i] = byte(random.next(256))
				}
				*W(word, 2) += seed
			}
		})
		if r.Residue || !bytes.Equal(memory, before) || *word != 5 {
			t.Fatalf("seed %d: residue %v, or memory is not what it was", seed, r.Residue)
		}
	}
}
