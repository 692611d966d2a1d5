package tolerate

import (
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// A cell is one variable in one section: the shared variable and the two copies
// of it.
type cell struct {
	typed  *typed
	policy *policy

	shared unsafe.Pointer // V: what everybody has
	own    unsafe.Pointer // V': what the section works on
	before unsafe.Pointer // V'': what the section began with
	origin unsafe.Pointer // what was in V then. It is before, unless copies are made by a function
	state  state

	host *cell // the cell with the copies, if this one shares them with other locks
}

// A state says what the section has done with its copy. Only the section's
// goroutine reads and writes it, except that readers that share a copy read it.
type state uint8

const (
	idle      state = iota // no section is running: the copies mean nothing
	untouched              // taken, and not used
	touched                // perhaps read
	blind                  // written before it could be read: the result does not depend on V''
)

// A policy is how a variable is copied, compared and resolved. The functions are
// nil for what the layout can do by itself.
type policy struct {
	typed    *typed
	name     string
	lock     string // that guards the variable, if it has a name
	site     finding.Frame
	suspects string // the functions that may have changed it without the lock
	resolve  func(result, theirs, ours, before unsafe.Pointer)
	merge    Merge // of a straight section
	copy     func(to, from unsafe.Pointer)
	equal    func(a, b unsafe.Pointer) bool
}

// take is the entry of the paper: V′ and V″ become V.
func (c *cell) take() {
	c.state = untouched
	if c.origin != c.before {
		c.takeDeep()
		return
	}
	switch c.typed.only {
	case byte8:
		v := atomic.LoadUint64((*uint64)(c.shared))
		*(*uint64)(c.before), *(*uint64)(c.own) = v, v
	case pointer:
		v := atomic.LoadPointer((*unsafe.Pointer)(c.shared))
		*(*unsafe.Pointer)(c.before), *(*unsafe.Pointer)(c.own) = v, v
	default:
		c.snapshot(c.before)
		c.typed.assign(c.own, c.before)
	}
}

func (c *cell) takeDeep() {
	c.snapshot(c.origin)
	c.policy.copy(c.before, c.origin)
	c.policy.copy(c.own, c.origin)
}

// snapshot copies V. A variable of several words is copied until it has been the
// same twice, so that the section does not begin with half of a careless write.
func (c *cell) snapshot(to unsafe.Pointer) {
	const tries = 16 // it is written all the time: there is no better moment
	for range tries {
		c.typed.load(to, c.shared)
		if c.typed.only != several && c.typed.only <= pointer || c.typed.same(c.shared, to) {
			return
		}
	}
}

// settle is the exit of the paper: it publishes the section's value, if nobody
// interfered, which the return of nil says.
func (c *cell) settle() *race {
	s := c.state
	c.state = idle
	switch s {
	case idle: // guarded since the section began, or Unlock without a Lock
		return nil
	case untouched:
		c.forget()
		return nil
	}
	if c.origin == c.before {
		switch c.typed.only {
		case byte8:
			own, before := *(*uint64)(c.own), *(*uint64)(c.before)
			if own == before && atomic.LoadUint64((*uint64)(c.shared)) == before ||
				own != before && atomic.CompareAndSwapUint64((*uint64)(c.shared), before, own) {
				return nil
			}
		case pointer:
			own, before := *(*unsafe.Pointer)(c.own), *(*unsafe.Pointer)(c.before)
			if own == before && atomic.LoadPointer((*unsafe.Pointer)(c.shared)) == before ||
				own != before && atomic.CompareAndSwapPointer((*unsafe.Pointer)(c.shared), before, own) {
				c.forget()
				return nil
			}
		}
	}
	noted := c.reconcile(s == blind)
	c.forget()
	return noted
}

// forget lets the collector have what only the copies refer to.
func (c *cell) forget() {
	if !c.typed.pointers {
		return
	}
	if c.typed.only == pointer && c.origin == c.before {
		*(*unsafe.Pointer)(c.own), *(*unsafe.Pointer)(c.before) = nil, nil
		return
	}
	c.typed.zero(c.own)
	c.typed.zero(c.before)
	if c.origin != c.before {
		c.typed.zero(c.origin)
	}
}

// ourChange reports whether the section has changed its copy.
func (c *cell) ourChange() bool {
	if c.policy.equal != nil {
		return !c.policy.equal(c.own, c.before)
	}
	return !c.typed.same(c.own, c.before)
}

// theirChange reports whether careless code has changed V, of which theirs is a
// copy.
func (c *cell) theirChange(theirs unsafe.Pointer) bool {
	return !c.typed.same(theirs, c.origin) ||
		c.policy.equal != nil && !c.policy.equal(theirs, c.before)
}

// mostTries bounds how often a section tries to publish against code that writes
// all the time, and would win for ever.
const mostTries = 1000

// reconcile is settle for variables of several words, and for those that were changed without
// the lock.
func (c *cell) reconcile(blind bool) *race {
	ours := c.ourChange()
	if c.typed.same(c.shared, c.origin) && (c.policy.equal == nil || c.policy.equal(c.origin, c.before)) {
		if !ours || c.publish(c.origin, c.own, false) {
			return nil
		}
		ours = c.ourChange()
	}
	var noted *race
	theirs, result := c.typed.make(), c.typed.make()
	for try := 1; ; try++ {
		c.snapshot(theirs)
		if c.theirChange(theirs) {
			noted = c.judge(noted, ours, blind, result, theirs)
		} else if ours {
			c.typed.assign(result, c.own)
		}
		if !ours || c.publish(theirs, result, try == mostTries) {
			break
		}
		ours = c.ourChange()
	}
	if noted != nil && c.typed.printed {
		noted.values = &[3]any{c.typed.box(theirs), c.typed.box(c.own), c.typed.box(c.before)}
	}
	return noted
}

// judge decides what becomes of V when careless code has changed it to theirs. It
// is called once more with what it returned when careless code was faster.
func (c *cell) judge(noted *race, ours, blind bool, result, theirs unsafe.Pointer) *race {
	if noted == nil {
		noted = &race{policy: c.policy, typed: c.typed, address: uint64(uintptr(c.shared)), outcome: finding.Tolerated}
	}
	if ours && (c.policy.resolve == nil || c.policy.merge == Refusing) && !blind && !c.collide(theirs) {
		// They changed other fields than we did.
		noted.classes |= classify(false, true, false)
		c.closedForm(result, theirs)
		return noted
	}
	noted.classes |= classify(ours, true, blind)
	switch {
	case !ours: // T1 T2
	case blind: // T2 T1
		c.typed.assign(result, c.own)
	case c.policy.resolve == nil:
		noted.outcome = finding.Resolved
		c.closedForm(result, theirs)
	default:
		noted.outcome = finding.Resolved
		if cause := c.ask(result, theirs); cause != nil {
			noted.outcome, noted.cause = finding.Refused, cause
			c.typed.assign(result, c.own)
		}
	}
	return noted
}

// ask calls the resolver, and returns what it panicked with.
func (c *cell) ask(result, theirs unsafe.Pointer) (cause any) {
	defer func() { cause = recover() }()
	c.policy.resolve(result, theirs, c.own, c.before)
	return nil
}

// collide reports whether a unit was changed by both.
func (c *cell) collide(theirs unsafe.Pointer) bool {
	if c.typed.bulk || c.policy.equal != nil {
		return true
	}
	for _, u := range c.typed.units {
		own, before := unsafe.Add(c.own, u.offset), unsafe.Add(c.before, u.offset)
		if !u.kind.same(own, before) && !u.kind.same(unsafe.Add(theirs, u.offset), before) {
			return true
		}
	}
	return false
}

// closedForm is equation (1) of the paper, for each unit.
func (c *cell) closedForm(result, theirs unsafe.Pointer) {
	c.typed.assign(result, theirs)
	if c.typed.bulk || c.policy.equal != nil {
		return
	}
	for _, u := range c.typed.units {
		if before := unsafe.Add(c.before, u.offset); u.kind.same(unsafe.Add(theirs, u.offset), before) {
			u.kind.load(unsafe.Add(result, u.offset), unsafe.Add(c.own, u.offset))
		}
	}
}

// publish makes V the result, where V is still theirs; by force also where it is
// not. If it returns false, the units that have been published are no longer
// among what the section has changed, so that nothing is counted twice.
func (c *cell) publish(theirs, result unsafe.Pointer, force bool) bool {
	if c.typed.bulk {
		if !force && !c.typed.same(c.shared, theirs) {
			return false
		}
		if !c.typed.same(theirs, result) {
			c.typed.assign(c.shared, result)
		}
		return true
	}
	done := true
	for _, u := range c.typed.units {
		shared, old, with := unsafe.Add(c.shared, u.offset), unsafe.Add(theirs, u.offset), unsafe.Add(result, u.offset)
		if u.kind.same(old, with) {
			continue
		}
		if force {
			u.kind.store(shared, with)
		} else if !u.kind.publish(shared, old, with) {
			done = false
		} else if len(c.typed.units) > 1 {
			u.kind.load(unsafe.Add(c.before, u.offset), unsafe.Add(c.own, u.offset))
		}
	}
	if force {
		counters.forced.Add(1)
	}
	return done
}
