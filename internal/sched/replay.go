package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// Replay follows a schedule. Where the schedule does not apply, it does what the
// default does and goes on with what still applies: so that a schedule can be tried on
// a program that was changed, or with some switches taken out. Diverged tells.
type Replay struct {
	goroutines []script // by goroutine
	chance     uint64

	diverged Divergence
	unused   int
}

// A script is the part of a schedule that is about one goroutine.
type script struct {
	switches []Switch // ascending N
	stalls   []Stall  // ascending N, of the same N ascending Idle
	branches []Branch // ascending N
	next     int      // in switches
	alone    bool     // the point of the next switch has come, and there was none to switch to
	stall    int      // in stalls
	branch   int      // in branches
	chosen   uint64   // choices made
}

// NewReplay returns the strategy that follows s. If s names a point twice, the first
// counts.
func NewReplay(s Schedule) *Replay {
	r := &Replay{chance: s.Chance}
	for _, w := range s.Switches {
		c := r.script(w.G)
		if i, found := find(c.switches, w.N, func(w Switch) uint64 { return w.N }); !found {
			c.switches = insert(c.switches, i, w)
		}
	}
	for _, l := range s.Stalls {
		c := r.script(l.G)
		i := len(c.stalls)
		for i > 0 && l.before(c.stalls[i-1].N, c.stalls[i-1].Idle) {
			i--
		}
		c.stalls = insert(c.stalls, i, l)
	}
	for _, b := range s.Branches {
		c := r.script(b.G)
		if i, found := find(c.branches, b.N, func(b Branch) uint64 { return b.N }); !found {
			c.branches = insert(c.branches, i, b)
		}
	}
	return r
}

// maxGoroutine is the highest number for which a script is kept, so that a schedule
// from an untrusted text cannot claim any amount of memory.
const maxGoroutine = 1 << 16

// script returns the script of g. What is said about goroutines beyond the limit is
// kept in the last script, which no goroutine reads, and counts as not passed.
func (r *Replay) script(g uint32) *script {
	g = min(g, maxGoroutine)
	for int(g) >= len(r.goroutines) {
		r.goroutines = append(r.goroutines, script{})
	}
	return &r.goroutines[g]
}

func (r *Replay) Begin() {
	for i := range r.goroutines {
		c := &r.goroutines[i]
		c.next, c.alone, c.stall, c.branch, c.chosen = 0, false, 0, 0, 0
	}
	r.diverged, r.unused = Divergence{}, 0
}

func (r *Replay) Chance() uint64 { return r.chance }

func (r *Replay) Pick(p *Turn) int {
	if int(p.Last) >= min(len(r.goroutines), maxGoroutine) {
		return p.Default()
	}
	c := &r.goroutines[p.Last]
	if r.stalls(c, p) {
		return len(p.Ready) - 1
	}
	for c.next < len(c.switches) && c.switches[c.next].N < p.Taken {
		r.skip(c)
	}
	if c.next == len(c.switches) || c.switches[c.next].N != p.Taken {
		return p.Default()
	}
	if p.goroutines() <= 1 {
		// There is no switch where there is no choice. The same point comes again if the one
		// that is alone cannot go on, and others can when time has moved on.
		c.alone = true
		return 0
	}
	w := c.switches[c.next]
	c.next++
	c.alone = false
	if i := p.index(w.To); i >= 0 {
		return i
	}
	r.diverge(Divergence{Why: NotReady, G: w.G, N: w.N, To: w.To})
	return p.Default()
}

// before reports whether l comes before the point after so many steps, and moves of time
// since.
func (l Stall) before(steps uint64, idle uint32) bool {
	return l.N < steps || l.N == steps && l.Idle < idle
}

// stalls reports whether time moves on at p, though goroutines are ready.
func (r *Replay) stalls(c *script, p *Turn) bool {
	for c.stall < len(c.stalls) && c.stalls[c.stall].before(p.Taken, p.Idle) {
		c.stall++
		r.unused++
	}
	if c.stall == len(c.stalls) || p.goroutines() == 0 {
		return false
	}
	l := c.stalls[c.stall]
	switch {
	case l.N != p.Taken || l.Idle != p.Idle:
		return false
	case p.Stalled >= l.Moments:
		c.stall++
		return false
	case !p.mayStall():
		r.diverge(Divergence{Why: NotReady, G: l.G, N: l.N, To: Time})
		c.stall++
		return false
	}
	return true
}

// skip passes over the next switch of a script.
func (r *Replay) skip(c *script) {
	if w := c.switches[c.next]; c.alone {
		r.diverge(Divergence{Why: NotReady, G: w.G, N: w.N, To: w.To})
	}
	c.alone = false
	c.next++
	r.unused++
}

func (r *Replay) Branch(choice Choice) int {
	g, n := choice.G, choice.N
	if int(g) >= min(len(r.goroutines), maxGoroutine) {
		return 0
	}
	c := &r.goroutines[g]
	c.chosen++
	if c.branch == len(c.branches) || c.branches[c.branch].N != c.chosen {
		return 0
	}
	b := c.branches[c.branch]
	c.branch++
	if b.Choice < n {
		return b.Choice
	}
	r.diverge(Divergence{Why: NoPossibility, G: g, N: c.chosen})
	return 0
}

func (r *Replay) End(event.Ending, Used) {
	for i := range r.goroutines {
		c := &r.goroutines[i]
		for c.next < len(c.switches) {
			r.skip(c)
		}
		r.unused += len(c.stalls) - c.stall + len(c.branches) - c.branch
	}
	if r.unused > 0 {
		r.diverge(Divergence{Why: NotEncountered, Unused: r.unused})
	}
}

// diverge takes note of a divergence if it is the first.
func (r *Replay) diverge(d Divergence) {
	if r.diverged == (Divergence{}) {
		r.diverged = d
	}
}

// Diverged returns, after a run, where it could not follow the schedule first and why.
func (r *Replay) Diverged() Divergence { return r.diverged }

// Watches: where one goroutine alone is ready, it is seen that another should have been.
func (r *Replay) Watches() bool      { return true }
func (r *Replay) Exhausted() bool    { return false }
func (r *Replay) Progress() Progress { return Progress{Method: MethodReplay} }

// Next is the next switch or stall of g.
func (r *Replay) Next(g uint32) uint64 {
	next := uint64(1<<64 - 1)
	if int(g) < min(len(r.goroutines), maxGoroutine) {
		c := &r.goroutines[g]
		if c.next < len(c.switches) {
			next = c.switches[c.next].N
		}
		if c.stall < len(c.stalls) {
			next = min(next, c.stalls[c.stall].N)
		}
	}
	return next
}

// find returns where n is, or belongs, in a list that ascends by key.
func find[T any](list []T, n uint64, key func(T) uint64) (int, bool) {
	for i, x := range list {
		if key(x) >= n {
			return i, key(x) == n
		}
	}
	return len(list), false
}

func insert[T any](list []T, i int, x T) []T {
	var zero T
	list = append(list, zero)
	copy(list[i+1:], list[i:])
	list[i] = x
	return list
}
