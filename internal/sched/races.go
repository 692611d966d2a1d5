package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// races finds, while a run goes on, the pairs of a step and an operation that is about
// to be done by another goroutine, which depend on each other and are not ordered by
// what happened in between: those whose reversal can lead to something new.
//
// A step is known by its number, from 0. The clock of a goroutine says for every other
// one how many steps of the run, up to and with the last of that one that happened
// before, it knows of: step i of q happened before what p does next if clock[p][q] > i.
type races struct {
	steps  []step
	clocks []int32 // of the steps; see step
	all    []progress
	words  table[accesses]
	pool   []access // the linked lists of accesses
	wide   []int32  // by goroutine: its last wide step + 1
	large  []large
	ready  []uint32 // at the present point
	fires  event.Op // what Time was about to do when it was last looked at
	ops    []operation
	taken  int     // index in ops of what was done last
	latest []int32 // by goroutine; scratch for pending
	seen   []uint32
}

// An operation is what one goroutine does in a step, as far as others are concerned.
type operation struct {
	event.Op
	// resumes is the operation after which the goroutine waited, if it did; its zero
	// value otherwise. Its effect may have come about while it waited, by a step of the
	// goroutine that it waited for; so what follows is taken to be done together with
	// that operation. It matters to a select: two sends on different channels depend on
	// each other if there is one that waits for both.
	resumes event.Op
}

func (o *operation) wide() bool { return wide(&o.Op) }

type step struct {
	g uint32
	// The clock after the step is clocks[clock:clock+width].
	clock, width int
}

// A progress is where one goroutine is.
type progress struct {
	clock []int32
	last  int32 // its last step + 1
	seen  bool  // it was ready before
	known bool  // pending was called for what it is about to do
	// did is its last operation, if it waited after it.
	did event.Op
}

// accesses is the list of what was done to a word: for each goroutine and class the
// last step. head is an index into pool, + 1.
type accesses struct{ head int32 }

type access struct {
	next  int32
	step  int32
	g     uint32
	class class
}

// A large access touches so many words that it is not entered for each of them.
type large struct {
	from, to word
	access
}

const maxWords = 256

func (r *races) begin() {
	r.steps = r.steps[:0]
	r.clocks = r.clocks[:0]
	for i := range r.all {
		p := &r.all[i]
		*p = progress{clock: p.clock[:0]}
	}
	r.words.reset()
	r.pool = r.pool[:0]
	clear(r.wide)
	clear(r.latest)
	r.large = r.large[:0]
	r.ready = r.ready[:0]
	r.fires = event.Op{}
	r.goroutine(Time).seen = true // nothing creates it
}

// goroutine makes room for g.
func (r *races) goroutine(g uint32) *progress {
	for int(g) >= len(r.all) {
		r.all = append(r.all, progress{})
		r.wide = append(r.wide, 0)
		r.latest = append(r.latest, 0)
	}
	return &r.all[g]
}

// arrive takes note of point p, and calls race for every step and goroutine that are to
// be reversed.
func (r *races) arrive(p *Turn, race func(step int, g uint32)) {
	if n := len(r.steps); n > 0 && p.Current == 0 && r.steps[n-1].g != Time {
		r.all[r.steps[n-1].g].did = r.ops[r.taken].Op
	}
	r.ops = r.ops[:0]
	before := 0 // in r.ready, which is by ascending number as p.Ready is
	for i, g := range p.Ready {
		it := r.goroutine(g)
		for g != Time && before < len(r.ready) && r.ready[before] != Time && r.ready[before] < g {
			before++
		}
		r.ops = append(r.ops, operation{Op: p.Ops[i], resumes: it.did})
		switch {
		case !it.seen:
			it.seen = true
			if n := len(r.steps); n > 0 {
				// The last step, or what followed from it, created the goroutine. (That
				// a step makes a waiting goroutine ready again does not order the two
				// for good: another step could have done it.)
				r.join(it, int32(n-1))
			}
		case g == Time && !r.timeWasReady(), g != Time && (before == len(r.ready) || r.ready[before] != g):
			it.known = false
			if it.did.Kind == event.Sleep && r.all[Time].last > 0 {
				// Nothing but time can have woken it.
				r.join(it, r.all[Time].last-1)
			}
		}
		if g == Time && r.fires != p.Ops[i] {
			// Another timer has become the next one.
			r.fires, it.known = p.Ops[i], false
		}
		if !it.known {
			it.known = true
			r.pending(g, &r.ops[i], race)
		}
	}
	r.ready = append(r.ready[:0], p.Ready...)
}

