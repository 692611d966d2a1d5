package sched

import (
	"fmt"
	"math/rand"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A model is a small concurrent program whose runs a strategy decides. It behaves
// towards a strategy as a controlled Go program does: an operation on a lock that is held
// is a step after which the goroutine waits, an unlock makes all who wait ready to ask
// again, goroutines are numbered in the order of their creation, and addresses differ
// from run to run.
type model struct {
	code  [][]instruction // code[0] is the root's
	vars  int
	locks int
	sems  int
	limit int // steps after which a run is cut off; 0: 10000
	// ends is set if a failed assertion ends the run.
	ends bool
	// handOver is set if a post goes to one who waits for it, who then has no more to
	// do for it, as with channels.
	handOver bool
	// exact is set if one who waits is ready exactly when what it waits for can be done.
	// Otherwise it is when something has changed, and may have to wait again.
	exact bool
	// stall is for how long a run may stall.
	stall int
}

type opcode uint8

const (
	load       opcode = iota // r = vars[a]
	store                    // vars[a] = r + b
	add                      // vars[a] += b, atomically
	lock                     // of locks[a]
	unlock                   //
	rlock                    //
	runlock                  //
	post                     // sems[a]++
	wait                     // until sems[a] > 0, then sems[a]--
	choose                   // wait until sems[a] > 0 or sems[b] > 0, and take one; r = 2r + which
	spawn                    // code[a]
	yield                    //
	backUnless               // r = vars[a]; if it is 0, go back b instructions
	branch                   // r = a choice of a
	forbid                   // fail if r == a
	sleep                    // for a
	after                    // sems[b]++ in a
	readClock                // r = the time
)

var opnames = [...]string{"load", "store", "add", "lock", "unlock", "rlock", "runlock", "post", "wait", "choose", "spawn", "yield", "backUnless", "branch", "forbid", "sleep", "after", "readClock"}

type instruction struct {
	op   opcode
	a, b int
}

func (m *model) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ends %v, handOver %v, exact %v, stall %d\n", m.ends, m.handOver, m.exact, m.stall)
	for i, code := range m.code {
		fmt.Fprintf(&b, "%d:", i)
		for _, in := range code {
			fmt.Fprintf(&b, " %s(%d,%d)", opnames[in.op], in.a, in.b)
		}
		b.WriteString("\n")
	}
	return b.String()
}

type thread struct {
	id     uint32
	code   int
	pc     int
	r      int
	taken  uint64
	ready  bool
	ended  bool
	parked uintptr
	failed string
	came   uint64 // the step in which it asked
	asked  bool   // for what it cannot have yet
	sleeps bool
}

// An alarm wakes a thread or posts to a semaphore.
type alarm struct {
	when   int
	sleeps *thread
	sem    int
}

// A result is how a run ended.
type result struct {
	outcome event.Ending
	state   string // what an observer of the end can see; empty if it was cut off
	steps   []uint32
	bad     string // the strategy's mistake
}

func (r *result) trace() string { return fmt.Sprint(r.steps) }

type machine struct {
	*model
	s       Strategy
	base    uintptr
	vars    []int
	holder  []*thread
	readers []int
	sems    []int
	threads []*thread // by creation
	now     int
	stalled int // in all
	alarms  []alarm
	moves   bool // time moves on next, since one that is alone yields
	point   Turn
	res     result
}

var runs uintptr // gives each run addresses of its own

// run runs m once.
func (m *model) run(s Strategy) *result {
	runs++
	x := &machine{model: m, s: s, base: 4096 + runs%97*4096}
	x.vars = make([]int, m.vars)
	x.holder = make([]*thread, m.locks)
	x.readers = make([]int, m.locks)
	x.sems = make([]int, m.sems)
	x.start(0)
	s.Begin()
	s.Chance()
	x.loop()
	s.End(x.res.outcome, Used{})
	return &x.res
}

func (x *machine) start(code int) {
	x.threads = append(x.threads, &thread{id: uint32(len(x.threads) + 1), code: code, ready: true})
}

func (x *machine) addr(op opcode, i int) uintptr {
	switch op {
	case load, store, add, backUnless:
		return x.base + uintptr(8*i)
	case lock, unlock, rlock, runlock:
		return x.base + 1024 + uintptr(8*i)
	}
	return x.base + 2048 + uintptr(8*i)
}

