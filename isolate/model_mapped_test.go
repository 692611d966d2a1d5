package isolate_test

import "fmt"

// A modelMapped is what package isolate does, on top of internal/page. Memory
// is mapped twice, so the own and the shared view are one memory and nothing is
// copied; all that remains of CopyAndProtect is to unmap pages of the shared
// view. Each line is one step:
//
//	Lock:    take the mutex
//	         holder = me
//	         if word == {sealed, not busy, no wanters}, done
//	  seal:  compare-and-swap word from {not busy, no wanters} to busy, and go on; else
//	           holder = nobody, outside
//	           wait until word is {not busy, no wanters}
//	           holder = me, inside, and seal again
//	         unmap the pages, one by one
//	         word = {sealed, not busy}
//	Unlock:  holder = nobody
//	         give the mutex back
//	handler: wanters++
//	         barrier, if the holder's store may be late
//	  look:  wait until word is not busy; if it is open, go to map
//	         wait until there is no section, or it is mine
//	         mark word open
//	  map:   map the page
//	         wanters--
//	         retry the access
//
// Lock and the handler are the two sides of Dekker's algorithm: each announces
// itself before it looks for the other, so that one of them sees the other. The
// handler announces itself by wanters. What announces a section, there are
// three ways to do it:
//
//   - holder, stored by an exchange, which is a fence;
//   - holder, stored as any other variable: see buffered;
//   - the mutex itself: see watching.
//
// Lock takes effect when it sees the word sealed or has made it so, Unlock when
// the holder is gone.
type modelMapped struct {
	// buffered models x86 with Lock's first "holder = me" as an ordinary store,
	// which may reach memory after the load of the word behind it, and with ordinary
	// stores by which bare mutexes say that they are outside. All other
	// stores are locked instructions, which drain the thread's store buffer. The
	// handler's barrier, membarrier(2), drains those of all threads; there is none if
	// the handler looks at the mutex, which is what the package does.
	buffered bool

	// watching says that the handler looks at the mutex: there is a section if
	// it is held and its holder is not outside. Careless threads, which take the
	// bare mutex, say that they are outside. The handler loads mutex and outside one
	// after the other, but any answer it can get so, it can get in one step too.
	watching bool

	locking   bool // careless threads, too, acquire by Lock and not by the bare mutex
	spinning  bool // Lock does not wait for the word, but becomes holder again and looks
	polling   bool // the handler does not wait for the holder, but counts itself out and retries
	surrender bool // when nobody can move, one handler stops waiting
	impatient bool // a handler may stop waiting at any time, as after a timeout
	broken    modelMutation
}

// A modelGate is the state of a guard in a modelMapped.
type modelGate struct {
	open, busy bool // with wanters, the word
	wanters    int8
	holder     int8
	outside    bool
}

// wanted reports whether Lock must go back.
func (g *modelGate) wanted() bool { return g.busy || g.wanters > 0 }

const (
	modelNoReseal       modelMutation = "lock does not seal again"
	modelSealBlindly    modelMutation = "lock, having waited, seals without another look at the wanters"
	modelIgnoreWanters  modelMutation = "lock looks only whether the word is sealed"
	modelKeepHolder     modelMutation = "lock stays holder while it waits for wanters"
	modelMutexFirst     modelMutation = "unlock gives the mutex back before it clears the holder"
	modelHolderStays    modelMutation = "unlock leaves the holder to the next lock"
	modelNoBarrier      modelMutation = "handler has no barrier"
	modelOpenAtOnce     modelMutation = "handler does not wait for the holder"
	modelWantLate       modelMutation = "handler counts itself after it has looked at the holder"
	modelNoMark         modelMutation = "handler maps the page and leaves the word sealed"
	modelLeaveEarly     modelMutation = "handler counts itself out before it opens"
	modelIgnoreBusy     modelMutation = "handler does not wait for a seal to end"
	modelWaitForOneself modelMutation = "handler waits for a section of its own thread"
	modelStayOutside    modelMutation = "bare unlock stays outside"
	modelInsideLate     modelMutation = "bare unlock steps inside after it has given the mutex back"
	modelPlainRelease   modelMutation = "bare unlock gives the mutex back by a store that overtakes the one by which it steps inside"
)

const (
	// Lock
	modelSetHolder modelPlace = 1 + iota
	modelLoadWord
	modelSeal
	modelStepBack
	modelAwaitWord
	modelHoldAgain
	modelUnmap
	modelSealed

	// Unlock, which is in the history already
	modelGiveBack

	// The bare mutex
	modelBareLock
	modelBareUnlock

	// The handler
	modelWant
	modelBarrier
	modelLook
	modelAwaitHolder
	modelMark
	modelMap
	modelUnwant
)