// timeWasReady reports whether time could move on at the point before. It is the last of the
// ready.
func (r *races) timeWasReady() bool {
	n := len(r.ready)
	return n > 0 && r.ready[n-1] == Time
}

// pending calls race for the last step of each other goroutine that is to be reversed
// with what g is about to do.
func (r *races) pending(g uint32, op *operation, race func(step int, g uint32)) {
	if op.wide() {
		for q := range r.all {
			r.candidate(g, uint32(q), r.all[q].last)
		}
	} else {
		for q, last := range r.wide {
			r.candidate(g, uint32(q), last)
		}
		if w, only := r.onlyWord(op); only {
			c := classOf(op.Kind)
			for i := r.words.at(w).head; i != 0; i = r.pool[i-1].next {
				if a := &r.pool[i-1]; dependent(a.class, c) {
					r.candidate(g, a.g, a.step+1)
				}
			}
		} else {
			r.eachAccess(op, func(a *access, c class) {
				if dependent(a.class, c) {
					r.candidate(g, a.g, a.step+1)
				}
			})
		}
	}
	for _, q := range r.seen {
		race(int(r.latest[q]-1), g)
		r.latest[q] = 0
	}
	r.seen = r.seen[:0]
}

// candidate takes note that a step of q, given as its number + 1 or 0 for none, depends
// on what g is about to do.
func (r *races) candidate(g, q uint32, step int32) {
	if q == g || step == 0 {
		return
	}
	if clock := r.all[g].clock; int(q) < len(clock) && clock[q] >= step {
		return
	}
	if r.latest[q] == 0 {
		r.seen = append(r.seen, q)
	}
	r.latest[q] = max(r.latest[q], step)
}

// onlyWord reports whether one word is all that op touches, as nearly all operations do, and
// which: then its accesses can be gone through where they are needed.
func (r *races) onlyWord(op *operation) (word, bool) {
	if len(r.large) > 0 || op.resumes.Kind != event.None {
		return noWord, false
	}
	from, to := span(&op.Op)
	return from, to == from+1 && aside(&op.Op)[0].word == noWord
}

// eachAccess calls f for all accesses that op may depend on, with the class in which op
// touches the word in question.
func (r *races) eachAccess(op *operation, f func(a *access, c class)) {
	r.eachAccessOf(&op.Op, f)
	if op.resumes.Kind != event.None {
		r.eachAccessOf(&op.resumes, f)
	}
}

func (r *races) eachAccessOf(op *event.Op, f func(a *access, c class)) {
	from, to := span(op)
	c := classOf(op.Kind)
	if to-from <= maxWords {
		for w := from; w < to; w++ {
			r.eachOf(w, c, f)
		}
	} else {
		for i := range r.words.slots {
			if s := &r.words.slots[i]; s.generation == r.words.now && s.word >= from && s.word < to {
				r.eachOf(s.word, c, f)
			}
		}
	}
	for i := range r.large {
		if l := &r.large[i]; l.from < to && from < l.to {
			f(&l.access, c)
		}
	}
	for _, also := range aside(op) {
		if also.word != noWord {
			r.eachOf(also.word, also.class, f)
		}
	}
}

func (r *races) eachOf(w word, c class, f func(a *access, c class)) {
	for i := r.words.at(w).head; i != 0; i = r.pool[i-1].next {
		f(&r.pool[i-1], c)
	}
}