var kinds = map[opcode]event.Kind{
	load: event.Load, store: event.Store, add: event.AtomicUpdate, lock: event.Lock, unlock: event.Unlock,
	rlock: event.RLock, runlock: event.RUnlock, post: event.Send, wait: event.Recv, choose: event.Select,
	spawn: event.Go, yield: event.Gosched, backUnless: event.AtomicLoad, branch: event.Random, forbid: event.Call,
	sleep: event.Sleep, after: event.TimerStart, readClock: event.ReadClock,
}

// next returns what t is about to do.
func (x *machine) next(t *thread) event.Op {
	code := x.code[t.code]
	if t.pc == len(code) {
		return event.Op{Kind: event.End, G: t.id}
	}
	in := code[t.pc]
	op := event.Op{Kind: kinds[in.op], G: t.id, Site: uint32(100*t.code + t.pc + 1)}
	switch in.op {
	case yield:
		op.Yield, op.Round = true, event.IdleRound
	case spawn, branch, forbid, choose, sleep, after:
	case readClock:
		op.Addr, op.Size = x.base+3072, 8
	case load, store, add, backUnless:
		op.Addr, op.Size = x.addr(in.op, in.a), 8
	default:
		op.Addr, op.Size = x.addr(in.op, in.a), 1
	}
	return op
}

func (x *machine) loop() {
	limit := x.limit
	if limit == 0 {
		limit = 10000
	}
	p := &x.point
	var last *thread
	for {
		p.Ready, p.Ops = p.Ready[:0], p.Ops[:0]
		for _, t := range x.threads {
			if t.ended {
				continue
			}
			if x.exact && t.asked {
				t.ready = x.possible(t)
			}
			if t.ready {
				p.Ready = append(p.Ready, t.id)
				p.Ops = append(p.Ops, x.next(t))
			}
		}
		if x.moves {
			p.Ready, p.Ops = p.Ready[:0], p.Ops[:0]
		}
		x.moves = false
		goroutines := len(p.Ready)
		if goroutines == 0 && len(x.alarms) == 0 {
			x.res.state = x.final()
			return
		}
		if x.mayMove(goroutines == 0) {
			p.Ready, p.Ops = append(p.Ready, Time), append(p.Ops, x.fires())
		}
		if int(p.Step) == limit {
			x.res.outcome = event.CutOff
			return
		}
		p.Current, p.Last, p.Taken = 0, 0, 0
		if last != nil {
			p.Last, p.Taken = last.id, last.taken
			if last.ready && goroutines > 0 {
				p.Current = last.id
			}
		}
		i := 0
		if len(p.Ready) > 1 || x.s.Watches() {
			i = x.s.Pick(p)
		}
		if i < 0 || i >= len(p.Ready) {
			x.res.bad = fmt.Sprintf("picked %d of %d", i, len(p.Ready))
			return
		}
		if p.Ready[i] == Time {
			x.move(goroutines > 0)
			continue
		}
		p.Idle, p.Stalled = 0, 0
		last = x.threads[p.Ready[i]-1]
		last.taken++
		p.Step++
		x.res.steps = append(x.res.steps, last.id)
		x.do(last)
		last.came = p.Step
		if last.failed != "" && x.ends {
			x.res.outcome, x.res.state = event.Failed, fmt.Sprintf("code %d%s", last.code, last.failed)
			return
		}
	}
}

// first returns the next moment at which there is an alarm.
func (x *machine) first() int {
	when := x.alarms[0].when
	for _, a := range x.alarms {
		when = min(when, a.when)
	}
	return when
}

// mayMove reports whether time may move on.
func (x *machine) mayMove(alone bool) bool {
	return len(x.alarms) > 0 && (alone || x.first()-x.now <= x.stall-x.stalled)
}

// fires is what happens if time moves on.
func (x *machine) fires() event.Op {
	op := event.Op{Kind: event.TimerFire, Addr: x.base + 3080, Size: 1}
	posts := 0
	for _, a := range x.alarms {
		if a.when == x.first() && a.sleeps == nil {
			op.Addr = x.addr(post, a.sem)
			posts++
		}
	}
	if posts > 1 {
		op.Addr, op.Size = 0, 0
	}
	return op
}

