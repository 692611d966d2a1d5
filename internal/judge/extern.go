package judge

import (
	"go/types"
	"slices"
	"strings"
	"time"
)

// A lock is the state of a sync.Mutex or sync.RWMutex.
type lock struct {
	written bool
	readers int
	writers int // that have announced themselves
}

// An extern is a function that is known by name. enabled says whether it can be called now;
// nil means always.
type extern struct {
	enabled func(s *state, args []value) bool
	run     func(m *machine, s *state, t *thread, args []value)
}

// knownByName returns the functions that are known by name, but for those of package
// sync/atomic, which are recognised by their names' parts.
func knownByName() map[string]extern {
	return map[string]extern{
		"(*sync.Mutex).Lock":         {unlocked, lockMutex},
		"(*sync.Mutex).TryLock":      {nil, tryLock},
		"(*sync.Mutex).Unlock":       {nil, unlock},
		"(*sync.RWMutex).Lock":       {nil, lockForWriting},
		"(*sync.RWMutex).TryLock":    {nil, tryLock},
		"(*sync.RWMutex).Unlock":     {nil, unlock},
		"(*sync.RWMutex).RLock":      {readable, readLock},
		"(*sync.RWMutex).TryRLock":   {nil, tryReadLock},
		"(*sync.RWMutex).RUnlock":    {nil, readUnlock},
		"(*sync.WaitGroup).Add":      {nil, addToGroup},
		"(*sync.WaitGroup).Wait":     {nil, waitForGroup},
		"(*sync.copyChecker).check":  {nil, nothing},
		"sync.runtime_notifyListAdd": {nil, takeTicket},
		"sync.runtime_notifyListWait": {func(s *state, args []value) bool {
			return args[1].(int64) < s.tickets(args[0])[1].(int64)
		}, nothing},
		"sync.runtime_notifyListNotifyOne": {nil, func(m *machine, s *state, t *thread, args []value) { notify(m, s, t, args, 1) }},
		"sync.runtime_notifyListNotifyAll": {nil, func(m *machine, s *state, t *thread, args []value) { notify(m, s, t, args, 1<<30) }},
		"slices.overlaps":                  {nil, overlaps},
		cloneMap:                           {nil, clone},
		"runtime.Gosched":                  {nil, nothing},
		"time.Sleep":                       {nil, nothing},
		"time.AfterFunc":                   {nil, callLater},
		"(*time.Timer).Stop":               {nil, stopTimer},
		"runtime.Goexit":                   {nil, func(m *machine, _ *state, t *thread, _ []value) { m.raise(t, panicking{goexit: true}) }},
	}
}

// cloneMap is what maps.Clone does with a map that is not nil.
const cloneMap = "maps.clone"

// drawBelow is the function that returns any of the numbers from 0 to its argument.
const drawBelow = "math/rand/v2.IntN"

// externEnabled reports whether a function that is known by name can be called now.
func (m *machine) externEnabled(s *state, t *thread, op operation) bool {
	if sleepsLong(op) {
		return !m.othersGoOn(s, t)
	}
	if e, ok := m.externs[op.extern]; ok && e.enabled != nil && nonNil(op.args) {
		return e.enabled(s, op.args)
	}
	return true
}

// long is how long a sleep is that ends only when all others wait.
const long = int64(time.Hour)

func sleepsLong(op operation) bool {
	return op.kind == calling && op.extern == "time.Sleep" && op.args[0].(int64) >= long
}

// othersGoOn reports whether a goroutine beside t can take a step, and does not sleep for long.
func (m *machine) othersGoOn(s *state, t *thread) bool {
	return slices.ContainsFunc(s.threads, func(u *thread) bool {
		return u != t && (u.parked != running || !sleepsLong(m.current(s, u))) && m.enabled(s, u)
	})
}

// nonNil reports whether a method is called on something.
func nonNil(args []value) bool {
	a, ok := args[0].(address)
	return ok && a.object != 0
}

// extern calls a function that is known by name.
func (m *machine) extern(s *state, t *thread, op operation) {
	if op.extern == m.show {
		var parts []string
		for _, v := range s.elements(op.args[0].(slice)) {
			parts = append(parts, show(v))
		}
		m.done(s, t, strings.Join(parts, " "))
		return
	}
	if at, _, ok := atomicAccess(op.extern, op.args); ok {
		m.atomic(s, t, op, at)
		return
	}
	if op.callee.fn.Synthetic == packageInit {
		m.done(s, t, nil)
		return
	}
	e, ok := m.externs[op.extern]
	if !ok {
		panic(unsupported("a call of " + op.extern + ", which has no source here"))
	}
	if len(op.args) > 0 && !nonNil(op.args) && strings.HasPrefix(op.extern, "(") {
		panic(runtimeError("invalid memory address or nil pointer dereference"))
	}
	e.run(m, s, t, op.args)
}

