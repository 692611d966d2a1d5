package isolate_test

import "fmt"

// A modelState is a state of any of the semantics; each uses the fields it
// needs. Threads are numbered from one where zero means nobody.
type modelState struct {
	threads [modelMaxThreads]modelThreadState
	mutex   [modelMaxLocks]int8 // who has the lock itself
	shared  [modelMaxVars]int8  // the variables as careless code sees them

	// owner is who has the lock according to the history so far. No protocol
	// reads it. It differs from mutex while a thread is inside Acquire or Release.
	owner [modelMaxLocks]int8

	shadow    [modelMaxVars]int8  // figures 2 to 4: the variables as the section sees them
	protected [modelMaxVars]bool  // figures 2 and 3
	valid     [modelMaxLocks]bool // figure 3: IsShadowValid
	orig      [modelMaxVars]int8  // figure 4
	reported  bool                // figure 4: "unfixable race"
	gates     [modelMaxLocks]modelGate
	mapped    [modelMaxVars]bool             // ours: the variable's page is there in the shared view
	buffer    [modelMaxThreads][2]modelStore // ours: what waits in the store buffer, oldest first
	excused   [modelMaxLocks]bool            // the section has lost its isolation to a surrender
}

type modelThreadState struct {
	pc     int8
	regs   [modelMaxRegs]int8
	at     modelPlace // inside the protocol of one instruction
	index  int8       // the variable that the protocol's loop has come to
	nested bool       // figure 3: the handler runs inside a section of its own thread
}

// A modelPlace is where a thread stands between two steps of one instruction.
// Each semantics has its own.
type modelPlace uint8

const modelAtRest modelPlace = 0

// A modelMove says what became of a thread's attempt to take one step.
type modelMove uint8

const (
	modelWaits  modelMove = iota // none: it is blocked, or has finished
	modelSilent                  // a step inside the protocol, which no history shows
	modelShown                   // the step at which the instruction takes effect: it enters the history
)

// A modelSemantics gives meaning to programs, one atomic step at a time.
type modelSemantics interface {
	// step lets thread t take its next step in s. If it waits, what is then in
	// s has no meaning.
	step(p *modelProgram, s *modelState, t int) modelMove

	// lookup returns the value that variable g has in the standard state for
	// which s stands.
	lookup(p *modelProgram, s *modelState, g int8) int8
}

// A modelBackground is a semantics in which more happens than what the
// instructions ask for: a store buffer drains, or, when idle says that nobody
// can take a step, a wait is surrendered.
type modelBackground interface {
	background(p *modelProgram, s *modelState, t int, idle bool) bool
}

// A modelMutation is a way to get a semantics wrong.
type modelMutation string

// next returns the instruction that thread t executes next, or nil.
func (p *modelProgram) next(s *modelState, t int) *modelInstruction {
	if pc := int(s.threads[t].pc); pc < len(p.threads[t].code) {
		return &p.threads[t].code[pc]
	}
	return nil
}

// standing returns the state of the standard semantics for which s stands.
func (p *modelProgram) standing(sem modelSemantics, s *modelState) modelState {
	std := modelState{mutex: s.owner, owner: s.owner}
	for t := range p.threads {
		std.threads[t] = modelThreadState{pc: s.threads[t].pc, regs: s.threads[t].regs}
	}
	for g := range p.vars {
		std.shared[g] = sem.lookup(p, s, int8(g))
	}
	return std
}

// compute executes anything but Acquire and Release, with the shared variables
// in the given memory.
func (s *modelState) compute(in *modelInstruction, t int, memory *[modelMaxVars]int8) modelMove {
	th := &s.threads[t]
	var sum int8
	for _, arg := range in.args {
		if arg.reg >= 0 {
			sum += th.regs[arg.reg]
		} else {
			sum += arg.constant
		}
	}
	th.pc++
	switch in.op {
	case modelRead:
		th.regs[in.reg] = memory[in.shared]
	case modelWrite:
		memory[in.shared] = sum
	case modelSum:
		th.regs[in.reg] = sum
	case modelJmpZ:
		if th.regs[in.reg] == 0 {
			th.pc = in.target
		}
	default:
		panic(fmt.Sprintf("model: %s does not compute", in.text))
	}
	return modelShown
}

// take takes the lock itself, if it is free.
func (s *modelState) take(t int, lock int8) bool {
	if s.mutex[lock] != 0 {
		return false
	}
	s.mutex[lock] = int8(t) + 1
	return true
}

// goTo ends a silent step.
func (s *modelState) goTo(t int, at modelPlace) modelMove {
	s.threads[t].at = at
	return modelSilent
}

// enter ends the step at which Acquire takes effect, leave the one at which
// Release does.
func (s *modelState) enter(t int, lock int8) modelMove {
	s.threads[t].pc++
	s.owner[lock], s.excused[lock] = int8(t)+1, false
	s.goTo(t, modelAtRest)
	return modelShown
}

func (s *modelState) leave(t int, lock int8) modelMove {
	s.threads[t].pc++
	s.owner[lock] = 0
	return modelShown
}

