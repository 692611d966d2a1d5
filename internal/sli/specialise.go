package sli

import (
	"fmt"
	"sort"
	"strings"

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
}

// A specialisation is a machine with constants for its registers (section 4): the read
// operation applied to one structure.
type specialisation struct {
	machine  *Machine
	regs     map[regKey]ir.Value
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
	machines        []*Machine
	byPoint         map[ir.Point][]int
	byLoad          map[ir.Point][]int
	registers       [][]regKey
	current         map[int]*passage // of the goroutine that is replayed
	specialisations []map[string]*specialisation
	oldestFirst     [][]string // the keys of specialisations
}

// newTracker makes ready to note the passages of all goroutines by the machines' points.
func newTracker(machines []*Machine) *passageTracker {
	k := &passageTracker{machines: machines, byPoint: map[ir.Point][]int{}, byLoad: map[ir.Point][]int{}, current: map[int]*passage{}}
	for i, m := range machines {
		k.byPoint[m.At] = append(k.byPoint[m.At], i)
		for _, l := range m.Loads() {
			p := l.Label.Point
			if n := k.byLoad[p]; len(n) == 0 || n[len(n)-1] != i {
				k.byLoad[p] = append(n, i)
			}
		}
		var regs []regKey
		for r := range m.open() {
			regs = append(regs, r)
		}
		sort.Slice(regs, func(i, j int) bool {
			if regs[i].ctx.ID != regs[j].ctx.ID {
				return regs[i].ctx.ID < regs[j].ctx.ID
			}
			return regs[i].reg < regs[j].reg
		})
		k.registers = append(k.registers, regs)
		k.specialisations = append(k.specialisations, map[string]*specialisation{})
		k.oldestFirst = append(k.oldestFirst, nil)
	}
	return k
}

// before is called with each step about to be made.
func (k *passageTracker) before(t *exec.Thread, s *exec.Step) bool {
	if s.BeyondTrace {
		return false
	}
	for _, i := range k.byPoint[s.Point] {
		in := &passage{goroutine: t.G, startSeq: s.Time, firstLoad: s.Time, lastLoad: s.Time, loads: map[ir.Point]uint64{}, regs: map[regKey]ir.Value{}}
		var key strings.Builder
		for _, r := range k.registers[i] {
			v := ir.Unknown(r.ctx.Func.RegSizes[r.reg])
			for _, f := range t.Frames {
				if f.Context == r.ctx {
					v = f.Regs[r.reg]
				}
			}
			in.regs[r] = v
			fmt.Fprintf(&key, "%v,", v)
		}
		k.current[i] = in
		sp := k.specialisations[i][key.String()]
		if sp == nil {
			if k.oldestFirst[i] = append(k.oldestFirst[i], key.String()); len(k.oldestFirst[i]) > maxSpecialisations {
				delete(k.specialisations[i], k.oldestFirst[i][0])
				k.oldestFirst[i] = k.oldestFirst[i][1:]
			}
			sp = &specialisation{machine: k.machines[i], regs: in.regs}
			k.specialisations[i][key.String()] = sp
		}
		const half = maxPassages / 2
		if sp.passed++; len(sp.passages) < maxPassages {
			sp.passages = append(sp.passages, in)
		} else {
			sp.passages[half+sp.passed%half] = in
		}
	}
	return true
}

// after is called with each step that was made.
func (k *passageTracker) after(_ *exec.Thread, s *exec.Step) bool {
	if s.MadeEvent {
		for _, i := range k.byLoad[s.Point] {
			if in := k.current[i]; in != nil {
				if len(in.loads) == 0 {
					in.firstLoad = s.Time
				}
				in.lastLoad = s.Time
				in.loads[s.Point] = s.Time
			}
		}
	}
	return true
}

// specialisationsOf are the specialisations of machine number i, each evaluated where it was
// found, so that what it touches and how long that exists is known.
func (k *passageTracker) specialisationsOf(i int, r *exec.Replay) []*specialisation {
	var all []*specialisation
	for _, s := range k.specialisations[i] {
		all = append(all, s)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i].passages[0], all[j].passages[0]
		return a.startSeq < b.startSeq || a.startSeq == b.startSeq && a.goroutine < b.goroutine
	})
	for _, s := range all {
		s.from, s.to = 1, r.Trace.Last()
		for i, in := range s.passages {
			if i < maxProbes || i >= len(s.passages)-maxProbes {
				s.evaluate(r, in.startSeq, nil)
			}
		}
		for n := 0; n < len(s.touched); n++ {
			s.limitToLife(r, s.touched[n], s.passages[0].startSeq)
		}
	}
	return all
}

// limitToLife restricts the range of the specialisation to the life of what it touches.
func (s *specialisation) limitToLife(r *exec.Replay, t touchedMemory, at uint64) {
	if e, until, ok := r.Trace.Allocation(t.addr, at+1); ok {
		s.from, s.to = max(s.from, e.Seq), min(s.to, until)
	}
}

// evaluate runs the machine in the memory as it was just before the event with the
// number, or in the given memory if that is not nil.
func (s *specialisation) evaluate(r *exec.Replay, before uint64, memory func(uint64, int) ir.Value) Verdict {
	st := &evaluation{regs: s.regs, replay: r, ownStores: map[uint64]byte{}, loaded: map[string]ir.Value{}, touch: s.noteTouched}
	st.memory = memory
	if memory == nil {
		st.memory = func(addr uint64, size int) ir.Value { return exec.MemoryAt(r.Trace, addr, size, before) }
	}
	return st.run(s.machine.Start)
}

// noteTouched notes memory that a load looked at, each piece once.
func (s *specialisation) noteTouched(l *ir.Expr, addr uint64, size int) {
	for _, t := range s.touched {
		if t.load.Label.Point == l.Label.Point && t.addr == addr && t.size >= size {
			return
		}
	}
	s.touched = append(s.touched, touchedMemory{l, addr, size})
}
