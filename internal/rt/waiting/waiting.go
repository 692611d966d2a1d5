// Package waiting judges which goroutines of a run wait for ever.
//
// # What is exact, and how
//
// The scheduler knows every goroutine, what each waits for, and whether anything is left
// that can go on: a goroutine that is ready, one with a timer to come, or one that is
// outside control. Two cases are told apart.
//
// Nothing can go on. Then each goroutine that waits does so for ever: whatever it waits
// for is a step of a goroutine, and there will be none.
//
// Something goes on: a goroutine that spins, a ticker. It may do anything to a channel, a
// Cond or a WaitGroup, whether it has used them before or not, so that nothing is claimed
// of a goroutine that waits for one of these. A lock is another matter. It is released by
// the goroutine that holds it, and that one may be known to be unable to: it has ended, or
// itself waits for a lock of which the same is true, or for nothing at all (a nil channel).
// So of
//
//	go func() { mu.Lock() }()                  // has ended
//	go func() { mu.Lock(); n++; mu.Unlock() }() // stuck
//	for !done.Load() { runtime.Gosched() }      // goes on
//
// the second is stuck, in the middle of a run. Go allows one goroutine to release what
// another has locked; a lock to which that has happened in the run counts as held by an
// unknown goroutine ([Goroutine.Unknown]), which may always release it.
//
//	waiting.go  the judgement
package waiting

import "github.com/cofferdam-go/cofferdam/internal/event"

// A State is what a goroutine does when it is judged.
type State uint8

const (
	// GoesOn says that the goroutine can take a step, or will when its timer comes, or is
	// outside control.
	GoesOn State = iota
	// Waits says that it waits for another goroutine.
	Waits
	// Ended says that it has ended.
	Ended
)

// A Need is what a goroutine that waits needs to go on.
type Need uint8

const (
	// Step is a step of any goroutine that has to do with a channel, a Cond, a WaitGroup.
	Step Need = iota
	// Release is that all Blockers let go of a lock.
	Release
	// Nothing says that no step can help: a nil channel, select {}.
	Nothing
)

// A Goroutine is one to be judged.
type Goroutine struct {
	State State
	Need  Need
	// Blockers are the goroutines, by index, that have to let go first: the holders of the
	// lock, or for a reader the writer that waits before it.
	Blockers []int
	// Unknown says that something that is not known here may release the lock.
	Unknown bool
	// Again says that the goroutine itself holds the lock that it waits for.
	Again bool
	// Untaken says that nothing has taken the lock, which is locked all the same.
	Untaken bool
}

// A Verdict is what is known of one.
type Verdict struct {
	// Stuck says that it waits for ever.
	Stuck bool
	// Locked says that it waits for ever for a lock, or is what keeps one from being released.
	Locked bool
	// Shape is that of a wait for a lock. Of one that keeps a lock while it waits for
	// something else, it is event.LockHeldOverWait.
	Shape event.WaitShape
}

// Judge judges all goroutines of a run. others says that something else than they can go on,
// and may reach what they wait for.
func Judge(all []Goroutine, others bool) []Verdict {
	verdicts := make([]Verdict, len(all))
	for i, stuck := range stuckOnes(all, others) {
		verdicts[i].Stuck = stuck
	}
	for i := range all {
		if verdicts[i].Stuck && all[i].Need == Release {
			verdicts[i].Locked = true
			verdicts[i].Shape = shape(all, verdicts, i)
		}
	}
	for i := range all {
		if verdicts[i].Locked && all[i].Need == Release {
			for _, b := range all[i].Blockers {
				if v := &verdicts[b]; v.Stuck && all[b].Need != Release {
					v.Locked, v.Shape = true, event.LockHeldOverWait
				}
			}
		}
	}
	return verdicts
}

// stuckOnes finds those that can never go on: all that wait, less those that can be reached
// from one that goes on.
func stuckOnes(all []Goroutine, others bool) []bool {
	stuck := make([]bool, len(all))
	alive := others
	for i := range all {
		stuck[i] = all[i].State == Waits
		alive = alive || all[i].State == GoesOn
	}
	if !alive {
		return stuck
	}
	for changed := true; changed; {
		changed = false
		for i := range all {
			if stuck[i] && mayBeWoken(all, stuck, i) {
				stuck[i], changed = false, true
			}
		}
	}
	return stuck
}

// mayBeWoken reports whether what a goroutine waits for may still come, something being able
// to go on and those in stuck not.
func mayBeWoken(all []Goroutine, stuck []bool, i int) bool {
	switch g := &all[i]; g.Need {
	case Step:
		return true
	case Nothing:
		return false
	case Release:
		if g.Unknown {
			return true
		}
		for _, b := range g.Blockers {
			if stuck[b] || all[b].State == Ended {
				return false
			}
		}
		return true
	}
	panic("waiting: unknown need")
}

// shape follows a goroutine that waits for a lock to what keeps that lock.
func shape(all []Goroutine, verdicts []Verdict, from int) event.WaitShape {
	seen := make([]bool, len(all))
	for at := from; ; {
		g := &all[at]
		switch {
		case g.Again:
			return event.DoubleLock
		case g.Untaken:
			return event.CopiedLock
		case g.Need != Release:
			return event.LockHeldOverWait
		case seen[at]:
			return event.LockOrder
		}
		seen[at] = true
		next := -1
		for _, b := range g.Blockers {
			if all[b].State == Ended {
				return event.MissingUnlock
			}
			if verdicts[b].Stuck {
				next = b
			}
		}
		if next < 0 {
			return event.MissingUnlock // held by something that is not known
		}
		at = next
	}
}
