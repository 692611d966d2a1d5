package x86

import (
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A Config says what to lift.
type Config struct {
	Image *Image
	// Entries are the functions to begin with: those that a run entered.
	Entries []uint64
	// Observed are where indirect jumps went in a run, by their addresses.
	Observed map[uint64][]uint64
	// Slot is what the dynamic linker put into a slot; nil if that is not known.
	Slot func(addr uint64) uint64
	// Failure is where a run failed, nil if it did not.
	Failure *Failure
}

// A Program is a lifted program.
type Program struct {
	*ir.Program
	image     *Image
	entries   map[uint64]bool
	observed  map[uint64][]uint64
	tables    map[uint64][]uint64
	stubs     map[uint64]uint64
	slot      func(uint64) uint64
	functions map[uint64]*ir.Func
	machines  map[*ir.Func]*machineFunction
	changed   map[*ir.Func]*[variables]bool
	failure   *Failure
	callsAt   map[uint64][]*ir.Instr // once they were asked for

	// Instructions are how many instructions were lifted, Opaque those of them whose results
	// are not known, by what they are.
	Instructions int
	Opaque       map[x86.Op]int
}

// calledDepth is how far functions are lifted that no run entered: what is called from code
// that a branch not taken leads to.
const calledDepth = 2

// Lift lifts the functions that a run entered, and what they call.
func Lift(c Config) (*Program, error) {
	p := newProgram(c)
	level := c.Entries
	for range calledDepth + 1 {
		var next []uint64
		for _, entry := range level {
			if p.functions[entry] != nil || !p.image.executable(entry) {
				continue
			}
			fn := p.declare(entry)
			p.functions[entry] = fn
			p.Funcs = append(p.Funcs, fn)
			p.machines[fn] = p.discover(entry)
			next = append(next, p.calls(p.machines[fn])...)
		}
		level = next
	}
	p.findChanged()
	for _, fn := range p.Funcs {
		l := p.lift(fn, p.machines[fn])
		p.Instructions += l.lifted
		for _, in := range l.opaque {
			p.Opaque[in.Op]++
		}
	}
	p.Finish()
	if err := p.Check(); err != nil {
		return nil, err
	}
	return p, nil
}

// FailAt makes another failure the one that the program is lifted for: what ends a program may
// be looked at as the failure of each of its callers, and only their functions differ.
func (p *Program) FailAt(failure *Failure) error {
	was := p.failure
	p.failure = failure
	for _, fn := range p.Funcs {
		if m := p.machines[fn]; was != nil && m.contains(was.PC) || m.contains(failure.PC) {
			*fn = *p.declare(m.entry)
			p.lift(fn, m)
		}
	}
	p.callsAt = nil
	p.Finish()
	return p.Check()
}

func newProgram(c Config) *Program {
	p := &Program{
		Program: &ir.Program{}, image: c.Image, entries: map[uint64]bool{}, observed: c.Observed, tables: map[uint64][]uint64{}, stubs: map[uint64]uint64{},
		slot: c.Slot, functions: map[uint64]*ir.Func{}, machines: map[*ir.Func]*machineFunction{}, changed: map[*ir.Func]*[variables]bool{},
		failure: c.Failure, Opaque: map[x86.Op]int{},
	}
	for _, entry := range c.Entries {
		p.entries[entry] = true
	}
	for _, f := range c.Image.functions {
		p.entries[f.addr] = true
	}
	return p
}

// calls are the functions that a function calls by name.
func (p *Program) calls(f *machineFunction) []uint64 {
	var all []uint64
	for _, b := range f.blocks {
		for i := range b.insts {
			if in := &b.insts[i]; in.Op == x86.CALL || in.Op == x86.JMP && i == len(b.insts)-1 && len(b.follows) == 0 {
				if target, name := p.callee(in); name == "" && target != 0 && !slices.Contains(all, target) {
					all = append(all, target)
					p.entries[target] = p.entries[target] || in.Op == x86.CALL
				}
			}
		}
	}
	return all
}

func (p *Program) decode(pc uint64, in *x86.Inst) bool { return p.image.Decode(pc, in) }

func (p *Program) slotValue(slot uint64) uint64 {
	if p.slot == nil {
		return 0
	}
	return p.slot(slot)
}

// stubSite is the site of the jump in the stub that an instruction calls or jumps to: what
// the imported function does is recorded there if the instruction was a jump. 0 if there is
// no stub.
func (p *Program) stubSite(in *placedInst) uint32 {
	if in.Op != x86.JMP || in.Args[0].Place != x86.Relative {
		return 0
	}
	for pc, n := in.Target(in.pc), 0; n < 2; n++ {
		at := placedInst{pc: pc}
		if !p.decode(pc, &at.Inst) {
			break
		}
		if at.Op == x86.JMP {
			return cpu.SiteOf(pc)
		}
		pc = at.next()
	}
	return 0
}

// Address is where an instruction of the engine comes from.
func Address(in *ir.Instr) uint64 { return uint64(in.Origin) }

// CallsAt are the calls of the program's own functions that come from the instruction at an
// address.
func (p *Program) CallsAt(pc uint64) []*ir.Instr {
	if p.callsAt == nil {
		p.callsAt = map[uint64][]*ir.Instr{}
		for _, fn := range p.Funcs {
			for _, b := range fn.Blocks {
				for _, in := range b.Instrs {
					if in.Op == ir.Call {
						p.callsAt[Address(in)] = append(p.callsAt[Address(in)], in)
					}
				}
			}
		}
	}
	return p.callsAt[pc]
}

// dataName names what is at an address that the code names.
func (p *Program) dataName(addr *ir.Expr) string {
	if addr.Op != ir.OpConst {
		return ""
	}
	at := addr.Value.Uint()
	if !p.image.Contains(at) {
		return fmt.Sprintf("%#x", at)
	}
	return fmt.Sprintf("data %#x", at-p.image.Base)
}

// findChanged finds which variables each function may change.
func (p *Program) findChanged() {
	for _, fn := range p.Funcs {
		p.changed[fn] = &[variables]bool{}
	}
	for again := true; again; {
		again = false
		for _, fn := range p.Funcs {
			now := *p.changed[fn]
			for _, b := range p.machines[fn].blocks {
				for i := range b.insts {
					p.noteChanged(&now, &b.insts[i], b, i)
				}
			}
			if now != *p.changed[fn] {
				*p.changed[fn], again = now, true
			}
		}
	}
}

// implicit are the general registers that operations change without naming them.
var implicitly = map[x86.Op][]x86.Reg{
	x86.MUL: {x86.RAX, x86.RDX}, x86.IMUL: {x86.RAX, x86.RDX}, x86.DIV: {x86.RAX, x86.RDX}, x86.IDIV: {x86.RAX, x86.RDX},
	x86.CDQ: {x86.RDX}, x86.CWDE: {x86.RAX}, x86.CMPXCHG: {x86.RAX}, x86.CMPXCHG8B: {x86.RAX, x86.RDX}, x86.CMPXCHG16B: {x86.RAX, x86.RDX},
	x86.MOVS: {x86.RSI, x86.RDI, x86.RCX}, x86.MOVSB: {x86.RSI, x86.RDI, x86.RCX}, x86.CMPS: {x86.RSI, x86.RDI, x86.RCX}, x86.CMPSB: {x86.RSI, x86.RDI, x86.RCX},
	x86.STOS: {x86.RDI, x86.RCX}, x86.STOSB: {x86.RDI, x86.RCX}, x86.SCAS: {x86.RDI, x86.RCX}, x86.SCASB: {x86.RDI, x86.RCX},
	x86.LODS: {x86.RAX, x86.RSI, x86.RCX}, x86.LODSB: {x86.RAX, x86.RSI, x86.RCX}, x86.LOOP: {x86.RCX}, x86.LOOPE: {x86.RCX}, x86.LOOPNE: {x86.RCX},
	x86.SYSCALL: {x86.RAX, x86.RCX, x86.R11}, x86.CPUID: {x86.RAX, x86.RBX, x86.RCX, x86.RDX}, x86.RDTSC: {x86.RAX, x86.RDX}, x86.RDTSCP: {x86.RAX, x86.RDX, x86.RCX},
	x86.XLAT: {x86.RAX}, x86.LAHF: {x86.RAX}, x86.FNSTSW: {x86.RAX}, x86.XGETBV: {x86.RAX, x86.RDX},
}

// noteChanged adds what an instruction may change.
func (p *Program) noteChanged(changed *[variables]bool, in *placedInst, b *machineBlock, i int) {
	for _, r := range implicitly[in.Op] {
		changed[r] = true
	}
	for n, a := range in.Args {
		if n > 0 && in.Op != x86.XCHG && in.Op != x86.XADD {
			break
		}
		switch a.Place {
		case x86.General, x86.HighByte:
			changed[a.Reg] = true
		case x86.Vector:
			changed[vectorVar(a.Reg)] = true
		}
	}
	leaves := in.Op == x86.JMP && i == len(b.insts)-1 && len(b.follows) == 0
	if in.Op == x86.JCC && p.leavesFunction(0, in.Target(in.pc)) {
		leaves = true
	}
	if in.Op != x86.CALL && !leaves {
		return
	}
	target, _ := p.callee(in)
	if in.Op == x86.JCC {
		target = in.Target(in.pc)
	}
	for v, c := range p.changedBy(p.functions[target]) {
		changed[v] = changed[v] || c
	}
}

// changedBy are the variables that a call of a function may change; all, if the function is
// not known.
func (p *Program) changedBy(fn *ir.Func) *[variables]bool {
	if c := p.changed[fn]; fn != nil && c != nil {
		return c
	}
	return &everything
}

var everything = func() (all [variables]bool) {
	for v := range all {
		all[v] = true
	}
	return all
}()

// TableTargets are the places that indirect jumps of the lifted code lead to.
func (p *Program) TableTargets() []uint64 {
	var all []uint64
	for _, list := range p.tables {
		all = append(all, list...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
