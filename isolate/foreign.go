package isolate

import (
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/page"
)

// A Foreign is the guard of data whose lock is not of this package: a sync.Mutex that
// cannot be exchanged for a [Mutex], the lock of a file. Lock and Unlock begin and end
// a section, and exclude nobody. A goroutine calls Lock when it has just taken
// the other lock, and Unlock when it is about to release it; RLock and RUnlock are for goroutines that share it.
//
//	mu.Lock()
//	guard.Lock()
//	a := isolate.Own(&guard, acct)
//	a.Balance += 10
//	guard.Unlock()
//	mu.Unlock()
//
// A section may be left and entered again while the other lock is held: what is done
// between goes through the shared pointer like everybody's. The zero value is ready to
// use. It must not be copied.
//
// A Foreign starts no goroutine. There is one that delivers findings if the program asked
// for it with [OnFinding]; [Findings] has them in any case.
type Foreign struct {
	d door // first: see Own
}

func (f *Foreign) door() (*door, bool) { return &f.d, false }

// Lock begins a section in which the other lock is held for writing.
//
//go:noinline
func (f *Foreign) Lock() {
	if !page.Enter(f.d.gate.Load()) {
		f.d.settle(f)
	}
}

// Unlock ends the section.
func (f *Foreign) Unlock() {
	gate := f.d.gate.Load()
	gate.LeaveAlone()
	if gate.Blocked() {
		gate.Wake()
	}
}

// Leave is Unlock at less cost, for a goroutine that is about to release the other lock by a locked
// instruction, and that calls Wake afterwards.
func (f *Foreign) Leave() { f.d.gate.Load().Leave() }

// Wake lets the accesses pass that waited for the section which Leave has ended.
func (f *Foreign) Wake() {
	if gate := f.d.gate.Load(); gate.Blocked() {
		gate.Wake()
	}
}

// RLock begins a section in which the other lock is held for reading.
//
//go:noinline
func (f *Foreign) RLock() {
	gate := f.d.gate.Load()
	if gate == nil {
		gate = open(f).gate
	}
	gate.EnterRead()
	page.Mark(gate)
}

// RUnlock ends a section that RLock began.
func (f *Foreign) RUnlock() {
	gate := f.d.gate.Load()
	gate.LeaveRead()
	if gate.Blocked() {
		gate.Wake()
	}
}

// Relent says that the section goes on with code that may wait for another goroutine, which
// may need a careless access for what it does. A careless access passes when it has waited for
// a fifth of a millisecond and the goroutine of the section waits, which is no violation, and
// after twenty milliseconds in any case; as long as the goroutine runs the section has its data
// to itself. Resume takes that back.
func (f *Foreign) Relent() {
	gate := f.d.gate.Load()
	gate.Relent()
	if gate.Blocked() {
		gate.Wake()
	}
}

// Resume goes on with the section after [Foreign.Relent], or after Unlock: what the section
// called may have released the other lock and taken it again.
//
//go:noinline
func (f *Foreign) Resume() {
	gate := f.d.gate.Load()
	if gate.Resume() {
		return
	}
	if !page.Enter(gate) {
		f.d.settle(f)
	}
}

// LeaveMine is Leave if the calling goroutine is in a section.
func (f *Foreign) LeaveMine() {
	if gate := f.d.gate.Load(); gate != nil && gate.Mine() {
		gate.LeaveAlone()
		if gate.Blocked() {
			gate.Wake()
		}
	}
}

// Mine reports whether the calling goroutine is in a section that Lock began.
func (f *Foreign) Mine() bool {
	gate := f.d.gate.Load()
	return gate != nil && gate.Mine()
}

// Describe names the guard in findings, and says where the lock is that it belongs to.
func (f *Foreign) Describe(name, file string, line int) {
	g := open(f)
	g.name.Store(&name)
	g.at.Store(&finding.Frame{File: file, Line: line})
}

// Close returns the guard's memory, as [Mutex.Close] does. No section must be running, and none
// begin afterwards: the caller has the other lock, or the last reference to it.
func (f *Foreign) Close() error { return f.d.close() }
