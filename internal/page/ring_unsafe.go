//go:build linux && amd64

package page

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// ring holds the faults that the handler recorded. Any thread fills slots, one
// goroutine empties them.
var ring []Fault

var draining sync.Mutex

// AwaitFault blocks until faults were recorded since it last returned true. It
// returns false if there never will be any. One goroutine may call it.
func AwaitFault() bool {
	if arena.status.Backend == None {
		return false
	}
	opening.Do(func() { event = os.NewFile(uintptr(ctl.event), "isolate faults") })
	_, err := event.Read(make([]byte, 8))
	return err == nil
}

var (
	opening sync.Once
	event   *os.File
)

// Drain calls report with each fault that was recorded and not reported yet, the
// oldest first, and never twice at the same time. The fault is valid during the
// call. True: some accesses wait of which is not known yet whether they have passed, so
// that Drain should be called again.
func Drain(report func(*Fault)) (undecided bool) {
	CountProcessors()
	draining.Lock()
	defer draining.Unlock()
	head, whole := atomic.LoadUint64(&ctl.head), true
	first := atomic.LoadUint64(&reported)
	if head-first > ringSlots {
		first = head - ringSlots // of those before nothing is left
	}
	for ; first < head; first++ {
		slot := &ring[first%ringSlots]
		state := atomic.LoadUint32(&slot.state)
		if state&slotDraft == slotDraft {
			if !decide(slot, state) {
				undecided = true
				continue
			}
			state = slotFull
		}
		if state == slotFull {
			report(slot)
			atomic.StoreUint32(&slot.state, slotFree)
		}
		// A slot is taken after its fault was counted.
		whole = whole && state != slotTaken && atomic.LoadUint32(&slot.ticket) == uint32(first)
	}
	if whole && !undecided {
		atomic.StoreUint64(&reported, head)
	}
	return undecided
}

// reported is up to which fault all were drained. The numbers begin at firstTicket.
var reported uint64 = firstTicket

// Recorded reports whether there may be faults that Drain has not reported.
func Recorded() bool {
	return arena.status.Backend != None && atomic.LoadUint64(&ctl.head) != atomic.LoadUint64(&reported)
}

// decide completes the draft of an access that has passed since, or can do so now: its gate
// was opened. False: it still waits. A gate that is open while a section runs was opened
// for an access that was surrendered: if it is this one, its handler says so.
func decide(slot *Fault, draft uint32) bool {
	gate := &arena.gates[slot.Gate]
	lets := uint32(open | closed)
	if slot.Write == 0 {
		lets |= readable
	}
	word, held := atomic.LoadUint32(&gate.word), gate.inSection() != 0
	if atomic.LoadUint32(&gate.seals) == slot.seals && (word&lets == 0 || held && word&closed == 0) {
		return false
	}
	if !atomic.CompareAndSwapUint32(&slot.state, draft, slotTaken) {
		return false // the handler has it
	}
	slot.Waited = monotonic() - slot.since
	atomic.AddUint64(&ctl.counters.Delayed, 1)
	atomic.AddUint64(&ctl.counters.Waiting, ^uint64(0))
	return true
}

func exhausted() bool { return atomic.LoadUint32(&ctl.exhausted) != 0 }

// PCs returns the call stack of the fault, innermost first, in the form of
// runtime.Callers: each is one more than an address inside the call.
func (f *Fault) PCs() []uintptr {
	pcs := make([]uintptr, 1, 2+MaxStack)
	pcs[0] = f.PC + 1
	if fn := runtime.FuncForPC(f.PC); fn != nil && f.SP0 != 0 && !hasFrame(fn.Entry(), f.PC) {
		// Its caller's address is on the stack and not in the chain of frames.
		pcs = append(pcs, f.SP0)
	}
	return append(pcs, f.stack[:f.depth]...)
}

// hasFrame reports whether the function that begins at entry has saved the frame
// pointer when it is at pc: whether PUSHQ BP; MOVQ SP, BP stands between them.
func hasFrame(entry, pc uintptr) bool {
	const prologue = 64
	code := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), entry)), min(pc-entry, prologue))
	for i := range code {
		if i+4 <= len(code) && code[i] == 0x55 && code[i+1] == 0x48 && code[i+2] == 0x89 && code[i+3] == 0xe5 {
			return true
		}
	}
	return false
}

// SetLongestWait sets how long an access may wait for a section.
func SetLongestWait(d time.Duration) {
	atomic.StoreInt64(&ctl.longest, int64(d))
	atomic.StoreInt64(&ctl.starving, int64(min(d/4, 30*time.Millisecond)))
}

// Count returns the counters.
func Count() Counters {
	c := &ctl.counters
	return Counters{
		Opened:      atomic.LoadUint64(&c.Opened),
		Delayed:     atomic.LoadUint64(&c.Delayed),
		Bypassed:    atomic.LoadUint64(&c.Bypassed),
		Surrendered: atomic.LoadUint64(&c.Surrendered),
		Lost:        atomic.LoadUint64(&c.Lost),
		Seals:       atomic.LoadUint64(&c.Seals),
		SealErrors:  atomic.LoadUint64(&c.SealErrors),
		Waiting:     atomic.LoadUint64(&c.Waiting),
		Yields:      atomic.LoadUint64(&c.Yields),
	}
}
