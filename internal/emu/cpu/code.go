package cpu

import (
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A handler executes an instruction.
type handler func(*CPU, *op)

// An op is an instruction as it is executed.
type op struct {
	exec handler
	next uint64 // the address after it
	imm  uint64 // the immediate, or where a jump goes to
	disp uint64
	inst *x86.Inst

	base, index, scale, segment uint8
	dst, src                    uint8 // the registers of the first two operands
	size, shift                 uint8 // of the operation: bytes, and how far to shift them up
	len                         uint8
	cond                        x86.Cond
	access                      access // of the operand in memory
	width                       uint8  // of the same; 0 if the operation has a size of its own
	touches                     bool   // it may access memory that another thread sees
	atomic                      bool   // what it reads and writes cannot be separated
	transfers                   bool   // it calls, returns, or jumps to where a register or memory says
	site                        uint32
}

// An access is what an instruction does to its operand in memory.
type access uint8

const (
	reads  access = 1
	writes access = 2
)

// A block is a run of instructions that are always executed from the first to the last,
// unless one of them traps.
type block struct {
	start, end uint64
	ops        []op
	marked     bool
}

const (
	recentBlocks = 1 << 13
	maxBlock     = 64
)

// recentIndex is a block's place among the recent ones.
func recentIndex(pc uint64) uint64 { return (pc ^ pc>>13) % recentBlocks }

// Code is the instructions of a program that were decoded so far. It belongs to one
// address space and to all its threads.
type Code struct {
	recent  [recentBlocks]*block
	blocks  map[uint64]*block
	version uint64

	sites map[uint32]Site
	marks map[uint64]bool
	// library is nil unless Share was called.
	library *Library
}

// A Library is code of files that was decoded in one address space and is at the same place in
// others: in children that execute the same programs again and again. It is used by one
// goroutine at a time.
type Library struct{ blocks map[libraryKey]*block }

type libraryKey struct {
	file   *mem.File
	offset int64
	pc     uint64
}

// NewLibrary returns one that is empty.
func NewLibrary() *Library { return &Library{blocks: map[libraryKey]*block{}} }

// Share has code that is decoded from now on put into a library, and taken from there. The
// instructions of such code are not among the sites, and Mark must not be called.
func (code *Code) Share(l *Library) { code.library = l }

// A Site is an instruction that was executed, or at least decoded.
type Site struct {
	PC   uint64
	Inst *x86.Inst
}

// NewCode returns the code of an address space.
func NewCode() *Code {
	return &Code{blocks: map[uint64]*block{}, sites: map[uint32]Site{}, marks: map[uint64]bool{}}
}

// Sites returns the instructions by their numbers. They must not be changed.
func (code *Code) Sites() map[uint32]Site { return code.sites }

// Mark has Advance stop before the instruction at pc. Once code there was executed, it has to
// be one that something jumps to: the first of a function, or one that a call returns to.
func (code *Code) Mark(pc uint64) {
	code.marks[pc] = true
	if b := code.blocks[pc]; b != nil {
		b.marked = true
	}
}

// lookup returns the block that starts at pc. A fault panics.
func (code *Code) lookup(m *mem.Space, pc uint64) *block {
	if code.version != m.CodeVersion() {
		clear(code.recent[:])
		clear(code.blocks)
		code.version = m.CodeVersion()
	}
	b := code.blocks[pc]
	if b == nil {
		if code.library != nil {
			b = code.library.block(code, m, pc)
		} else {
			b = code.decode(m, pc)
		}
		code.blocks[pc] = b
	}
	code.recent[recentIndex(pc)] = b
	return b
}

// block is the block at pc, from the library if all of it is code of a file as it is there.
func (l *Library) block(code *Code, m *mem.Space, pc uint64) *block {
	file, offset := m.FileCode(pc)
	key := libraryKey{file, offset, pc}
	whole := func(b *block) bool {
		last, end := m.FileCode(b.end - 1)
		return last == file && end-offset == int64(b.end-1-pc)
	}
	if b := l.blocks[key]; file != nil && b != nil && whole(b) {
		return b
	}
	b := code.decode(m, pc)
	if file != nil && whole(b) {
		l.blocks[key] = b
	}
	return b
}

// decode makes a block of the instructions at pc. One that cannot be decoded ends the
// block before it, and traps when it is the first.
func (code *Code) decode(m *mem.Space, pc uint64) *block {
	b := &block{start: pc, end: pc, marked: code.marks[pc]}
	for len(b.ops) < maxBlock {
		var raw [x86.MaxLen]byte
		in := new(x86.Inst)
		n, ok := fetch(m, b.end, raw[:], len(b.ops) == 0)
		if !ok {
			break
		}
		if err := x86.Decode(raw[:n], in); err != nil {
			if len(b.ops) > 0 {
				break
			}
			if err == x86.ErrTruncated {
				m.Fetch(b.end+uint64(n), raw[:1])
			}
			panic(Trap{Kind: Missing, Text: missingText(raw[:n], b.end, err)})
		}
		b.ops = append(b.ops, code.prepare(in, b.end))
		b.end += uint64(in.Len)
		if in.EndsBlock() || code.marks[b.end] {
			break
		}
	}
	return b
}

// fetch reads code. Only for the first instruction of a block is a fault one.
func fetch(m *mem.Space, pc uint64, raw []byte, must bool) (n int, ok bool) {
	if !must {
		if a, mapped := m.Area(pc); !mapped || a.Prot&mem.Exec == 0 {
			return 0, false
		}
	}
	return m.Fetch(pc, raw), true
}

// prepare makes an op of an instruction.
func (code *Code) prepare(in *x86.Inst, pc uint64) op {
	o := op{inst: in, next: pc + uint64(in.Len), len: in.Len, imm: uint64(in.Imm), size: in.Size, shift: 64 - 8*in.Size, cond: in.Cond, dst: uint8(in.Args[0].Reg), src: uint8(in.Args[1].Reg)}
	o.base, o.index, o.segment = zero, zero, zero
	if i, ok := in.HasMemory(); ok {
		m := &in.Mem
		o.disp = uint64(m.Disp)
		switch {
		case m.Base == x86.RIP:
			o.disp += o.next
		case m.Base != x86.NoReg:
			o.base = uint8(m.Base)
		}
		if m.Index != x86.NoReg {
			o.index = uint8(m.Index)
		}
		for s := m.Scale; s > 1; s >>= 1 {
			o.scale++
		}
		switch m.Segment {
		case x86.FS:
			o.segment = fsBase
		case x86.GS:
			o.segment = gsBase
		}
		o.access, o.width = accessOf(in, i), in.Args[i].Size
	}
	for _, a := range in.Args {
		if a.Place == x86.Relative {
			o.imm = in.Target(pc)
		}
	}
	o.touches = o.access != 0 || implicit(in.Op) != 0
	// xchg with memory needs no prefix to be atomic.
	o.atomic = in.Lock || in.Op == x86.XCHG && o.access != 0
	o.transfers = in.Op == x86.CALL || in.Op == x86.RET || in.Op == x86.JMP && in.Args[0].Place != x86.Relative
	o.exec = choose(in, &o)
	o.site = code.site(in, pc)
	return o
}

// site enters an instruction among the sites and returns its number. The number follows
// from the address alone, so that it is the same in every run: programs and libraries are
// loaded at fixed places that differ in these bits.
func (code *Code) site(in *x86.Inst, pc uint64) uint32 {
	n := SiteOf(pc)
	code.sites[n] = Site{pc, in}
	return n
}

// SiteOf returns the number of the instruction at pc.
func SiteOf(pc uint64) uint32 { return uint32(pc) & (1<<31 - 1) }
