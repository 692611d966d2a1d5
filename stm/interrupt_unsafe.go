package stm

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/interrupt"
)

// A suspect is a transaction that has not looked at its flag for a while: it may compute on
// values that never were, in a loop without an access. The timer has it interrupted, if what
// it has read is not there any more (see package interrupt).
type suspects map[*Tx]interrupt.Watch

// patientTicks is how often the timer raises a flag that nobody looks at before it suspects
// the transaction.
const patientTicks = 2

// note looks at a transaction whose flag the timer has raised, or found raised already. It
// reports whether the transaction is, or may become, a suspect.
func (s suspects) note(tx *Tx, heeded bool) bool {
	watch, watched := s[tx]
	if heeded || tx.interruptible.Load() == 0 {
		tx.unheeded = 0
		if watched {
			watch.Stop()
			delete(s, tx)
		}
		return false
	}
	if tx.unheeded++; tx.unheeded < patientTicks || watched {
		return true
	}
	if watch, ok := interrupt.Start(tx.view()); ok {
		s[tx] = watch
	}
	return true
}

// pokes is how often suspects are looked at in one tick: a program counter has to be seen
// before it can be judged, and the next one may be elsewhere.
const pokes = 4

// poke has all suspects looked at.
func (s suspects) poke() {
	for range pokes {
		if len(s) == 0 {
			return
		}
		interrupt.Poke()
		for tx, watch := range s {
			watch.Judge()
			watch.Chase(func() bool { return tx.interrupted.Load() != 0 })
			if tx.interrupted.Load() != 0 {
				watch.Stop()
				delete(s, tx)
			}
		}
	}
}

// stop lets all go.
func (s suspects) stop() {
	for _, watch := range s {
		watch.Stop()
	}
}

// view is what the handler sees of the transaction. A Tx stays where it is, and is never
// freed.
func (tx *Tx) view() interrupt.View {
	return interrupt.View{
		G:             tx.g,
		Interruptible: uintptr(unsafe.Pointer(&tx.interruptible)),
		Interrupted:   uintptr(unsafe.Pointer(&tx.interrupted)),
		Words:         uintptr(unsafe.Pointer(&tx.reads.words)),
		Pointers:      uintptr(unsafe.Pointer(&tx.reads.pointers)),
		Parts:         uintptr(unsafe.Pointer(&tx.reads.parts)),
	}
}
