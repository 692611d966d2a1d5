package wicket_test

import (
	"flag"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var stressTimes = flag.Int("stress", 1, "how many times as many sections are to be disturbed")

// TestStress has sections of both kinds on few objects that look whether they are disturbed, beside careless loads and
// stores of numbers and strings. Careless code may disturb careless code, so all strings have one length: of two stores
// to a string the parts can be mixed.
func TestStress(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	const objects, intermediateN, between = 4, 1 << 30, "between"
	all := make([]object, objects)
	for i := range all {
		all[i].s = strings.Repeat(".", len(between))
	}
	var stop atomic.Bool
	var disturbed, sections, accesses atomic.Int64
	var wg sync.WaitGroup
	run := func(f func(o *object, i int)) {
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				f(&all[i%objects], i)
			}
		})
	}
	see := func(ok bool) {
		if !ok {
			disturbed.Add(1)
		}
	}
	for range 2 {
		run(func(o *object, i int) {
			o.mu.Lock()
			o.x.Lock(fieldN|fieldS, 0)
			before, text := o.n, o.s
			o.n = intermediateN
			o.s = between
			if i%8 == 0 {
				runtime.Gosched()
			}
			see(o.n == intermediateN && o.s == between)
			if i%64 == 0 { // what is called may show what it finds
				o.n, o.s = before, text
				o.x.Relent()
				runtime.Gosched()
				o.x.Resume(fieldN|fieldS, 0)
				before = o.n
				o.n = intermediateN
				see(o.n == intermediateN)
			}
			o.n, o.s = before+1, text
			o.x.Leave()
			o.mu.Unlock()
			o.x.Wake()
			sections.Add(1)
		})
		run(func(o *object, i int) {
			o.mu.RLock()
			o.x.RLock(fieldN | fieldS)
			n, s := o.n, o.s
			runtime.Gosched()
			see(o.n == n && o.s == s && n != intermediateN)
			o.x.RUnlock()
			o.mu.RUnlock()
			sections.Add(1)
		})
	}
	run(func(o *object, i int) {
		see(o.loadN() != intermediateN)
		s := o.loadS()
		see(s != between && strings.Count(s, ".") == len(s))
		accesses.Add(2)
	})
	run(func(o *object, i int) {
		o.storeN(i)
		o.toS().Store(strings.Repeat(".", len(between)))
		k := o.toN()
		p := k.Begin()
		*k.P++
		p.End()
		accesses.Add(3)
	})
	run(func(o *object, i int) {
		if i%1024 == 0 {
			runtime.GC()
		}
		runtime.Gosched()
	})
	for sections.Load() < int64(*stressTimes)*10_000 {
		runtime.Gosched()
	}
	stop.Store(true)
	wg.Wait()
	t.Logf("%d sections, %d accesses", sections.Load(), accesses.Load())
	if n := disturbed.Load(); n > 0 {
		t.Errorf("%d of %d sections and accesses were disturbed", n, sections.Load()+accesses.Load())
	}
	for i := range all {
		if !all[i].x.IsIdle() {
			t.Errorf("what is left of object %d is %+v", i, &all[i].x)
		}
	}
}

// TestStressByTwo has one goroutine in sections, and one that is careless, on one object and as fast as they can. What
// the model calls a flaw is found so within seconds, on two processors.
func TestStressByTwo(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	const between = 1 << 30
	for name, access := range map[string]func(o *object) (ok bool){
		"load":   func(o *object) bool { a := o.loadA(); return a[0] == a[63] && o.loadN() != between },
		"store":  func(o *object) bool { o.storeN(7); return true },
		"update": func(o *object) bool { k := o.toN(); p := k.Begin(); *k.P = 8; p.End(); return true },
	} {
		t.Run(name, func(t *testing.T) {
			var stop atomic.Bool
			var wg sync.WaitGroup
			o := new(object)
			disturbed, sections := 0, 0
			wg.Go(func() {
				for sections < *stressTimes*3_000_000 {
					o.mu.Lock()
					o.x.Lock(fieldN|fieldA, 0)
					before := o.n
					o.n = between
					for i := range o.a {
						o.a[i]++
					}
					for range sections % 16 {
						if sees(&o.n) != between {
							disturbed++
						}
					}
					o.n = before
					o.x.Leave()
					o.mu.Unlock()
					o.x.Wake()
					sections++
				}
				stop.Store(true)
			})
			wrong := 0
			wg.Go(func() {
				for !stop.Load() {
					if !access(o) {
						wrong++
					}
				}
			})
			wg.Wait()
			if disturbed+wrong > 0 {
				t.Errorf("%d of %d sections were disturbed, %d accesses have seen what they should not", disturbed, sections, wrong)
			}
		})
	}
}

// sees reads a number that the compiler might know otherwise.
//
//go:noinline
func sees(n *int) int { return *n }