// each applies f to the next of the variables that the lock guards, and reports
// whether that was the last.
func (s *modelState) each(p *modelProgram, t int, lock int8, f func(g int8)) bool {
	th := &s.threads[t]
	vars := p.guarded[lock]
	if len(vars) > 0 {
		f(vars[th.index])
		th.index++
	}
	if int(th.index) < len(vars) {
		return false
	}
	th.index = 0
	return true
}

// A modelStandard is the semantics of section 2. It is the yardstick, and the
// others use it for the instructions that they leave alone.
type modelStandard struct{ broken modelMutation }

const modelNeverBlocks modelMutation = "acquire does not wait for the lock"

func (m modelStandard) step(p *modelProgram, s *modelState, t int) modelMove {
	in := p.next(s, t)
	switch {
	case in == nil:
		return modelWaits
	case in.op == modelAcquire && m.broken == modelNeverBlocks:
		s.mutex[in.lock] = int8(t) + 1
		return s.enter(t, in.lock)
	case in.op == modelAcquire:
		if !s.take(t, in.lock) {
			return modelWaits
		}
		return s.enter(t, in.lock)
	case in.op == modelRelease:
		if s.mutex[in.lock] != int8(t)+1 {
			return modelWaits
		}
		s.mutex[in.lock] = 0
		return s.leave(t, in.lock)
	}
	return s.compute(in, t, &s.shared)
}

func (modelStandard) lookup(p *modelProgram, s *modelState, g int8) int8 { return s.shared[g] }

// A modelBasic is Isolator as figure 2 has it.
type modelBasic struct {
	atomic    bool // Acquire and Release are one step each, not a loop of them
	surrender bool // section 6: when nobody can move, remove the protection
	broken    modelMutation
}

const (
	modelNoProtect   modelMutation = "acquire does not protect"
	modelNoCopyBack  modelMutation = "release does not copy back"
	modelNoUnprotect modelMutation = "release leaves the variables protected"
	modelNotAtomic   modelMutation = "unprotect and copy are two steps"
)

const (
	modelCopying    modelPlace = 1 + iota // in Acquire, lock taken
	modelRestoring                        // in Release, which is in the history already
	modelWritingOut                       // the same, between the two halves of modelNotAtomic
	modelReleasing
)

func (m modelBasic) step(p *modelProgram, s *modelState, t int) modelMove {
	move := m.once(p, s, t)
	for m.atomic && move != modelWaits && s.threads[t].at != modelAtRest {
		move = max(move, m.once(p, s, t))
	}
	return move
}

func (m modelBasic) once(p *modelProgram, s *modelState, t int) modelMove {
	in := p.next(s, t)
	at := s.threads[t].at
	switch {
	case at >= modelRestoring:
		return m.restore(p, s, t, p.threads[t].code[s.threads[t].pc-1].lock)
	case in == nil:
		return modelWaits
	case !p.careful(t, in.lock) && in.accesses() && s.protected[in.shared]:
		return modelWaits // OnException: yield
	case !p.careful(t, in.lock) || in.op == modelSum || in.op == modelJmpZ:
		return modelStandard{}.step(p, s, t)
	case in.accesses():
		return s.compute(in, t, &s.shadow)
	case in.op == modelAcquire && at == modelAtRest:
		if !s.take(t, in.lock) {
			return modelWaits
		}
		return s.goTo(t, modelCopying)
	case in.op == modelAcquire:
		// It takes effect with the last CopyAndProtect: what others did to the
		// variables since the lock was taken counts as done before.
		if !s.each(p, t, in.lock, func(g int8) { s.shadow[g], s.protected[g] = s.shared[g], m.broken != modelNoProtect }) {
			return modelSilent
		}
		return s.enter(t, in.lock)
	case s.mutex[in.lock] == int8(t)+1:
		// Release takes effect with the first UnprotectAndCopy: what others do
		// to the variables from then on counts as done after.
		s.goTo(t, modelRestoring)
		m.restore(p, s, t, in.lock)
		return s.leave(t, in.lock)
	}
	return modelWaits
}

// restore takes one step of Release: UnprotectAndCopy, or at last ReleaseS.
func (m modelBasic) restore(p *modelProgram, s *modelState, t int, lock int8) modelMove {
	switch at := s.threads[t].at; {
	case at == modelReleasing:
		s.mutex[lock] = 0
		return s.goTo(t, modelAtRest)
	case m.broken == modelNotAtomic && at == modelRestoring:
		if len(p.guarded[lock]) > 0 {
			s.protected[p.guarded[lock][s.threads[t].index]] = false
		}
		return s.goTo(t, modelWritingOut)
	}
	last := s.each(p, t, lock, func(g int8) {
		s.protected[g] = m.broken == modelNoUnprotect
		if m.broken != modelNoCopyBack {
			s.shared[g] = s.shadow[g]
		}
	})
	if last {
		return s.goTo(t, modelReleasing)
	}
	return s.goTo(t, modelRestoring)
}

