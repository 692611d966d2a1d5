package sli

import (
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Bounds on how much of a long trace is looked at for one machine. What is nearest to
// the failure is kept, and of passages the first ones too.
const (
	maxSpecialisations = 24
	maxPassages        = 200
	maxProbes          = 8 // so many of the first and of the last passages are evaluated for what they read
)

// A passage is one time that a goroutine came by a machine's point.
type passage struct {
	goroutine uint32
	startSeq  uint64 // what the goroutine did first from there
	firstLoad uint64 // its first load of the machine
	lastLoad  uint64 // its last one
	loads     map[ir.Point]uint64
	regs      map[regKey]ir.Value
	locals    map[string]ir.Value
}

// A specialisation is a machine with constants for its registers, and for what it loads
// from memory of the goroutine alone (section 4): the read operation applied to one
// structure.
type specialisation struct {
	machine  *Machine
	regs     map[regKey]ir.Value
	locals   map[string]ir.Value // by the key of the load
	passages []*passage
	passed   int    // how many passages there were, kept or not
	from, to uint64 // where in the trace it means anything
	touched  []touchedMemory
}

// touchedMemory is memory that a load of the machine looks at.
type touchedMemory struct {
	load *ir.Expr
	addr uint64
	size int
}

// A passageTracker notes the points of a trace that are similar to those of machines: the
// same instruction with the same calls in progress.
type passageTracker struct {
	replay          *exec.Replay
	machines        []*Machine
	byPoint         map[ir.Point][]int
	byLoad          map[ir.Point][]int
	registers       [][]regKey
	locals          [][]*ir.Expr     // loads from memory of the goroutine alone, whose address registers give
	current         map[int]*passage // of the goroutine that is replayed
	specialisations []map[string]*specialisation
	oldestFirst     [][]string // the keys of specialisations
	key             []byte     // room for one
}

// newTracker makes ready to note the passages of all goroutines by the machines' points.
func newTracker(replay *exec.Replay, machines []*Machine) *passageTracker {
	k := &passageTracker{replay: replay, machines: machines, byPoint: map[ir.Point][]int{}, byLoad: map[ir.Point][]int{}, current: map[int]*passage{}}
	for i, machine := range machines {
		k.byPoint[machine.At] = append(k.byPoint[machine.At], i)
		for _, l := range machine.Loads() {
			p := l.Label.Point
			if n := k.byLoad[p]; len(n) == 0 || n[len(n)-1] != i {
				k.byLoad[p] = append(n, i)
			}
		}
		var regs []regKey
		for r := range machine.open() {
			regs = append(regs, r)
		}
		sort.Slice(regs, func(i, j int) bool {
			if regs[i].ctx.ID != regs[j].ctx.ID {
				return regs[i].ctx.ID < regs[j].ctx.ID
			}
			return regs[i].reg < regs[j].reg
		})
		k.registers = append(k.registers, regs)
		k.locals = append(k.locals, localsOf(machine))
		k.specialisations = append(k.specialisations, map[string]*specialisation{})
		k.oldestFirst = append(k.oldestFirst, nil)
	}
	return k
}

// localsOf are the loads of a machine whose values are the goroutine's own at the machine's
// point, as registers are.
func localsOf(machine *Machine) []*ir.Expr {
	var all []*ir.Expr
	for _, l := range machine.Loads() {
		if l.Label.Instr.Private && len(l.Args) == 1 && !l.Args[0].HasLoads() {
			all = append(all, l)
		}
	}
	return all
}

// before is called with each step about to be made.
func (k *passageTracker) before(thread *exec.Thread, step *exec.Step) bool {
	if step.BeyondTrace {
		return false
	}
	for _, i := range k.byPoint[step.Point] {
		in := &passage{
			goroutine: thread.G, startSeq: step.Time, firstLoad: step.Time, lastLoad: step.Time,
			loads: map[ir.Point]uint64{}, regs: map[regKey]ir.Value{},
		}
		key := k.key[:0]
		for _, r := range k.registers[i] {
			value := ir.Unknown(r.ctx.Func.RegSizes[r.reg])
			for _, f := range thread.Frames {
				if f.Context == r.ctx {
					value = f.Regs[r.reg]
				}
			}
			in.regs[r] = value
			key = value.AppendKey(key)
		}
		in.locals = k.localValues(i, in, step.Time)
		for _, l := range k.locals[i] {
			key = in.locals[l.Key()].AppendKey(key)
		}
		k.current[i], k.key = in, key
		special := k.specialisations[i][string(key)]
		if special == nil {
			if k.oldestFirst[i] = append(k.oldestFirst[i], string(key)); len(k.oldestFirst[i]) > maxSpecialisations {
				delete(k.specialisations[i], k.oldestFirst[i][0])
				k.oldestFirst[i] = k.oldestFirst[i][1:]
			}
			special = &specialisation{machine: k.machines[i], regs: in.regs, locals: in.locals}
			k.specialisations[i][string(key)] = special
		}
		const half = maxPassages / 2
		if special.passed++; len(special.passages) < maxPassages {
			special.passages = append(special.passages, in)
		} else {
			special.passages[half+special.passed%half] = in
		}
	}
	return true
}

// localValues are what the machine's local loads give in a passage.
func (k *passageTracker) localValues(i int, in *passage, time uint64) map[string]ir.Value {
	if len(k.locals[i]) == 0 {
		return nil
	}
	values := map[string]ir.Value{}
	env := &evaluation{regs: in.regs, replay: k.replay, before: time}
	for _, l := range k.locals[i] {
		value := ir.Unknown(l.Size)
		if addr := ir.Eval(l.Args[0], env); addr.Known {
			value = exec.MemoryAt(k.replay.Trace, k.replay.Real(addr.Uint()), l.Size, time)
		}
		values[l.Key()] = value
	}
	return values
}

// after is called with each step that was made.
func (k *passageTracker) after(_ *exec.Thread, step *exec.Step) bool {
	if step.MadeEvent {
		for _, i := range k.byLoad[step.Point] {
			if passage := k.current[i]; passage != nil {
				if len(passage.loads) == 0 {
					passage.firstLoad = step.Time
				}
				passage.lastLoad = step.Time
				passage.loads[step.Point] = step.Time
			}
		}
	}
	return true
}

// specialisationsOf are the specialisations of machine number i, each evaluated where it was
// found, so that what it touches and how long that exists is known.
func (k *passageTracker) specialisationsOf(i int, replay *exec.Replay) []*specialisation {
	var all []*specialisation
	for _, special := range k.specialisations[i] {
		all = append(all, special)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i].passages[0], all[j].passages[0]
		return a.startSeq < b.startSeq || a.startSeq == b.startSeq && a.goroutine < b.goroutine
	})
	for _, special := range all {
		special.from, special.to = 1, replay.Trace.Last()
		for i, passage := range special.passages {
			if i < maxProbes || i >= len(special.passages)-maxProbes {
				special.evaluate(replay, passage.startSeq, nil)
			}
		}
		for n := 0; n < len(special.touched); n++ {
			special.limitToLife(replay, special.touched[n], special.passages[0].startSeq)
		}
	}
	return all
}

