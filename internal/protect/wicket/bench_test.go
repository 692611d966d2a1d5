package wicket_test

import "testing"

// BenchmarkSection is a section on an object that is in the cache, with and without a guard.
func BenchmarkSection(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		o := new(lean)
		for b.Loop() {
			o.mu.Lock()
			o.n++
			o.mu.Unlock()
		}
	})
	b.Run("guarded", func(b *testing.B) {
		o := new(lean)
		for b.Loop() {
			o.mu.Lock()
			g := &o.x
			g.Lock(fieldN, 0)
			o.n++
			g.Leave()
			o.mu.Unlock()
			g.Wake()
		}
	})
	// Most objects have few sections.
	const sections = 40
	b.Run("plain, the first of an object", func(b *testing.B) {
		o := new(lean)
		for i := 0; b.Loop(); i++ {
			if i%sections == 0 {
				*o = lean{}
			}
			o.mu.Lock()
			o.n++
			o.mu.Unlock()
		}
	})
	b.Run("guarded, the first of an object", func(b *testing.B) {
		o := new(lean)
		for i := 0; b.Loop(); i++ {
			if i%sections == 0 {
				*o = lean{}
			}
			o.section()
		}
	})
	b.Run("reading alone", func(b *testing.B) {
		o := new(lean)
		sum := 0
		for b.Loop() {
			o.mu.Lock()
			g := &o.x
			g.Lock(0, fieldN)
			sum += o.n
			g.Leave()
			o.mu.Unlock()
			g.Wake()
		}
	})
	b.Run("reading", func(b *testing.B) {
		o := new(lean)
		sum := 0
		for b.Loop() {
			o.mu.Lock()
			g := &o.x
			g.RLock(fieldN)
			sum += o.n
			g.RUnlock()
			o.mu.Unlock()
		}
	})
}

// BenchmarkAccess is an access without the lock.
func BenchmarkAccess(b *testing.B) {
	o := new(object)
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			o.loadN()
		}
	})
	b.Run("store", func(b *testing.B) {
		for b.Loop() {
			o.storeN(1)
		}
	})
}