// lookup goes by the protection and not, as the paper's does, by who holds the
// lock. That would be wrong in the middle of a Release, and after any Release
// of figure 3, which leaves the last values in the shadow.
func (modelBasic) lookup(p *modelProgram, s *modelState, g int8) int8 {
	if s.protected[g] {
		return s.shadow[g]
	}
	return s.shared[g]
}

func (m modelBasic) background(p *modelProgram, s *modelState, t int, idle bool) bool {
	in := p.next(s, t)
	if !m.surrender || !idle || in == nil || !in.accesses() || !s.protected[in.shared] {
		return false
	}
	s.protected[in.shared] = false
	s.excused[in.lock] = true
	return true
}

// A modelOptimised is Isolator as figure 3 has it: the variables stay protected
// between sections until a careless access wants them.
type modelOptimised struct{ broken modelMutation }

const (
	modelOpenAnyway   modelMutation = "handler opens without the lock"
	modelStaysValid   modelMutation = "handler leaves IsShadowValid set"
	modelNotReentrant modelMutation = "handler fails on a lock that its own thread holds"
)

const (
	modelCheckValid modelPlace = 1 + iota // in Acquire, lock taken
	modelProtect                          // in Acquire's loop
	modelTryAcquire                       // in the handler
	modelInvalidate                       // in the handler, lock taken
	modelUnprotect                        // in the handler's loop
	modelRetry                            // in the handler, about to give the lock back
)

func (m modelOptimised) step(p *modelProgram, s *modelState, t int) modelMove {
	th := &s.threads[t]
	in := p.next(s, t)
	if in == nil {
		return modelWaits
	}
	switch careful := p.careful(t, in.lock); {
	case in.accesses() && careful:
		return s.compute(in, t, &s.shadow)
	case in.accesses() && th.at == modelAtRest && s.protected[in.shared]:
		return s.goTo(t, modelTryAcquire)
	case th.at == modelAtRest && (in.op != modelAcquire || !careful):
		return modelStandard{}.step(p, s, t)
	}

	switch lock := in.lock; th.at {
	case modelAtRest:
		if !s.take(t, lock) {
			return modelWaits
		}
		return s.goTo(t, modelCheckValid)
	case modelCheckValid:
		if s.valid[lock] {
			return s.enter(t, lock)
		}
		s.valid[lock] = true
		return s.goTo(t, modelProtect)
	case modelProtect:
		if !s.each(p, t, lock, func(g int8) { s.shadow[g], s.protected[g] = s.shared[g], true }) {
			return modelSilent
		}
		return s.enter(t, lock)

	case modelTryAcquire:
		// Reentrant: a lock that the thread has already stays with it.
		th.nested = m.broken == modelOpenAnyway || s.mutex[lock] == int8(t)+1 && m.broken != modelNotReentrant
		if !th.nested && !s.take(t, lock) {
			return modelWaits // yield
		}
		return s.goTo(t, modelInvalidate)
	case modelInvalidate:
		if !s.valid[lock] {
			return s.goTo(t, modelRetry)
		}
		s.valid[lock] = m.broken == modelStaysValid
		return s.goTo(t, modelUnprotect)
	case modelUnprotect:
		if !s.each(p, t, lock, func(g int8) { s.protected[g], s.shared[g] = false, s.shadow[g] }) {
			return modelSilent
		}
		return s.goTo(t, modelRetry)
	case modelRetry:
		if !th.nested {
			s.mutex[lock] = 0
		}
		th.nested = false
		return s.goTo(t, modelAtRest)
	}
	panic(fmt.Sprintf("model: thread %d is nowhere: %d", t+1, th.at))
}

func (modelOptimised) lookup(p *modelProgram, s *modelState, g int8) int8 {
	return modelBasic{}.lookup(p, s, g)
}

// A modelToleRace is ToleRace as figure 4 has it: no protection, a comparison
// at the end instead.
type modelToleRace struct{ broken modelMutation }

func (m modelToleRace) step(p *modelProgram, s *modelState, t int) modelMove {
	in := p.next(s, t)
	switch {
	case in == nil || !p.careful(t, in.lock):
	case in.accesses():
		return s.compute(in, t, &s.shadow)
	case in.op == modelAcquire:
		for _, g := range p.guarded[in.lock] {
			s.shadow[g], s.orig[g] = s.shared[g], s.shared[g]
		}
	case in.op == modelRelease:
		var others, own bool // GW and LW are not empty
		for _, g := range p.guarded[in.lock] {
			others = others || s.shared[g] != s.orig[g]
			own = own || s.shadow[g] != s.orig[g]
		}
		s.reported = s.reported || own && others
		for _, g := range p.guarded[in.lock] {
			if own && !others && m.broken != modelNoCopyBack {
				s.shared[g] = s.shadow[g]
			}
		}
	}
	return modelStandard{}.step(p, s, t)
}

func (modelToleRace) lookup(p *modelProgram, s *modelState, g int8) int8 {
	lock := p.guardOf[g]
	if owner := int(s.owner[lock]); owner != 0 && p.careful(owner-1, lock) {
		return s.shadow[g]
	}
	return s.shared[g]
}
