package drive

import (
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/race"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Data races, where they are asked for.
//
// Machine code does not say which accesses are meant to be atomic: a load that acquires is a
// plain mov. So a word counts as one that threads synchronise by if any instruction accesses
// it atomically (with a lock prefix, or xchg), if it is a futex, or if the kernel clears it
// when a thread ends. Every access to such a word releases and acquires; mutexes,
// condition variables, barriers, semaphores, once and join need nothing else. Two accesses
// of the program's own code to any other word race by the same rules as in package race.
//
// A flag that is set and read by atomic stores and loads alone, and never by an update, looks
// like any other variable, and is reported.

// A raceWatch finds the races of one run after the other.
type raceWatch struct {
	detector race.Detector
	threads  []*race.Thread          // by number
	units    map[uint64]*race.Vector // by address: what was released there
	pipes    race.Vector             // what is written to pipes
	own      map[uint32]bool
	// fresh are units that this run is the first to show to be atomic.
	fresh map[uint64]bool
	// doubtful: the program's own code turned out to treat a word as atomic, which it may
	// have accessed before in this run.
	doubtful bool
	stacks   []trace.Point // of the later access of each race
}

// begin gets ready for a run of the threads that there are.
func (w *raceWatch) begin(threads []*linux.Thread) {
	w.detector.Begin()
	w.threads, w.stacks, w.doubtful = w.threads[:0], nil, false
	w.units, w.fresh = map[uint64]*race.Vector{}, map[uint64]bool{}
	w.pipes.Reset()
	if w.own == nil {
		w.own = map[uint32]bool{}
	}
	for range threads {
		w.create(nil)
	}
}

// create makes the next thread known, whose creator has released what it did so far.
func (w *raceWatch) create(past *race.Vector) {
	t := &race.Thread{}
	if past != nil {
		t.Vector.Set(past)
	}
	w.detector.TakeSlot(t, uint32(len(w.threads)+1))
	w.threads = append(w.threads, t)
}

func (w *raceWatch) thread(n uint32) *race.Thread { return w.threads[n-1] }

// meet has a thread release what it did, and acquire what others did, at a unit.
func (w *raceWatch) meet(t *race.Thread, at uint64) {
	v := w.units[at]
	if v == nil {
		v = &race.Vector{}
		w.units[at] = v
	}
	t.Vector.Join(v)
	t.ReleaseMerge(v)
}

// isOwn reports whether an instruction is the program's own.
func (r *run) isOwn(site uint32) bool {
	own, known := r.watch.own[site]
	if !known {
		if s, ok := r.process.Code.Sites()[site]; ok {
			a, ok := r.process.Mem.Area(s.PC)
			own = ok && a.File != nil && a.File.Name == r.Program.own
		}
		r.watch.own[site] = own
	}
	return own
}

// atomicUnit is how many bytes are told apart in what is atomic: variables of that size stand
// side by side with others. The set of atomic units is one of words, each of which stands for
// a unit.
const atomicUnit = 4

func unitWord(addr uint64) uint64 { return addr / atomicUnit * 8 }

// isAtomic reports whether threads are known to synchronise by a unit.
func (r *run) isAtomic(addr uint64) bool {
	word := unitWord(addr)
	return r.atomics.has(word, 8) || r.watch.fresh[word]
}

// synchronises makes memory known that threads synchronise by.
func (r *run) synchronises(addr uint64, size uint32) {
	for at := addr &^ (atomicUnit - 1); at < addr+uint64(size); at += atomicUnit {
		if !r.isAtomic(at) {
			r.watch.fresh[unitWord(at)] = true
			r.foundAtomics = append(r.foundAtomics, unitWord(at))
		}
	}
}

// meets has a thread synchronise by memory.
func (r *run) meets(t *race.Thread, addr uint64, size uint32) {
	for at := addr &^ (atomicUnit - 1); at < addr+uint64(size); at += atomicUnit {
		r.watch.meet(t, at)
	}
}

// touches is an access that happens now.
func (r *run) touches(t *linux.Thread, ref *cpu.Ref) {
	w := &r.watch
	thread := w.thread(t.Number)
	switch {
	case ref.Kind.IsAtomic():
		if !r.isAtomic(ref.Addr) && r.isOwn(ref.Site) {
			w.doubtful = true
		}
		r.synchronises(ref.Addr, ref.Size)
	case ref.Size > 8 || !r.isAtomic(ref.Addr):
		if r.isOwn(ref.Site) {
			r.plain(t, thread, ref)
		}
		return
	}
	r.meets(thread, ref.Addr, ref.Size)
}

// plain is an access that may race.
func (r *run) plain(t *linux.Thread, thread *race.Thread, ref *cpu.Ref) {
	w := &r.watch
	before := len(w.detector.Races)
	w.detector.Touch(thread, uintptr(ref.Addr), uintptr(min(ref.Size, maxSpan)), ref.Kind, ref.Site)
	for range w.detector.Races[before:] {
		at := trace.Point{Op: ref.Kind, G: t.Number, Site: ref.Site, Addr: ref.Addr}
		if s, ok := r.process.Code.Sites()[ref.Site]; ok {
			at.Stack = r.stack(t, s.PC)
		}
		w.stacks = append(w.stacks, at)
	}
}

// calls is a system call that a thread makes now. The result is what a thread that it creates
// knows of the past.
func (r *run) calls(t *linux.Thread) *race.Vector {
	name, args := t.Call()
	thread := r.watch.thread(t.Number)
	switch name {
	case "futex":
		r.synchronises(args[0], atomicUnit)
		r.meets(thread, args[0], atomicUnit)
	case "fork", "vfork", "wait4", "waitid":
		r.watch.meetByPipe(thread) // by way of a child
	case "clone", "clone3":
		if !r.process.CreatesThread(t) {
			r.watch.meetByPipe(thread)
			break
		}
		past := &race.Vector{}
		thread.Release(past)
		return past
	case "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait":
		r.watch.meetByPipe(thread)
	case "read", "readv", "write", "writev", "close", "connect", "accept", "accept4", "sendto", "recvfrom", "sendmsg", "recvmsg", "shutdown":
		if r.process.Connects(args[0]) {
			r.watch.meetByPipe(thread)
		}
	}
	return nil
}

// meetByPipe orders all that threads do to pipes. Which they are does not matter: an order too
// many hides a race, one too few would invent one.
func (w *raceWatch) meetByPipe(t *race.Thread) {
	t.Vector.Join(&w.pipes)
	t.ReleaseMerge(&w.pipes)
}

// created makes the threads known that a step has created, and what a thread that has ended
// did to those that wait for its end.
func (r *run) created(t *linux.Thread, past *race.Vector) {
	w := &r.watch
	for len(w.threads) < len(r.process.Threads()) {
		w.create(past)
	}
	if addr := t.ClearTID(); t.Ended && addr != 0 {
		r.synchronises(addr, atomicUnit)
		r.meets(w.thread(t.Number), addr, atomicUnit)
	}
}

// raced are the races of a run that has come to its end.
func (r *run) raced() []trace.Failure {
	w := &r.watch
	races := w.detector.Races
	var all []trace.Failure
	for i, pair := range races {
		if w.doubtful || r.isAtomic(uint64(pair.First.Addr)) {
			continue // it is a word that threads synchronise by
		}
		a, b := pair.First, pair.Second
		first := trace.Point{Op: a.Kind, G: a.G, Site: a.Site, Addr: uint64(a.Addr)}
		all = append(all, trace.Failure{
			Kind: event.FailureRace, Message: fmt.Sprintf("%s and %s of the same memory, with nothing to order them", a.Kind, b.Kind),
			Point: w.stacks[i], Others: []trace.Point{first},
		})
	}
	for _, t := range w.threads {
		w.detector.Ended(t)
	}
	w.detector.End()
	return slices.Clip(all)
}