// take takes note that the i-th of the ready does what it was about to do, and calls race
// for the others that are about to do something that depends on it.
func (r *races) take(i int, race func(step int, g uint32)) {
	g, op := r.ready[i], &r.ops[i]
	r.taken = i
	n := int32(len(r.steps))
	for j, q := range r.ready {
		if j != i && conflict(op, &r.ops[j]) {
			race(int(n), q)
		}
	}
	it := r.goroutine(g)
	for q, last := range r.wide {
		if last != 0 && uint32(q) != g {
			r.join(it, last-1)
		}
	}
	if op.wide() {
		for q := range r.all {
			if last := r.all[q].last; last != 0 && uint32(q) != g {
				r.join(it, last-1)
			}
		}
		r.wide[g] = n + 1
	}
	if w, only := r.onlyWord(op); only {
		r.takeWord(it, w, g, classOf(op.Kind), n)
	} else {
		r.takeAll(it, g, op, n)
	}

	for int(g) >= len(it.clock) {
		it.clock = append(it.clock, 0)
	}
	it.clock[g] = n + 1
	it.last, it.known, it.did = n+1, false, event.Op{}
	r.steps = append(r.steps, step{g: g, clock: len(r.clocks), width: len(it.clock)})
	r.clocks = append(r.clocks, it.clock...)
}

// takeWord lets g come after the accesses of a word that its step n depends on, and enters that.
func (r *races) takeWord(it *progress, w word, g uint32, c class, n int32) {
	list := r.words.at(w)
	var own *access
	for i := list.head; i != 0; i = r.pool[i-1].next {
		switch a := &r.pool[i-1]; {
		case a.g == g && a.class == c:
			own = a
		case a.g != g && dependent(a.class, c):
			r.join(it, a.step)
		}
	}
	if own != nil {
		own.step = n
		return
	}
	r.pool = append(r.pool, access{next: list.head, step: n, g: g, class: c})
	list.head = int32(len(r.pool))
}

// takeAll is takeWord for an operation that touches any words.
func (r *races) takeAll(it *progress, g uint32, op *operation, n int32) {
	r.eachAccess(op, func(a *access, c class) {
		if a.g != g && dependent(a.class, c) {
			r.join(it, a.step)
		}
	})
	r.enter(g, &op.Op, n)
	if op.resumes.Kind != event.None {
		r.enter(g, &op.resumes, n)
	}
}

// join lets what happens next in p come after a step.
func (r *races) join(p *progress, n int32) {
	s := &r.steps[n]
	for len(p.clock) < s.width {
		p.clock = append(p.clock, 0)
	}
	for i, t := range r.clocks[s.clock : s.clock+s.width] {
		p.clock[i] = max(p.clock[i], t)
	}
}

func (r *races) enter(g uint32, op *event.Op, n int32) {
	from, to := span(op)
	c := classOf(op.Kind)
	if to-from <= maxWords {
		for w := from; w < to; w++ {
			r.enterAt(w, g, c, n)
		}
	} else {
		r.large = append(r.large, large{from, to, access{step: n, g: g, class: c}})
	}
	for _, also := range aside(op) {
		if also.word != noWord {
			r.enterAt(also.word, g, also.class, n)
		}
	}
}

func (r *races) enterAt(w word, g uint32, c class, n int32) {
	list := r.words.at(w)
	for i := list.head; i != 0; i = r.pool[i-1].next {
		if a := &r.pool[i-1]; a.g == g && a.class == c {
			a.step = n
			return
		}
	}
	r.pool = append(r.pool, access{next: list.head, step: n, g: g, class: c})
	list.head = int32(len(r.pool))
}

// conflict reports whether two operations depend on each other.
func conflict(a, b *operation) bool {
	return a.wide() || b.wide() || touch(&a.Op, &b.Op) ||
		a.resumes.Kind != event.None && touch(&a.resumes, &b.Op) ||
		b.resumes.Kind != event.None && (touch(&a.Op, &b.resumes) || touch(&a.resumes, &b.resumes))
}

// touch reports whether two operations touch the same word in ways that do not commute.
func touch(a, b *event.Op) bool {
	f1, t1 := span(a)
	f2, t2 := span(b)
	if f1 < t2 && f2 < t1 && dependent(classOf(a.Kind), classOf(b.Kind)) {
		return true
	}
	for _, x := range aside(a) {
		for _, y := range aside(b) {
			if x.word != noWord && x.word == y.word && dependent(x.class, y.class) {
				return true
			}
		}
	}
	return false
}
