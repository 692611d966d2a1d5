package x86

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A placedInst is an instruction where it stands.
type placedInst struct {
	pc uint64
	x86.Inst
}

func (in *placedInst) next() uint64 { return in.pc + uint64(in.Len) }

// A machineBlock is a run of instructions that is entered at its first alone.
type machineBlock struct {
	start uint64
	insts []placedInst
	// follows is where control goes from the last instruction, in the order of the engine's
	// branches: where it jumps to first, then what stands after it.
	follows []uint64
	// falls: the last instruction does not jump, and the first of follows comes next.
	falls bool
}

// A machineFunction is the code that can be reached from one entry without a call.
type machineFunction struct {
	entry  uint64
	blocks []*machineBlock // the first is the one of the entry
	byPC   map[uint64]*machineBlock
}

// contains reports whether an instruction is one of the function.
func (f *machineFunction) contains(pc uint64) bool {
	return slices.ContainsFunc(f.blocks, func(b *machineBlock) bool {
		return pc >= b.start && len(b.insts) > 0 && pc <= b.insts[len(b.insts)-1].pc
	})
}

// maxInstructions bounds a function. What is longer was not one: data that was taken for
// code, or a whole program without calls.
const maxInstructions = 20000

// discover finds the code of the function at entry. A jump to what is called elsewhere ends
// the function: it is a call in tail position. Where a jump through a register or a table
// goes, the table says, or the runs that were seen.
func (p *Program) discover(entry uint64) *machineFunction {
	at := map[uint64]placedInst{}
	leaders := map[uint64]bool{entry: true}
	todo := []uint64{entry}
	for len(todo) > 0 && len(at) < maxInstructions {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for len(at) < maxInstructions {
			if _, seen := at[pc]; seen {
				break
			}
			in := placedInst{pc: pc}
			if !p.decode(pc, &in.Inst) {
				break
			}
			at[pc] = in
			targets, on := p.successorsOf(entry, &in)
			for _, t := range targets {
				leaders[t] = true
				todo = append(todo, t)
			}
			if !on {
				break
			}
			if len(targets) > 0 {
				leaders[in.next()] = true
			}
			pc = in.next()
		}
	}
	return p.assemble(entry, at, leaders)
}

// assemble makes blocks of instructions.
func (p *Program) assemble(entry uint64, at map[uint64]placedInst, leaders map[uint64]bool) *machineFunction {
	f := &machineFunction{entry: entry, byPC: map[uint64]*machineBlock{}}
	starts := make([]uint64, 0, len(leaders))
	for pc := range leaders {
		starts = append(starts, pc)
	}
	slices.Sort(starts)
	for _, start := range starts {
		if _, ok := at[start]; !ok {
			continue
		}
		b := &machineBlock{start: start}
		for pc := start; ; {
			in, ok := at[pc]
			if !ok {
				break // it cannot be decoded: the block ends in nothing
			}
			b.insts = append(b.insts, in)
			targets, on := p.successorsOf(entry, &in)
			pc = in.next()
			if !on || len(targets) > 0 {
				b.follows = targets
				if on {
					b.follows = append(b.follows, pc)
				}
				break
			}
			if leaders[pc] {
				b.follows, b.falls = []uint64{pc}, true
				break
			}
		}
		f.byPC[start] = b
		f.blocks = append(f.blocks, b)
	}
	i := slices.IndexFunc(f.blocks, func(b *machineBlock) bool { return b.start == entry })
	if i > 0 {
		f.blocks[0], f.blocks[i] = f.blocks[i], f.blocks[0]
	}
	return f
}

// successorsOf tells where an instruction of a function may jump to within the function, and
// whether the one after it may be next.
func (p *Program) successorsOf(entry uint64, in *placedInst) (targets []uint64, on bool) {
	switch in.Op {
	case x86.JCC, x86.LOOP, x86.LOOPE, x86.LOOPNE, x86.JRCXZ:
		if t := in.Target(in.pc); !p.leavesFunction(entry, t) {
			return []uint64{t}, true
		}
		return nil, true
	case x86.JMP:
		if in.Args[0].Place != x86.Relative {
			return p.jumpTargets(entry, in), false
		}
		if t := in.Target(in.pc); !p.leavesFunction(entry, t) {
			return []uint64{t}, false
		}
		return nil, false
	case x86.RET, x86.UD0, x86.UD1, x86.UD2, x86.HLT, x86.INT3, x86.INT1:
		return nil, false
	case x86.CALL:
		return nil, !p.endsThread(p.callee(in))
	}
	return nil, true
}