// move moves time on to the next moment with an alarm.
func (x *machine) move(stalls bool) {
	when := x.first()
	if stalls {
		x.stalled += when - x.now
		x.point.Stalled++
	} else {
		x.point.Idle++
	}
	x.now = when
	var rest []alarm
	for _, a := range x.alarms {
		switch {
		case a.when > when:
			rest = append(rest, a)
		case a.sleeps != nil:
			a.sleeps.ready, a.sleeps.sleeps = true, false
		default:
			x.post(a.sem)
		}
	}
	x.alarms = rest
}

// post adds to a semaphore.
func (x *machine) post(sem int) {
	if x.handOver && x.deliver(sem) {
		return
	}
	x.sems[sem]++
	x.wake(post, sem)
}

// possible reports whether t would not have to wait.
func (x *machine) possible(t *thread) bool {
	code := x.code[t.code]
	if t.pc == len(code) {
		return true
	}
	switch in := code[t.pc]; in.op {
	case lock:
		return x.holder[in.a] == nil && x.readers[in.a] == 0
	case rlock:
		return x.holder[in.a] == nil && !x.writerWaits(in.a)
	case wait:
		return x.sems[in.a] > 0
	case choose:
		return x.sems[in.a] > 0 || x.sems[in.b] > 0
	}
	return true
}

func (x *machine) park(t *thread, op opcode, i int) {
	t.ready, t.asked, t.parked = false, true, x.addr(op, i)
}

func (x *machine) wake(op opcode, i int) {
	for _, t := range x.threads {
		// One that chooses is parked at no address in particular.
		if !t.ready && !t.ended && !t.sleeps && (t.parked == x.addr(op, i) || t.parked == 0 && op == post) {
			t.ready = true
		}
	}
}

func (x *machine) do(t *thread) {
	code := x.code[t.code]
	if t.pc == len(code) {
		t.ready, t.ended = false, true
		return
	}
	in := code[t.pc]
	t.asked = false
	switch in.op {
	case load:
		t.r = x.vars[in.a]
	case store:
		x.vars[in.a] = t.r + in.b
	case add:
		x.vars[in.a] += in.b
	case lock:
		if x.holder[in.a] != nil || x.readers[in.a] > 0 {
			x.park(t, in.op, in.a)
			return
		}
		x.holder[in.a] = t
	case unlock:
		x.holder[in.a] = nil
		x.wake(in.op, in.a)
	case rlock:
		if x.holder[in.a] != nil || x.writerWaits(in.a) {
			x.park(t, in.op, in.a)
			return
		}
		x.readers[in.a]++
	case runlock:
		x.readers[in.a]--
		x.wake(in.op, in.a)
	case post:
		x.post(in.a)
	case sleep:
		x.alarms = append(x.alarms, alarm{when: x.now + in.a, sleeps: t})
		t.ready, t.sleeps = false, true
	case after:
		x.alarms = append(x.alarms, alarm{when: x.now + in.a, sem: in.b})
	case readClock:
		t.r = 10*t.r + x.now
	case wait:
		if x.sems[in.a] == 0 {
			x.park(t, in.op, in.a)
			return
		}
		x.sems[in.a]--
	case choose:
		which := in.a
		switch {
		case x.sems[in.a] == 0 && x.sems[in.b] == 0:
			t.ready, t.asked, t.parked = false, true, 0
			return
		case x.sems[in.a] == 0:
			which = in.b
		case x.sems[in.b] > 0 && in.a != in.b && x.s.Branch(Choice{G: t.id, Site: 7, N: 2, Kind: event.Select}) == 1:
			which = in.b
		}
		x.sems[which]--
		t.r = 2*t.r + which
	case spawn:
		x.start(in.a)
	case yield:
		x.moves = len(x.point.Ready) == 1 && len(x.alarms) > 0
	case backUnless:
		t.r = x.vars[in.a]
		if t.r == 0 {
			t.pc -= in.b
			return
		}
	case branch:
		t.r = x.s.Branch(Choice{G: t.id, Site: 9, N: in.a, Kind: in.branches()})
	case forbid:
		if t.r == in.a {
			t.failed += fmt.Sprintf(" fails at %d", t.pc)
		}
	}
	t.pc++
}

// branches is what a branch is about.
func (in instruction) branches() event.Kind {
	if in.b > 0 {
		return event.Random
	}
	return event.Select
}

