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
	var plain, inner sync.Mutex
	var number, hot int64
	var flag bool
	var text string
	var rec record
	number2 := new(int64)
	vnumber := tolerate.Guard(&mu, &number)
	vread := tolerate.Guard(&rw, &hot)
	var wide tolerate.Mutex
	vflag, vtext, vrec := tolerate.Guard(&wide, &flag), tolerate.Guard(&wide, &text), tolerate.Guard(&wide, &rec)
	vboth := tolerate.Guard(&other, &hot)
	named := tolerate.Field[int64]{Name: "number"}
	pointers := [2]*int64{number2, &number}
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
		"Of":    func() { s := tolerate.Enter(&plain); *tolerate.Of(s, &number)++; s.Leave() },
		"Field": func() { s := tolerate.Enter(&plain); *named.Of(s, &number)++; s.Leave() },
		"Of wide": func() {
			s := tolerate.Enter(&plain)
			*tolerate.Of(s, &flag) = !*tolerate.Of(s, &flag)
			*tolerate.Of(s, &text) = "a text"
			tolerate.Of(s, &rec).small++
			pp := tolerate.Of(s, &pointers)
			pp[0], pp[1] = pp[1], pp[0]
			s.Leave()
		},
		"Of nested": func() {
			s := tolerate.Enter(&plain)
			*tolerate.Of(s, &number)++
			u := s.Enter(&inner)
			*tolerate.Of(u, number2)++
			u.Leave()
			s.Publish()
			s.Leave()
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
	for _, name := range []string{"stock", "nothing guarded", "Var", "Var read", "Var wide", "nested", "straight", "Of", "Field", "Of wide", "Of nested"} {
		b.Run(name, func(b *testing.B) {
			section := all[name]
			b.ReportAllocs()
			for b.Loop() {
				section()
			}
		})
	}
}

// BenchmarkOf is an access to what has been copied already, among n variables.
func BenchmarkOf(b *testing.B) {
	for name, n := range map[string]int{"1": 1, "8": 8, "1000": 1000} {
		b.Run(name, func(b *testing.B) {
			var mu sync.Mutex
			x := make([]int64, n)
			s := tolerate.Enter(&mu)
			defer s.Leave()
			for i := range x {
				tolerate.Of(s, &x[i])
			}
			i := 0
			for b.Loop() {
				*tolerate.Of(s, &x[i])++
				if i++; i == n {
					i = 0
				}
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
