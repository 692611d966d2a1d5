package wicket

import (
	"runtime"
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// A nodeWait is the wait for sections that have used a node.
type nodeWait struct {
	wait
	node *Stamp
	uses uint64 // that are in the way
	// claims says that a section waits, which has to know what another one that has claimed the node uses it for.
	claims bool
}

// look finds out whether a section is in the way.
func (w *nodeWait) look() look {
	now := w.node.look(w.uses)
	if w.claims && now.at != nil && !now.inWay {
		now.inWay = w.node.isTaken(now.ticket, w.uses)
	}
	return now
}

// await waits until no section is in the way, and returns the look that has found none. It may be called again. The access
// is none that is under way.
func (w *nodeWait) await() look {
	w.want()
	for i := 0; ; i++ {
		now := w.look()
		if !now.inWay {
			return now
		}
		w.begin(page.SiteNear(atomic.LoadUint32(&now.at.site)), now.at.goroutine())
		if w.passesBy(&now.at.word, now.word, now.word&^uint64(state), now.at.goroutine()) {
			return look{ticket: now.ticket} // the section has ended, or it does not matter
		}
		if i < looks {
			runtime.Gosched()
			continue
		}
		w.sleep(now.at)
	}
}

// sleep waits for the end of the section that has a slot.
func (w *nodeWait) sleep(at *slot) {
	atomic.AddUint32(&at.wanters, 1)
	defer atomic.AddUint32(&at.wanters, ^uint32(0))
	isBlocked := func() bool {
		now := w.look()
		return now.inWay && now.at == at
	}
	waiting.sleep(&at.wanters, isBlocked, w.pause())
}

// goroutine is the g in the section, 0 if several share it.
func (s *slot) goroutine() uintptr {
	if holder := atomic.LoadUint64(&s.holder); holder != readersHold {
		return uintptr(holder)
	}
	return 0
}

// want asks sections that use the node next to let the access pass first.
func (w *nodeWait) want() { w.mark(wanted) }

// finish tells of the access when it has been made.
func (w *nodeWait) finish() {
	w.mark(0)
	w.tell()
}

func (w *nodeWait) mark(mark uint64) {
	for {
		uses := atomic.LoadUint64(&w.node.uses)
		if uses&wanted == mark || atomic.CompareAndSwapUint64(&w.node.uses, uses, uses&^uint64(wanted)|mark) {
			return
		}
	}
}