// deliver hands a post to the first who waits for it.
func (x *machine) deliver(sem int) bool {
	var first *thread
	for _, t := range x.threads {
		if !t.asked || first != nil && first.came < t.came {
			continue
		}
		if in := x.code[t.code][t.pc]; in.op == wait && in.a == sem || in.op == choose && (in.a == sem || in.b == sem) {
			first = t
		}
	}
	if first == nil {
		return false
	}
	if x.code[first.code][first.pc].op == choose {
		first.r = 2*first.r + sem
	}
	first.pc++
	first.ready, first.asked = true, false
	return true
}

// writerWaits reports whether a writer waits for a lock.
func (x *machine) writerWaits(i int) bool {
	for _, t := range x.threads {
		if t.asked {
			if in := x.code[t.code][t.pc]; in.op == lock && in.a == i {
				return true
			}
		}
	}
	return false
}

// final tells what the end of the run looks like. Threads are named by their code, since
// their numbers can depend on the schedule.
func (x *machine) final() string {
	lines := make([]string, len(x.code))
	for _, t := range x.threads {
		where := "end"
		if !t.ended {
			where = fmt.Sprint("waits at ", t.pc)
			x.res.outcome = event.Failed
		}
		if t.failed != "" {
			x.res.outcome = event.Failed
		}
		lines[t.code] += fmt.Sprintf("%d:%d %s%s;", t.code, t.r, where, t.failed)
	}
	return fmt.Sprint(x.vars, x.sems, lines)
}

// randomModel makes up a program with the given number of goroutines, each with up to
// length instructions and what it needs to release its locks.
func randomModel(r *rand.Rand, goroutines, length int, ops []opcode) *model {
	m := &model{vars: 1 + r.Intn(2), locks: 1 + r.Intn(2), sems: 2, ends: r.Intn(2) == 0, handOver: r.Intn(2) == 0, exact: r.Intn(2) == 0, stall: r.Intn(5)}
	for g := range goroutines {
		var code, release []instruction
		// The root starts the others, sometimes after having done something, and
		// sometimes one of them starts the next.
		if g == 0 {
			code = append(code, instruction{op: spawn, a: 1})
		}
		if next := g + 1; next < goroutines && next > 1 && (r.Intn(3) > 0 || g == 0 && goroutines == 3) {
			at := code
			if g == 0 {
				code = append(at, instruction{op: spawn, a: next})
			} else {
				code = append([]instruction{{op: spawn, a: next}}, at...)
			}
		}
		n := 1 + r.Intn(length)
		for range n {
			in := instruction{op: ops[r.Intn(len(ops))]}
			switch in.op {
			case load:
				in.a = r.Intn(m.vars)
			case store, add:
				in.a, in.b = r.Intn(m.vars), 1+r.Intn(3)
			case lock, rlock:
				in.a = r.Intn(m.locks)
				out := unlock
				if in.op == rlock {
					out = runlock
				}
				release = append(release, instruction{op: out, a: in.a})
			case unlock, runlock:
				if len(release) == 0 {
					continue
				}
				i := r.Intn(len(release))
				in = release[i]
				release = append(release[:i], release[i+1:]...)
			case post, wait:
				in.a = r.Intn(m.sems)
			case choose:
				in.a, in.b = 0, 1
			case branch:
				in.a, in.b = 2, r.Intn(2)
			case sleep:
				in.a = 1 + r.Intn(3)
			case after:
				in.a, in.b = 1+r.Intn(3), r.Intn(m.sems)
			case forbid:
				in.a = r.Intn(4)
			case backUnless:
				// A loop that waits for the variable, and yields.
				code = append(code, instruction{op: yield})
				in.a, in.b = r.Intn(m.vars), 1
			}
			code = append(code, in)
		}
		for i := len(release) - 1; i >= 0; i-- {
			code = append(code, release[i])
		}
		m.code = append(m.code, code)
	}
	return m
}

// waitsForTime reports whether a program both sleeps and spins.
func (m *model) waitsForTime() bool {
	sleeps, spins := false, false
	for _, code := range m.code {
		for _, in := range code {
			sleeps = sleeps || in.op == sleep || in.op == after
			spins = spins || in.op == backUnless
		}
	}
	return sleeps && spins
}
