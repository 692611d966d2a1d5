package stm

import "sync/atomic"

// starving counts the transactions that cannot validate because others commit faster than they
// can compare: committers let them go first.
var starving atomic.Int32

// valid reports whether everything that was read is, or was when it was last
// checked, a state that memory has had. The cheap test comes first: has anybody
// committed since?
func (tx *Tx) valid() bool {
	if tx.eager || tx.held || clock.Load() == tx.snapshot {
		return true
	}
	t, ok := tx.revalidate()
	if ok {
		tx.snapshot = t
	}
	return ok
}

// confirm aborts if the transaction is not valid.
func (tx *Tx) confirm() {
	if tx.state == running && (tx.interrupted.Load() != 0 || !tx.valid()) {
		tx.abort()
	}
}

// revalidate compares what was read with what is there now, at one moment between
// commits, which it returns. If others commit faster than it can compare, it keeps
// them from it once.
func (tx *Tx) revalidate() (t uint64, ok bool) {
	tx.mustBeMine()
	tx.count.validations++
	tx.disturbed()
	if t = clock.Load(); tx.unlogged && t != tx.snapshot {
		tx.cautious = careful
		return t, false
	}
	for spins, tries := 0, 0; tries < enoughTries; spins++ {
		t = clock.Load()
		if t&1 != 0 {
			pause(spins)
			continue
		}
		if ok = tx.reads.same(); !ok || clock.Load() == t {
			acquired()
			return t, ok
		}
		tries++
	}
	t = tx.frozen(func() { ok = tx.reads.same() })
	return t, ok
}

// still calls f until nobody has committed meanwhile, and returns the clock of that
// time.
func (tx *Tx) still(f func()) (t uint64) {
	for spins, tries := 0, 0; tries < enoughTries; spins++ {
		t = clock.Load()
		if t&1 != 0 {
			pause(spins)
			continue
		}
		if f(); clock.Load() == t {
			return t
		}
		tries++
	}
	return tx.frozen(f)
}

// enoughTries is how often something is tried before it is done with the clock held.
const enoughTries = 4

// frozen calls f while no other transaction can commit, for one that would starve otherwise. It
// returns the clock of that time.
func (tx *Tx) frozen(f func()) (t uint64) {
	starving.Add(1)
	defer starving.Add(-1)
	for spins := 0; ; spins++ {
		if t = clock.Load(); t&1 == 0 && clock.CompareAndSwap(t, t+1) {
			break
		}
		pause(spins)
	}
	acquired()
	tx.held = true
	defer func() {
		tx.held = false
		clock.Store(t)
	}()
	f()
	return t
}

// extend moves the snapshot to now, or aborts.
func (tx *Tx) extend() {
	t, ok := tx.revalidate()
	if !ok {
		tx.abort()
	}
	tx.snapshot = t
}
