package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// fairness decides which of the ready goroutines may be picked, so that the depth-first
// search ends on programs that wait by yielding. It is the algorithm of Musuvathi and
// Qadeer (Fair stateless model checking, PLDI 2008): a goroutine that yields twice has
// to let those go first that it kept from going in between: those that could have gone
// all the time, or that it stopped from going, and did not go.
//
// Only yields that insist count: a goroutine's second and later ones at the same site.
// So nothing at all is kept from happening in a program that yields at most twice at a
// place, and the others are let go round their loops twice before another has to
// go. It costs nothing in runs without such yields.
type fairness struct {
	all      []yielder // by goroutine
	yielders []uint32  // those of all that insisted
	sites    []place   // where anybody yielded
	before   bitset    // the goroutines that were ready at the point before
	ready    bitset
}

// A place is where a goroutine yielded.
type place struct{ g, site uint32 }

// A yielder is the state of one goroutine that has insisted.
type yielder struct {
	yielded bool
	enabled bitset // could go at every point since it yielded last
	stopped bitset // could go no more after one of its steps since
	went    bitset // took a step since
	first   bitset // has to go first
}

func (f *fairness) begin() {
	for _, g := range f.yielders {
		f.all[g].yielded = false
	}
	f.yielders = f.yielders[:0]
	f.sites = f.sites[:0]
	f.before = f.before[:0]
}

// insists reports whether g, which is about to do op, yields where it did before.
func (f *fairness) insists(g uint32, op *event.Op) bool {
	if !yields(op) {
		return false
	}
	for _, p := range f.sites {
		if p == (place{g, op.Site}) {
			return true
		}
	}
	return false
}

// takes takes note that g does op.
func (f *fairness) takes(g uint32, op *event.Op) {
	if yields(op) && !f.insists(g, op) {
		f.sites = append(f.sites, place{g, op.Site})
	}
}

// stepped takes note that g took a step, which insisted or not, and led to p.
func (f *fairness) stepped(g uint32, insisted bool, p *Turn) {
	if len(f.yielders) == 0 && !insisted {
		return
	}
	f.ready = f.ready[:0]
	for _, r := range p.Ready[:p.goroutines()] {
		f.ready.add(r)
	}
	for _, u := range f.yielders {
		y := &f.all[u]
		y.first.remove(g)
		y.enabled.intersect(f.ready)
		y.went.add(g)
		if u == g {
			y.stopped.addDifference(f.before, f.ready)
		}
	}
	if insisted {
		f.yield(g)
	}
	f.before = append(f.before[:0], f.ready...)
}

func (f *fairness) yield(g uint32) {
	for int(g) >= len(f.all) {
		f.all = append(f.all, yielder{})
	}
	y := &f.all[g]
	if y.yielded {
		y.enabled.union(y.stopped)
		y.first.addDifference(y.enabled, y.went)
	} else {
		y.yielded = true
		y.first = y.first[:0]
		f.yielders = append(f.yielders, g)
	}
	y.enabled = append(y.enabled[:0], f.ready...)
	y.stopped = y.stopped[:0]
	y.went = y.went[:0]
}

// allows reports whether the ready goroutine g may be picked at p.
func (f *fairness) allows(g uint32, p *Turn) bool {
	if len(f.yielders) == 0 || int(g) >= len(f.all) || !f.all[g].yielded {
		return true
	}
	for _, r := range p.Ready[:p.goroutines()] {
		if f.all[g].first.has(r) {
			return false
		}
	}
	return true
}

// A bitset is a set of goroutines.
type bitset []uint64

func (s *bitset) add(g uint32) {
	for int(g/64) >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[g/64] |= 1 << (g % 64)
}

func (s bitset) remove(g uint32) {
	if int(g/64) < len(s) {
		s[g/64] &^= 1 << (g % 64)
	}
}

func (s bitset) has(g uint32) bool { return int(g/64) < len(s) && s[g/64]>>(g%64)&1 != 0 }

func (s bitset) intersect(t bitset) {
	for i := range s {
		if i < len(t) {
			s[i] &= t[i]
		} else {
			s[i] = 0
		}
	}
}

func (s *bitset) union(t bitset) {
	for i, w := range t {
		if i == len(*s) {
			*s = append(*s, 0)
		}
		(*s)[i] |= w
	}
}

// addDifference adds what is in t and not in u.
func (s *bitset) addDifference(t, u bitset) {
	for i, w := range t {
		if i < len(u) {
			w &^= u[i]
		}
		if i == len(*s) {
			*s = append(*s, 0)
		}
		(*s)[i] |= w
	}
}