// callLater starts the goroutine of a timer, which begins at any time.
func callLater(m *machine, s *state, t *thread, args []value) {
	timer := address{object: s.allocate(nil)}
	u := m.newThread(s, t, pendingCall{callee: args[1]})
	u.parked, u.offers = onTimer, []value{timer}
	m.done(s, t, timer)
}

// stopTimer takes the goroutine of a timer away that has not begun yet.
func stopTimer(m *machine, s *state, t *thread, args []value) {
	i := slices.IndexFunc(s.threads, func(u *thread) bool { return u.parked == onTimer && u.offers[0] == args[0] })
	if i >= 0 {
		s.own(i).frames = nil
	}
	m.done(s, t, i >= 0)
}

// clone makes another map with the same entries.
func clone(m *machine, s *state, t *thread, args []value) {
	x := args[0].(iface)
	m.done(s, t, iface{x.dynamic, mapRef(s.allocate(s.object(int(x.held.(mapRef)))))})
}

// overlaps is how package slices finds out whether two slices share elements, by their
// addresses.
func overlaps(m *machine, s *state, t *thread, args []value) {
	a, b := args[0].(slice), args[1].(slice)
	m.done(s, t, a.array == b.array && a.n > 0 && b.n > 0 && a.from < b.from+b.n && b.from < a.from+a.n)
}

func nothing(m *machine, s *state, t *thread, _ []value) { m.done(s, t, nil) }

// fatal ends the program as the runtime system would.
func fatal(s *state, text string) { s.crash = &Outcome{Ending: Fatal, Text: text} }

func (s *state) lockAt(v value) lock {
	l, _ := s.syncs[v.(address)].(lock)
	return l
}

// setLock keeps no entry for a lock that is free, so that states are the same again.
func (s *state) setLock(v value, l lock) {
	if l == (lock{}) {
		s.setSync(v.(address), nil)
		return
	}
	s.setSync(v.(address), l)
}

func unlocked(s *state, args []value) bool { return !s.lockAt(args[0]).written }

func lockMutex(m *machine, s *state, t *thread, args []value) {
	s.setLock(args[0], lock{written: true})
	m.done(s, t, nil)
}

func tryLock(m *machine, s *state, t *thread, args []value) {
	l := s.lockAt(args[0])
	free := l == lock{}
	if free {
		s.setLock(args[0], lock{written: true})
	}
	m.done(s, t, free)
}

func unlock(m *machine, s *state, t *thread, args []value) {
	l := s.lockAt(args[0])
	if !l.written {
		fatal(s, "sync: unlock of unlocked mutex")
		return
	}
	l.written = false
	s.setLock(args[0], l)
	m.done(s, t, nil)
}

// lockForWriting is two steps where the lock is not free: a writer that has announced itself
// holds readers back.
func lockForWriting(m *machine, s *state, t *thread, args []value) {
	l := s.lockAt(args[0])
	if t.parked != onWriting && (l.written || l.readers > 0) {
		t.parked = onWriting
		l.writers++
		s.setLock(args[0], l)
		return
	}
	if t.parked == onWriting {
		t.parked = running
		l.writers--
	}
	l.written = true
	s.setLock(args[0], l)
	m.done(s, t, nil)
}

func readable(s *state, args []value) bool {
	l := s.lockAt(args[0])
	return !l.written && l.writers == 0
}

func readLock(m *machine, s *state, t *thread, args []value) {
	l := s.lockAt(args[0])
	l.readers++
	s.setLock(args[0], l)
	m.done(s, t, nil)
}

func tryReadLock(m *machine, s *state, t *thread, args []value) {
	if !readable(s, args) {
		m.done(s, t, false)
		return
	}
	l := s.lockAt(args[0])
	l.readers++
	s.setLock(args[0], l)
	m.done(s, t, true)
}

func readUnlock(m *machine, s *state, t *thread, args []value) {
	l := s.lockAt(args[0])
	if l.readers == 0 {
		fatal(s, "sync: RUnlock of unlocked RWMutex")
		return
	}
	l.readers--
	s.setLock(args[0], l)
	m.done(s, t, nil)
}

// A group is the state of a sync.WaitGroup.
type group struct{ count, waiting int64 }

func (s *state) group(v value) group {
	g, _ := s.syncs[v.(address)].(group)
	return g
}

// setGroup keeps no entry for a group that is as it was made.
func (s *state) setGroup(v value, g group) {
	if g == (group{}) {
		s.setSync(v.(address), nil)
		return
	}
	s.setSync(v.(address), g)
}

// addToGroup lets all go on that wait, when the counter comes to 0.
func addToGroup(m *machine, s *state, t *thread, args []value) {
	g := s.group(args[0])
	if g.count += args[1].(int64); g.count < 0 {
		panic(programPanic{iface{types.Typ[types.String], "sync: negative WaitGroup counter"}})
	}
	if g.count == 0 {
		g.waiting = 0
		for i, u := range s.threads {
			if u.parked == onGroup && u.offers[0] == args[0] {
				u = s.own(i)
				u.parked, u.offers = groupDone, nil
			}
		}
	}
	s.setGroup(args[0], g)
	m.done(s, t, nil)
}