func (m modelMapped) step(p *modelProgram, s *modelState, t int) modelMove {
	th := &s.threads[t]
	if th.at == modelGiveBack {
		lock := p.threads[t].code[th.pc-1].lock
		if m.broken == modelMutexFirst {
			s.gates[lock].holder = 0
		} else {
			s.mutex[lock] = 0
		}
		return s.goTo(t, modelAtRest)
	}
	in := p.next(s, t)
	if in == nil {
		return modelWaits
	}
	careful := p.careful(t, in.lock)
	switch {
	case in.accesses() && th.at != modelAtRest:
		return m.handle(p, s, t, in)
	case in.accesses() && !careful && !s.mapped[in.shared]:
		if m.broken == modelWantLate {
			return s.goTo(t, modelLook)
		}
		return s.goTo(t, modelWant)
	case in.op == modelAcquire && (careful || m.locking):
		return m.lock(p, s, t, in.lock)
	case in.op == modelRelease && (careful || m.locking) && s.mutex[in.lock] == int8(t)+1:
		m.drain(s, t)
		switch m.broken {
		case modelMutexFirst:
			s.mutex[in.lock] = 0
		case modelHolderStays:
		default:
			s.gates[in.lock].holder = 0
		}
		s.goTo(t, modelGiveBack)
		return s.leave(t, in.lock)
	case m.watching && (in.op == modelAcquire || in.op == modelRelease):
		return m.bare(s, t, in)
	}
	return modelStandard{}.step(p, s, t)
}

// bare takes one step of locking or unlocking the bare mutex of a gate whose
// handler watches it.
func (m modelMapped) bare(s *modelState, t int, in *modelInstruction) modelMove {
	gate := &s.gates[in.lock]
	switch at := s.threads[t].at; {
	case at == modelBareLock:
		m.store(s, t, modelStore{in.lock + 1, modelOutside})
		return s.enter(t, in.lock)
	case at == modelBareUnlock:
		if m.broken == modelInsideLate {
			gate.outside = false
		} else {
			if m.broken != modelPlainRelease {
				m.drain(s, t)
			}
			s.mutex[in.lock] = 0
		}
		s.goTo(t, modelAtRest)
		return s.leave(t, in.lock)
	case in.op == modelAcquire && s.take(t, in.lock):
		m.drain(s, t)
		return s.goTo(t, modelBareLock)
	case in.op == modelRelease && s.mutex[in.lock] == int8(t)+1:
		switch m.broken {
		case modelInsideLate:
			m.drain(s, t)
			s.mutex[in.lock] = 0
		case modelStayOutside:
		default:
			m.store(s, t, modelStore{in.lock + 1, modelInside})
		}
		return s.goTo(t, modelBareUnlock)
	}
	return modelWaits
}

func (m modelMapped) lock(p *modelProgram, s *modelState, t int, lock int8) modelMove {
	gate := &s.gates[lock]
	me := int8(t) + 1
	at := s.threads[t].at
	if at != modelSetHolder && at != modelLoadWord {
		m.drain(s, t)
	}
	switch at {
	case modelAtRest:
		if !s.take(t, lock) {
			return modelWaits
		}
		return s.goTo(t, modelSetHolder)
	case modelSetHolder:
		m.store(s, t, modelStore{lock + 1, modelHolds})
		return s.goTo(t, modelLoadWord)
	case modelLoadWord:
		if !gate.open && (!gate.wanted() || m.broken == modelIgnoreWanters) {
			return s.enter(t, lock)
		}
		return s.goTo(t, modelSeal)
	case modelStepBack:
		if m.broken != modelKeepHolder {
			gate.holder, gate.outside = 0, m.watching
		}
		return s.goTo(t, modelAwaitWord)
	case modelAwaitWord:
		if gate.wanted() && !m.spinning {
			return modelWaits
		}
		return s.goTo(t, modelHoldAgain)
	case modelHoldAgain:
		gate.holder, gate.outside = me, false
		if m.broken == modelSealBlindly {
			return s.goTo(t, modelUnmap)
		}
		return s.goTo(t, modelSeal)
	case modelSeal:
		if gate.wanted() {
			return s.goTo(t, modelStepBack)
		}
		if m.broken == modelNoReseal {
			return s.enter(t, lock)
		}
		gate.busy = true
		return s.goTo(t, modelUnmap)
	case modelUnmap:
		if !s.each(p, t, lock, func(g int8) { s.mapped[g] = false }) {
			return modelSilent
		}
		return s.goTo(t, modelSealed)
	case modelSealed:
		gate.open, gate.busy = false, false
		return s.enter(t, lock)
	}
	panic(fmt.Sprintf("model: thread %d is nowhere in Lock: %d", t+1, at))
}