// limitToLife restricts the range of the specialisation to the life of what it touches.
func (s *specialisation) limitToLife(replay *exec.Replay, memory touchedMemory, at uint64) {
	if event, until, ok := replay.Trace.Allocation(memory.addr, at+1); ok {
		s.from, s.to = max(s.from, event.Seq), min(s.to, until)
	}
}

// evaluate runs the machine in the memory as it was just before the event with the
// number, or in the given memory if that is not nil.
func (s *specialisation) evaluate(replay *exec.Replay, before uint64, memory func(uint64, int) ir.Value) Verdict {
	st := &evaluation{regs: s.regs, locals: s.locals, before: before, replay: replay, ownStores: map[uint64]byte{}, loaded: map[string]ir.Value{}, touch: s.noteTouched}
	st.memory = memory
	if memory == nil {
		st.memory = func(addr uint64, size int) ir.Value { return exec.MemoryAt(replay.Trace, addr, size, before) }
	}
	return st.run(s.machine.Start)
}

// noteTouched notes memory that a load looked at, each piece once.
func (s *specialisation) noteTouched(l *ir.Expr, addr uint64, size int) {
	for _, memory := range s.touched {
		if memory.load.Label.Point == l.Label.Point && memory.addr == addr && memory.size >= size {
			return
		}
	}
	s.touched = append(s.touched, touchedMemory{l, addr, size})
}
