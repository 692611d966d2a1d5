package cpu

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Numbers in R beyond the sixteen general registers. An address is always the sum of a
// base, a scaled index, a segment and a displacement; what is absent is the zero register.
const (
	zero   = 16
	fsBase = 17
	gsBase = 18
)

// A Vec is a vector register, its lower half first.
type Vec [2]uint64

// A CPU is the state of one thread on the processor.
type CPU struct {
	// R holds the general registers in the order of their encoding, then the zero register
	// and the bases of the segments. Its size spares the check of indices.
	R    [32]uint64
	PC   uint64
	lazy lazy
	Mem  *mem.Space
	Code *Code

	// Count is how many instructions were executed.
	Count uint64

	trap  Trap
	block *block
	pos   int

	X     [16]Vec
	MXCSR uint32
	// Backwards is the direction flag.
	Backwards bool
	FPU       FPU

	// Clock is what rdtsc says.
	Clock func() uint64

	// Transfer, if it is there, is called after each call, return and indirect jump of a
	// thread that is recorded, with the instruction's address. PC is where it went.
	Transfer func(c *CPU, from uint64, op x86.Op)

	record []event.Access
	// half is set if the next instruction has read already: see Resume.
	half   bool
	before uint64
	// passing is the marked instruction that Advance stopped at last.
	passing uint64
}

// New returns a processor in its initial state.
func New(m *mem.Space, code *Code) *CPU {
	c := &CPU{Mem: m, Code: code, MXCSR: 0x1f80, Clock: func() uint64 { return 0 }}
	c.FPU.reset()
	return c
}

// FSBase and GSBase are the bases of the segments that threads use for their own data.
func (c *CPU) FSBase() uint64     { return c.R[fsBase] }
func (c *CPU) GSBase() uint64     { return c.R[gsBase] }
func (c *CPU) SetFSBase(v uint64) { c.R[fsBase] = v }
func (c *CPU) SetGSBase(v uint64) { c.R[gsBase] = v }

// A TrapKind is a reason for the processor to stop.
type TrapKind uint8

const (
	None TrapKind = iota
	// Limit: as many instructions as were asked for were executed.
	Limit
	// Visible: the next instruction is one that a schedule decides about.
	Visible
	// Marked: the next instruction is one that Code.Mark was called for.
	Marked
	// Syscall: PC is after the instruction. For all that follow it is at the instruction,
	// which has changed nothing.
	Syscall
	Segment    // memory that is not there or not allowed
	Protection // an instruction that programs may not use, an unaligned vector
	Divide
	Breakpoint // PC is after the instruction
	Invalid    // ud2 and the like
	Missing    // an instruction that this package does not have
)

// A Trap says why the processor stopped.
type Trap struct {
	Kind  TrapKind
	Addr  uint64 // of a Segment trap
	Write bool
	Text  string // of Missing and Segment: what exactly
}

// Run executes up to n instructions, or some more until the end of a block.
func (c *CPU) Run(n uint64) Trap {
	limit := c.Count + n
	return c.guard(func() { c.blocks(limit) })
}

// guard calls f and turns what it panics with into the trap.
func (c *CPU) guard(f func()) (trap Trap) {
	c.trap = Trap{}
	defer func() {
		if r := recover(); r != nil {
			c.interrupted(r)
		}
		trap = c.trap
	}()
	f()
	return
}

// interrupted is a panic in the middle of a block: the instruction at pos did not happen.
func (c *CPU) interrupted(r any) {
	switch r := r.(type) {
	case *mem.Fault:
		c.trap = Trap{Kind: Segment, Addr: r.Addr, Write: r.Write, Text: r.Error()}
	case Trap:
		c.trap = r
	default:
		panic(r)
	}
	if c.block != nil {
		o := &c.block.ops[c.pos]
		if c.record != nil {
			// A string operation may have done a part.
			c.note(o)
		}
		c.PC = o.next - uint64(o.len)
		c.Count += uint64(c.pos)
		c.block = nil
	}
}

