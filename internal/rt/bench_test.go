package rt_test

import (
	"testing"

	. "github.com/cofferdam-go/cofferdam/internal/rt"
)

// A run of two goroutines with twenty hooks.
func BenchmarkRun(b *testing.B) {
	w := &walk{}
	x, mu := heap([5]int{}), heap(mutex{})
	f := func() {
		for i := range x {
			mu.Lock()
			*W(&x[i], 1) = 1
			mu.Unlock()
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		w.seed++
		Run(Config{Races: true, Strategy: w}, func() {
			Go(1, f)
			f()
		})
	}
}

func benchmarkAlone(b *testing.B, config Config, f func()) {
	config.Strategy, config.MaxSteps = &first{}, 1<<60
	Run(config, func() {
		b.ReportAllocs()
		for b.Loop() {
			f()
		}
	})
}

func BenchmarkLoadAlone(b *testing.B) {
	x := heap(0)
	benchmarkAlone(b, Config{Races: true}, func() { _ = R(x, 1) })
}

func BenchmarkLoadAloneWithoutRaces(b *testing.B) {
	x := heap(0)
	benchmarkAlone(b, Config{}, func() { _ = R(x, 1) })
}

func BenchmarkLockAlone(b *testing.B) {
	mu := heap(mutex{})
	benchmarkAlone(b, Config{Races: true}, func() { lockUnlock(mu) })
}

func BenchmarkEnterAlone(b *testing.B) {
	benchmarkAlone(b, Config{Races: true}, func() { Leave(Enter(1)) })
}

func BenchmarkSendReceiveAlone(b *testing.B) {
	ch := make(chan int, 1)
	benchmarkAlone(b, Config{Races: true}, func() { To[int](ch).Send(1, 1); Recv(ch, 2) })
}

func BenchmarkLoadNotUnderControl(b *testing.B) {
	x := heap(0)
	for b.Loop() {
		_ = R(x, 1)
	}
}