// leavesFunction reports whether a jump to an address leaves the function: to another one, or to
// what the program imports.
func (p *Program) leavesFunction(entry, target uint64) bool {
	return target != entry && p.entries[target] || p.stub(target) != 0
}

// jumpTargets are where an indirect jump of a function goes.
func (p *Program) jumpTargets(entry uint64, in *placedInst) []uint64 {
	if all, ok := p.tables[in.pc]; ok {
		return all
	}
	all := p.readTable(in)
	for _, t := range p.observed[in.pc] {
		if !slices.Contains(all, t) && !p.leavesFunction(entry, t) && p.image.executable(t) {
			all = append(all, t)
		}
	}
	p.tables[in.pc] = all
	return all
}

// maxTable bounds the tables of jumps, lookBack how far before a jump its table is named.
const (
	maxTable = 1024
	lookBack = 96
)

// readTable reads the table of a jump that compilers make of a switch:
//
//	cmp  edi, 9                     jmp [rax*8 + table]
//	ja   default                or
//	lea  rdx, [rip + table]         a table of addresses
//	movsxd rax, [rdx + rdi*4]
//	add  rax, rdx
//	jmp  rax                        a table of distances from itself
func (p *Program) readTable(in *placedInst) []uint64 {
	if in.Args[0].Place == x86.Memory {
		m := &in.Mem
		if m.Scale != 8 || m.Base != x86.NoReg || m.Index == x86.NoReg {
			return nil
		}
		return p.tableOf(uint64(m.Disp), 8, entriesOf(p.instructionsBefore(in.pc)))
	}
	if in.Args[0].Place != x86.General {
		return nil
	}
	before := p.instructionsBefore(in.pc)
	for i := len(before) - 1; i >= 0; i-- {
		b := &before[i]
		if b.Op == x86.LEA && b.Mem.Base == x86.RIP {
			return p.tableOf(b.next()+uint64(b.Mem.Disp), 4, entriesOf(before))
		}
	}
	return nil
}

// entriesOf is how many entries a table has, by the last comparison with a number before the
// jump: what is greater does not come here.
func entriesOf(before []placedInst) int {
	for i := len(before) - 1; i >= 0; i-- {
		if b := &before[i]; b.Op == x86.CMP && b.Args[1].Place == x86.Immediate && b.Imm > 0 && b.Imm < maxTable {
			return int(b.Imm) + 1
		}
	}
	return maxTable
}

// instructionsBefore are instructions in front of one. Code can be read forwards only, so several
// beginnings are tried until one meets the instruction.
func (p *Program) instructionsBefore(pc uint64) []placedInst {
	for back := uint64(lookBack); back > 0; back-- {
		var all []placedInst
		at := pc - back
		for at < pc {
			in := placedInst{pc: at}
			if !p.decode(at, &in.Inst) {
				break
			}
			all = append(all, in)
			at = in.next()
		}
		if at == pc {
			return all
		}
	}
	return nil
}

// tableOf reads a table of addresses, or of distances from itself in 4 bytes, up to the
// first entry that is no code.
func (p *Program) tableOf(table uint64, size, entries int) []uint64 {
	var all []uint64
	for i := range uint64(entries) {
		raw := p.image.bytes(table+i*uint64(size), size)
		if raw == nil {
			break
		}
		target := table + uint64(int64(int32(word(raw))))
		if size == 8 {
			target = word(raw)
		}
		if !p.image.executable(target) {
			break
		}
		if !slices.Contains(all, target) {
			all = append(all, target)
		}
	}
	return all
}

func word(b []byte) uint64 {
	var w uint64
	for i := len(b) - 1; i >= 0; i-- {
		w = w<<8 | uint64(b[i])
	}
	return w
}
