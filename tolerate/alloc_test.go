package tolerate_test

import (
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

// samples are sections, by name: for the test that they allocate nothing, and for
// the benchmark.
func samples() map[string]func() {
	var mu tolerate.Mutex
	var bare tolerate.Mutex
	var other tolerate.Mutex
	var rw tolerate.RWMutex
	var plain sync.Mutex
	var number, hot int64
	var flag bool
	var text string
	var rec record
	vnumber := tolerate.Guard(&mu, &number)
	vread := tolerate.Guard(&rw, &hot)
	var wide tolerate.Mutex
	vflag, vtext, vrec := tolerate.Guard(&wide, &flag), tolerate.Guard(&wide, &text), tolerate.Guard(&wide, &rec)
	vboth := tolerate.Guard(&other, &hot)
	label := &tolerate.Label{Name: "number"}
	return map[string]func(){
		"stock":           func() { plain.Lock(); hot++; plain.Unlock() },
		"nothing guarded": func() { bare.Lock(); hot++; bare.Unlock() },
		"Var":             func() { mu.Lock(); *vnumber.Own()++; mu.Unlock() },
		"Var read":        func() { rw.RLock(); _ = *vread.Own(); rw.RUnlock() },
		"Var wide": func() {
			wide.Lock()
			*vflag.Own() = !*vflag.Own()
			*vtext.Own() = "a text"
			vrec.Own().small++
			wide.Unlock()
		},
		"nested": func() {
			mu.Lock()
			other.Lock()
			*vnumber.Own()++
			*vboth.Own()++
			other.Unlock()
			mu.Unlock()
		},
		"straight": func() {
			plain.Lock()
			v := number
			b := v
			v++
			if v != b || number != b {
				tolerate.Put64(&number, v, b, label)
			}
			plain.Unlock()
		},
	}
}

func TestSectionsAllocateNothing(t *testing.T) {
	if tolerate.Checked {
		return // the race detector has sync.Pool lose things on purpose
	}
	for name, section := range samples() {
		section()
		if n := testing.AllocsPerRun(1000, section); n != 0 {
			t.Errorf("%s: %v allocations in a section", name, n)
		}
	}
}

func BenchmarkSection(b *testing.B) {
	all := samples()
	for _, name := range []string{"stock", "nothing guarded", "Var", "Var read", "Var wide", "nested", "straight"} {
		b.Run(name, func(b *testing.B) {
			section := all[name]
			b.ReportAllocs()
			for b.Loop() {
				section()
			}
		})
	}
}

// BenchmarkRace is a section that has to be resolved and reported.
func BenchmarkRace(b *testing.B) {
	var mu tolerate.Mutex
	x := 0
	v := tolerate.Guard(&mu, &x, tolerate.Delta).Named("BenchmarkRace")
	b.ReportAllocs()
	for b.Loop() {
		mu.Lock()
		*v.Own()++
		x++
		mu.Unlock()
	}
}