// blocks executes whole blocks.
func (c *CPU) blocks(limit uint64) {
	code := c.Code
	for {
		b := code.recent[recentIndex(c.PC)]
		if b == nil || b.start != c.PC || code.version != c.Mem.CodeVersion() {
			c.block = nil
			b = code.lookup(c.Mem, c.PC)
		}
		c.block = b
		c.PC = b.end
		ops := b.ops
		for i := range ops {
			c.pos = i
			ops[i].exec(c, &ops[i])
		}
		c.Count += uint64(len(ops))
		if c.trap.Kind != None {
			c.block = nil
			return
		}
		if c.Count >= limit {
			c.block = nil
			c.trap.Kind = Limit
			return
		}
	}
}

// A Ref is memory that an instruction is about to access.
type Ref struct {
	Addr uint64
	Size uint32
	Kind event.Kind
	// Site is the number of the instruction in Code.
	Site uint32
	// Halves: the instruction reads first and then writes, and another thread may come
	// between. It is without a lock prefix.
	Halves bool
}

// Advance executes instructions until the next one makes an access for which visible
// returns true, which is then in ref; or until another trap. With decided, the first
// instruction is executed whatever it does. Without a function, nothing is visible.
func (c *CPU) Advance(n uint64, ref *Ref, visible func(*Ref) bool, decided bool) Trap {
	limit := c.Count + n
	first := decided
	return c.guard(func() {
		for c.trap.Kind == None {
			if c.Count >= limit {
				c.trap.Kind = Limit
				return
			}
			c.advanceBlock(ref, visible, &first)
		}
	})
}

func (c *CPU) advanceBlock(ref *Ref, visible func(*Ref) bool, first *bool) {
	c.block = nil
	b := c.Code.recent[recentIndex(c.PC)]
	if b == nil || b.start != c.PC || c.Code.version != c.Mem.CodeVersion() {
		b = c.Code.lookup(c.Mem, c.PC)
	}
	if b.marked && c.passing != b.start {
		c.passing = b.start
		c.trap.Kind = Marked
		return
	}
	c.passing = 0
	c.block = b
	c.PC = b.end
	for i := range b.ops {
		o := &b.ops[i]
		c.pos = i
		if o.touches && visible != nil && !*first && c.looks(o, ref, visible) {
			c.PC = o.next - uint64(o.len)
			c.Count += uint64(i)
			if i == 0 {
				c.passing = b.start // its mark was told
			}
			c.trap.Kind = Visible
			c.block = nil
			return
		}
		*first = false
		o.exec(c, o)
		if c.record != nil && (o.transfers || len(c.Mem.Log()) > 0) {
			c.note(o)
		}
	}
	c.Count += uint64(len(b.ops))
	c.block = nil
}

// looks asks about each access of the next instruction.
func (c *CPU) looks(o *op, ref *Ref, visible func(*Ref) bool) bool {
	var refs [2]Ref
	for i := range c.refs(o, &refs) {
		if *ref = refs[i]; visible(ref) {
			return true
		}
	}
	return false
}

// missing is the trap of an instruction that cannot be executed here.
func missing(in *x86.Inst, pc uint64, why string) Trap {
	return Trap{Kind: Missing, Text: fmt.Sprintf("the instruction %s at %#x %s", in.Text(pc, nil), pc, why)}
}

// CopyRegisters makes all registers and flags those of another processor, and nothing else.
func (c *CPU) CopyRegisters(from *CPU) {
	c.R, c.PC, c.lazy = from.R, from.PC, from.lazy
	c.X, c.MXCSR, c.Backwards, c.FPU = from.X, from.MXCSR, from.Backwards, from.FPU
}

// Step executes one instruction. Its trap is Limit if nothing else stopped it.
func (c *CPU) Step() Trap {
	return c.guard(func() {
		c.block = nil
		c.block = c.Code.lookup(c.Mem, c.PC)
		c.pos = 0
		o := &c.block.ops[0]
		c.PC = o.next
		o.exec(c, o)
		if c.record != nil && (o.transfers || len(c.Mem.Log()) > 0) {
			c.note(o)
		}
		c.Count++
		c.block = nil
		if c.trap.Kind == None {
			c.trap.Kind = Limit
		}
	})
}
