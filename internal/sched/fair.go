package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// fairness decides which of the ready goroutines may be picked, so that the depth-first
// search ends on programs that wait by yielding. It is the algorithm of Musuvathi and
// Qadeer (Fair stateless model checking, PLDI 2008): a goroutine that yields twice has
// to let those go first that it kept from going in between: those that could have gone
// all the time, or that it stopped from going, and did not go.
//
// Only yields that insist count: a goroutine's second and later ones at the same site, if it is
// known to have gone round a loop in between. If the round was idle, nothing is lost: a run without
// it comes to the same end. If it was only one of many, what would come of more of them is not
// tried, and the search is not complete where such a goroutine was kept from going (long). It
// costs nothing in runs without such yields.
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
	long    bool   // it has insisted though its round was not idle
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

// insists reports whether g, which is about to do op, yields where it did before, having gone round
// a loop.
func (f *fairness) insists(g uint32, op *event.Op) bool {
	return yields(op) && op.Round != event.NewRound && f.yieldedAt(g, op)
}

// yieldedAt reports whether g has yielded where it is about to do op.
func (f *fairness) yieldedAt(g uint32, op *event.Op) bool {
	for _, p := range f.sites {
		if p == (place{g, op.Site}) {
			return true
		}
	}
	return false
}

// takes takes note that g does op.
func (f *fairness) takes(g uint32, op *event.Op) {
	if yields(op) && !f.yieldedAt(g, op) {
		f.sites = append(f.sites, place{g, op.Site})
	}
}

// An insistence is whether a goroutine has insisted, and on what ground.
type insistence struct{ insisted, long bool }

func (f *fairness) insistence(g uint32, op *event.Op) insistence {
	insists := f.insists(g, op)
	return insistence{insists, insists && op.Round == event.LongRound}
}

// stepped takes note that g took a step, which insisted or not, and led to p.
func (f *fairness) stepped(g uint32, how insistence, p *Turn) {
	if len(f.yielders) == 0 && !how.insisted {
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
	if how.insisted {
		f.yield(g)
		f.all[g].long = f.all[g].long || how.long
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
		y.yielded, y.long = true, false
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

// keepsBack reports whether g, which is not allowed to go, might have done something that is not
// tried now.
func (f *fairness) keepsBack(g uint32) bool { return f.all[g].long }

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