func (m modelMapped) handle(p *modelProgram, s *modelState, t int, in *modelInstruction) modelMove {
	gate := &s.gates[in.lock]
	switch at := s.threads[t].at; at {
	case modelWant:
		m.drain(s, t)
		gate.wanters++
		switch {
		case m.broken == modelWantLate:
			return s.goTo(t, modelMark)
		case m.buffered && !m.watching && m.broken != modelNoBarrier:
			return s.goTo(t, modelBarrier)
		}
		return s.goTo(t, modelLook)
	case modelBarrier:
		for other := range p.threads {
			m.drain(s, other)
		}
		return s.goTo(t, modelLook)
	case modelLook:
		switch {
		case gate.busy && m.broken != modelIgnoreBusy:
			return modelWaits
		case gate.open && m.broken != modelWantLate:
			return s.goTo(t, modelMap)
		}
		return s.goTo(t, modelAwaitHolder)
	case modelAwaitHolder:
		section := gate.holder != 0
		if m.watching {
			section = s.mutex[in.lock] != 0 && !gate.outside
		}
		own := gate.holder == int8(t)+1 && m.broken != modelWaitForOneself
		switch {
		case section && !own && m.broken != modelOpenAtOnce:
			if m.polling {
				return s.goTo(t, modelUnwant)
			}
			return modelWaits
		case m.broken == modelWantLate:
			return s.goTo(t, modelWant)
		case m.broken == modelLeaveEarly:
			gate.wanters--
		}
		return s.goTo(t, modelMark)
	case modelMark:
		gate.open = gate.open || m.broken != modelNoMark
		return s.goTo(t, modelMap)
	case modelMap:
		s.mapped[in.shared] = true
		if m.broken == modelLeaveEarly {
			return s.goTo(t, modelAtRest)
		}
		return s.goTo(t, modelUnwant)
	case modelUnwant:
		gate.wanters--
		return s.goTo(t, modelAtRest)
	default:
		panic(fmt.Sprintf("model: thread %d is nowhere in the handler: %d", t+1, at))
	}
}

// A modelStore is an ordinary store to the gate of a lock, of whose number it has one more.
type modelStore struct{ lock, what int8 }

// What is stored.
const (
	modelHolds   int8 = iota // holder = me
	modelOutside             // outside = true
	modelInside              // outside = false
)

// store puts an ordinary store of the thread into its store buffer, which has room for those from one locked
// instruction to the next.
func (m modelMapped) store(s *modelState, t int, store modelStore) {
	buffer := &s.buffer[t]
	switch {
	case buffer[0] == modelStore{}:
		buffer[0] = store
	case buffer[1] == modelStore{}:
		buffer[1] = store
	default: // only without the locked instruction
		m.drain(s, t)
		buffer[0] = store
	}
	if !m.buffered {
		m.drain(s, t)
	}
}

// drain lets all that the thread has stored reach memory, as a locked instruction does.
func (m modelMapped) drain(s *modelState, t int) {
	for m.drainOne(s, t) {
	}
}

// drainOne lets the thread's oldest buffered store reach memory, if there is one.
func (modelMapped) drainOne(s *modelState, t int) bool {
	oldest := s.buffer[t][0]
	if oldest.lock == 0 {
		return false
	}
	switch gate := &s.gates[oldest.lock-1]; oldest.what {
	case modelHolds:
		gate.holder = int8(t) + 1
	case modelOutside:
		gate.outside = true
	case modelInside:
		gate.outside = false
	}
	s.buffer[t] = [2]modelStore{s.buffer[t][1]}
	return true
}

func (m modelMapped) background(p *modelProgram, s *modelState, t int, idle bool) bool {
	if m.drainOne(s, t) {
		return true
	}
	if s.threads[t].at != modelAwaitHolder || !m.impatient && !(m.surrender && idle) {
		return false
	}
	s.excused[p.next(s, t).lock] = true
	s.goTo(t, modelMark)
	return true
}

func (modelMapped) lookup(p *modelProgram, s *modelState, g int8) int8 { return s.shared[g] }
