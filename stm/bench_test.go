package stm_test

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

func BenchmarkRead10(b *testing.B) {
	var vars [10]struct {
		v int
		_ [56]byte
	}
	for b.Loop() {
		stm.Atomically(func(tx *stm.Tx) error {
			s := 0
			for i := range vars {
				s += stm.Load(tx, &vars[i].v)
			}
			return nil
		})
	}
}

func BenchmarkCounter(b *testing.B) {
	var n int
	for b.Loop() {
		stm.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &n, stm.Load(tx, &n)+1)
			return nil
		})
	}
}

func BenchmarkRead1000Write1(b *testing.B) {
	var vars [1000]int
	for b.Loop() {
		stm.Atomically(func(tx *stm.Tx) error {
			s := 0
			for i := range vars {
				s += stm.Load(tx, &vars[i])
			}
			stm.Store(tx, &vars[0], s)
			return nil
		})
	}
}

// BenchmarkAdd32 is what kmeans does with a point: it adds to each of many words.
func BenchmarkAdd32(b *testing.B) {
	var sums [32]float64
	for b.Loop() {
		stm.Atomically(func(tx *stm.Tx) error {
			for i := range sums {
				stm.Store(tx, &sums[i], stm.Load(tx, &sums[i])+1)
			}
			return nil
		})
	}
}