// waitForGroup is two steps where the counter is not 0. A group that is used again between
// the two makes the waiting goroutine panic.
func waitForGroup(m *machine, s *state, t *thread, args []value) {
	g := s.group(args[0])
	switch {
	case t.parked == groupDone:
		t.parked = running
		if g != (group{}) {
			panic(programPanic{iface{types.Typ[types.String], "sync: WaitGroup is reused before previous Wait has returned"}})
		}
		m.done(s, t, nil)
	case g.count == 0:
		m.done(s, t, nil)
	default:
		g.waiting++
		t.parked, t.offers = onGroup, args[:1]
		s.setGroup(args[0], g)
	}
}

// addsBesideWait reports whether the first of two operations counts up a WaitGroup from 0 that
// the second is about to wait for. The one may as well come before the other: package sync
// calls that a race, whichever comes first.
func (s *state) addsBesideWait(add, wait operation) bool {
	return add.extern == "(*sync.WaitGroup).Add" && wait.extern == "(*sync.WaitGroup).Wait" && nonNil(add.args) &&
		add.args[0] == wait.args[0] && add.args[1].(int64) > 0 && s.group(add.args[0]).count == 0
}

// tickets are how many goroutines have begun to wait for a sync.Cond, and how many of them
// were notified, in the order of their beginning.
func (s *state) tickets(v value) aggregate {
	if t, ok := s.syncs[v.(address)].(aggregate); ok {
		return t
	}
	return aggregate{int64(0), int64(0)}
}

func takeTicket(m *machine, s *state, t *thread, args []value) {
	k := s.tickets(args[0])
	s.setSync(args[0].(address), aggregate{k[0].(int64) + 1, k[1]})
	m.done(s, t, k[0])
}

func notify(m *machine, s *state, t *thread, args []value, most int64) {
	k := s.tickets(args[0])
	waiting, notified := k[0].(int64), k[1].(int64)
	s.setSync(args[0].(address), aggregate{waiting, min(waiting, notified+most)})
	m.done(s, t, nil)
}

// atomicName splits the name of a function or method of package sync/atomic: what it does,
// and the type it does it to.
func atomicName(name string) (does, of string, method, ok bool) {
	if rest, found := strings.CutPrefix(name, "(*sync/atomic."); found {
		of, does, ok = strings.Cut(rest, ").")
		return does, of, true, ok
	}
	rest, found := strings.CutPrefix(name, "sync/atomic.")
	if !found {
		return "", "", false, false
	}
	for _, does := range []string{"Load", "Store", "Add", "Swap", "CompareAndSwap", "And", "Or"} {
		if of, ok := strings.CutPrefix(rest, does); ok {
			return does, of, false, true
		}
	}
	return "", "", false, false
}

// atomicAccess returns what memory an atomic operation touches. The types of package
// sync/atomic keep their value in their last field, of which the whole is taken here.
func atomicAccess(name string, args []value) (at address, stores, ok bool) {
	does, _, _, ok := atomicName(name)
	if !ok || !nonNil(args) {
		return address{}, false, false
	}
	return args[0].(address), does != "Load", true
}

// atomic performs an operation of package sync/atomic.
func (m *machine) atomic(s *state, t *thread, op operation, at address) {
	does, of, method, _ := atomicName(op.extern)
	elem := op.callee.fn.Signature.Params()
	var typ types.Type
	if method {
		fields := deref(op.callee.fn.Signature.Recv().Type()).Underlying().(*types.Struct)
		at = at.part(fields.NumFields() - 1)
		typ = fields.Field(fields.NumFields() - 1).Type()
	} else {
		typ = deref(elem.At(0).Type())
	}
	args := make([]value, len(op.args))
	for i, a := range op.args {
		if b, ok := a.(bool); ok && of == "Bool" {
			a = int64(0)
			if b {
				a = int64(1)
			}
		}
		args[i] = a
	}
	old := s.load(at)
	read := func(v value) value {
		if of == "Bool" {
			return v.(int64) != 0
		}
		return v
	}
	switch does {
	case "Load":
		m.done(s, t, read(old))
	case "Store":
		s.store(at, args[1])
		m.done(s, t, nil)
	case "Swap":
		s.store(at, args[1])
		m.done(s, t, read(old))
	case "Add":
		sum := wrap(typ, old.(int64)+args[1].(int64))
		s.store(at, sum)
		m.done(s, t, sum)
	case "And":
		s.store(at, old.(int64)&args[1].(int64))
		m.done(s, t, old)
	case "Or":
		s.store(at, old.(int64)|args[1].(int64))
		m.done(s, t, old)
	case "CompareAndSwap":
		same := equal(old, args[1])
		if same {
			s.store(at, args[2])
		}
		m.done(s, t, same)
	default:
		panic(unsupported("a call of " + op.extern))
	}
}
