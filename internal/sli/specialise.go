package sli

import (
	"fmt"
	"sort"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Bounds on how much of a long trace is looked at for one machine. What is nearest to
// the failure is kept, and of instances the first ones too.
const (
	maxSpecial   = 24
	maxInstances = 200
	maxProbes    = 8 // of the first and of the last instances it is looked where they read
)

// An instance is one time that a goroutine came by a machine's point.
type instance struct {
	g     uint32
	start uint64 // what the goroutine did first from there
	first uint64 // its first load of the machine
	last  uint64 // its last one
	loads map[ir.Point]uint64
	regs  map[regKey]ir.Value
}

// A special is a machine with constants for its registers (section 4): the read
// operation applied to one structure.
type special struct {
	m         *Machine
	regs      map[regKey]ir.Value
	instances []*instance
	seen      int    // instances, with those that were not kept
	from, to  uint64 // where in the trace it means anything
	touched   []touched
}

// touched is memory that a load of the machine looks at.
type touched struct {
	load *ir.Expr
	addr uint64
	size int
}

// A tracker notes the points of a trace that are similar to those of machines: the
// same instruction with the same calls in progress.
type tracker struct {
	machines []*Machine
	byPoint  map[ir.Point][]int
	byLoad   map[ir.Point][]int
	needs    [][]regKey
	current  map[int]*instance // of the goroutine that is replayed
	found    []map[string]*special
	order    [][]string // the keys of found, oldest first
}

func newTracker(machines []*Machine) *tracker {
	k := &tracker{machines: machines, byPoint: map[ir.Point][]int{}, byLoad: map[ir.Point][]int{}, current: map[int]*instance{}}
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
		k.needs = append(k.needs, regs)
		k.found = append(k.found, map[string]*special{})
		k.order = append(k.order, nil)
	}
	return k
}

// before is called with each step about to be made.
func (k *tracker) before(t *exec.Thread, s *exec.Step) bool {
	if s.Ahead {
		return false
	}
	for _, i := range k.byPoint[s.Point] {
		in := &instance{g: t.G, start: s.Time, first: s.Time, last: s.Time, loads: map[ir.Point]uint64{}, regs: map[regKey]ir.Value{}}
		var key strings.Builder
		for _, r := range k.needs[i] {
			v := ir.Unknown(r.ctx.Func.Sizes[r.reg])
			for _, f := range t.Frames {
				if f.Ctx == r.ctx {
					v = f.Regs[r.reg]
				}
			}
			in.regs[r] = v
			fmt.Fprintf(&key, "%v,", v)
		}
		k.current[i] = in
		sp := k.found[i][key.String()]
		if sp == nil {
			if k.order[i] = append(k.order[i], key.String()); len(k.order[i]) > maxSpecial {
				delete(k.found[i], k.order[i][0])
				k.order[i] = k.order[i][1:]
			}
			sp = &special{m: k.machines[i], regs: in.regs}
			k.found[i][key.String()] = sp
		}
		const half = maxInstances / 2
		if sp.seen++; len(sp.instances) < maxInstances {
			sp.instances = append(sp.instances, in)
		} else {
			sp.instances[half+sp.seen%half] = in
		}
	}
	return true
}

// after is called with each step that was made.
func (k *tracker) after(_ *exec.Thread, s *exec.Step) bool {
	if s.Event {
		for _, i := range k.byLoad[s.Point] {
			if in := k.current[i]; in != nil {
				if len(in.loads) == 0 {
					in.first = s.Time
				}
				in.last = s.Time
				in.loads[s.Point] = s.Time
			}
		}
	}
	return true
}

// specials are the specialisations of machine number i, each evaluated where it was
// found, so that what it touches and how long that exists is known.
func (k *tracker) specials(i int, r *exec.Replay) []*special {
	var all []*special
	for _, s := range k.found[i] {
		all = append(all, s)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i].instances[0], all[j].instances[0]
		return a.start < b.start || a.start == b.start && a.g < b.g
	})
	for _, s := range all {
		s.from, s.to = 1, r.Trace.Last()
		for i, in := range s.instances {
			if i < maxProbes || i >= len(s.instances)-maxProbes {
				s.evaluate(r, in.start, nil)
			}
		}
		for n := 0; n < len(s.touched); n++ {
			s.limit(r, s.touched[n], s.instances[0].start)
		}
	}
	return all
}

// limit restricts the range of the specialisation to the life of what it touches.
func (s *special) limit(r *exec.Replay, t touched, at uint64) {
	if e, until, ok := r.Trace.Allocation(t.addr, at+1); ok {
		s.from, s.to = max(s.from, e.Seq), min(s.to, until)
	}
}

// evaluate runs the machine in the memory as it was just before the event with the
// number, or in ahead's if that is not nil.
func (s *special) evaluate(r *exec.Replay, before uint64, ahead func(uint64, int) ir.Value) Verdict {
	st := &machineState{regs: s.regs, r: r, own: map[uint64]byte{}, cache: map[string]ir.Value{}, touch: s.touch}
	st.memory = ahead
	if ahead == nil {
		st.memory = func(addr uint64, size int) ir.Value { return exec.MemoryAt(r.Trace, addr, size, before) }
	}
	return st.run(s.m.Start)
}

func (s *special) touch(l *ir.Expr, addr uint64, size int) {
	for _, t := range s.touched {
		if t.load.Label.Point == l.Label.Point && t.addr == addr && t.size >= size {
			return
		}
	}
	s.touched = append(s.touched, touched{l, addr, size})
}
